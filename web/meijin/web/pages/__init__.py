"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `ladders`: tables, ratings over days, and who is the stronger of any two
- `live`: boards of what is being played, and `events`: the stream that moves them
- `play`, `play_board`, `person`: people's games, from choosing a bot to the last move
- `games`, `game`, `game_files`: the list of games, one game, and one as a file
- `bots`, `bot`: the list of bots, and one bot
- `tournaments`, `tournament`: the list of tournaments, and one with its crosstable or bracket
- `openings`, `opening_board`: what was played in a position, and the board that leads on from it
- `faults`: the fault ledger
- `status`: how the server is doing
- `sign_in`: signing in and out
- `account`, `own_bots`: who has signed in, an owner's bots and the tokens of both
- `challenges`: challenges, made with a bot of one's own
- `manage`, `made_tournaments`, `invitations`, `audit`: what operators manage
- `webhooks`: addresses that are told by HTTP what happens
- `feeds`: Atom feeds of a bot and of a ladder
- `api`: what the JSON API offers
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import (
    account,
    api,
    audit,
    bot,
    bots,
    challenges,
    events,
    faults,
    feeds,
    game,
    game_files,
    games,
    home,
    invitations,
    ladders,
    live,
    made_tournaments,
    manage,
    openings,
    own_bots,
    play,
    play_board,
    sign_in,
    status,
    tournament,
    tournaments,
    webhooks,
)
from meijin.web.routes import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *home.ROUTES,
    *feeds.ROUTES,
    *ladders.ROUTES,
    *live.ROUTES,
    *events.ROUTES,
    *play.ROUTES,
    *play_board.ROUTES,
    *games.ROUTES,
    *game_files.ROUTES,
    *game.ROUTES,
    *bots.ROUTES,
    *bot.ROUTES,
    *tournaments.ROUTES,
    *tournament.ROUTES,
    *openings.ROUTES,
    *faults.ROUTES,
    *status.ROUTES,
    *sign_in.ROUTES,
    *account.ROUTES,
    *own_bots.ROUTES,
    *challenges.ROUTES,
    *manage.ROUTES,
    *made_tournaments.ROUTES,
    *invitations.ROUTES,
    *audit.ROUTES,
    *webhooks.ROUTES,
    *api.ROUTES,
)
"""Every route of the site; the first that fits answers, so that feeds stand before pages."""
