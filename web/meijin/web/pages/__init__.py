"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `ladders`: tables, ratings over days, and who is the stronger of any two
- `live`: boards of what is being played, and the stream that moves them
- `tv`: the game that is worth watching most, alone for a projector
- `play`: people's games, from choosing a bot to the last move
- `games`: the list of games, one game, and one as a file
- `bots`: the list of bots, and one bot
- `tournaments`: the list of tournaments, and one with its crosstable or bracket
- `programs`: programs of bots that the arena runs, and how they are examined
- `classes`: a class of students, for its teacher and for them
- `openings`: what was played in a position
- `faults`: the fault ledger
- `status`: how the server is doing
- `account`: what whoever has signed in may see and change
- `manage`: what operators manage
- `feeds`: Atom feeds of a bot and of a ladder
- `api`: what the JSON API offers
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import (
    account,
    api,
    bots,
    classes,
    faults,
    feeds,
    games,
    home,
    ladders,
    live,
    manage,
    openings,
    play,
    programs,
    status,
    tournaments,
    tv,
)
from meijin.web.request import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *home.ROUTES,
    *feeds.ROUTES,
    *ladders.ROUTES,
    *live.ROUTES,
    *tv.ROUTES,
    *play.ROUTES,
    *games.ROUTES,
    *bots.ROUTES,
    *tournaments.ROUTES,
    *openings.ROUTES,
    *faults.ROUTES,
    *status.ROUTES,
    *account.ROUTES,
    *programs.ROUTES,
    *manage.ROUTES,
    *classes.ROUTES,
    *api.ROUTES,
)
"""Every route of the site; the first that fits answers, so that feeds stand before pages."""
