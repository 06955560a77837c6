"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `sign_in`: signing in and out
- `api`: what the JSON API offers
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import api, home, sign_in
from meijin.web.routes import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *home.ROUTES,
    *sign_in.ROUTES,
    *api.ROUTES,
)
"""Every route of the site; the first that fits answers."""
