"""Pages of whoever has signed in: what is theirs, and what they may change.

- `sign_in`: signing in and out
- `overview`: who has signed in, an owner's bots and the tokens of both; `bots`: one of them
- `challenges`: challenges, made with a bot of one's own
- `webhooks`: addresses that are told by HTTP what happens
"""

from meijin.web.pages.account import bots, challenges, overview, sign_in, webhooks

ROUTES = (
    *sign_in.ROUTES,
    *overview.ROUTES,
    *bots.ROUTES,
    *challenges.ROUTES,
    *webhooks.ROUTES,
)
