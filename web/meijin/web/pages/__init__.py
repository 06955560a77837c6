"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `openings`, `opening_board`: what was played in a position, and the board that leads on from it
- `sign_in`: signing in and out
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import home, openings, sign_in
from meijin.web.routes import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *home.ROUTES,
    *openings.ROUTES,
    *sign_in.ROUTES,
)
"""Every route of the site; the first that fits answers."""
