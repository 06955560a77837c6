"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `live`: boards of what is being played, and `events`: the stream that moves them
- `sign_in`: signing in and out
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import events, home, live, sign_in
from meijin.web.routes import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *home.ROUTES,
    *live.ROUTES,
    *events.ROUTES,
    *sign_in.ROUTES,
)
"""Every route of the site; the first that fits answers."""
