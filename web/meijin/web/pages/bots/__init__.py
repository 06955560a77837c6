"""Pages of bots.

- `listing`: the list of bots
- `bot`: one bot, and how it does
"""

from collections.abc import Sequence

from meijin.web.pages.bots import bot, listing
from meijin.web.request import Page

ROUTES: Sequence[Page] = (*listing.ROUTES, *bot.ROUTES)
