"""Pages of people who play.

- `lobby`: whom one may play, and waiting for a game; `terms`: what a form asks to play
- `board`: a game, and all that is done there
- `person`: who plays in a browser, as its cookie says
"""

from meijin.web.pages.play import board, lobby

ROUTES = (*lobby.ROUTES, *board.ROUTES)
