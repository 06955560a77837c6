"""Pages of people who play.

- `lobby`: whom one may play, and on which terms; `opponents`, `terms` and `position`: its parts
- `queue`: waiting for a bot that others play
- `analysis`: a position, and what a bot finds in it
- `board`: a game, and all that is done there
- `person`: who plays in a browser, as its cookie says
"""

from meijin.web.pages.play import analysis, board, lobby, queue

ROUTES = (*lobby.ROUTES, *queue.ROUTES, *board.ROUTES, *analysis.ROUTES)
