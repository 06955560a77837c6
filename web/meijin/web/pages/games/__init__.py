"""Pages of games: the list, one game, and one as a file.

- `listing`: the list of games
- `game`: one game, alone or in a frame of other pages, and as a file
- `view`: what the page of a game shows at one ply
- `plies`: its moves, with times, clocks and what the bots thought of them
- `phases`: who placed the first stones and who chose a side
"""

from meijin.web.pages.games import game, listing

ROUTES = (*listing.ROUTES, *game.ROUTES)
