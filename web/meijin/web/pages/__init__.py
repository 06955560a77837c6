"""The pages by subject: each module has its routes, and makes of messages what a template shows.

- `home`: the front page
- `sign_in`: signing in and out
- `webhooks`: addresses that are told by HTTP what happens
- `feeds`: Atom feeds of a bot and of a ladder
- `errors`: what is shown when something is refused
"""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from meijin.web.pages import feeds, home, sign_in, webhooks
from meijin.web.routes import Form, Page, Private

ROUTES: Sequence[Page | Private | Form | BaseRoute] = (
    *feeds.ROUTES,
    *home.ROUTES,
    *sign_in.ROUTES,
    *webhooks.ROUTES,
)
"""Every route of the site; the first that fits answers."""
