"""Pages of bots.

- `listing`: the list of bots
- `bot`: one bot, and how it does
- `versions`: two versions of a bot side by side
"""

from collections.abc import Sequence

from meijin.web.pages.bots import bot, listing, versions
from meijin.web.request import Page

ROUTES: Sequence[Page] = (*listing.ROUTES, *versions.ROUTES, *bot.ROUTES)
