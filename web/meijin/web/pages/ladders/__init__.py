"""The pages of ladders: tables, ratings over days, and who is the stronger of any two.

- `listing`: all ladders, the runs that are kept, and what speaks against one
- `table`: a ladder's table with its bars; `choice`: which of its lines, in which order
- `history`: ratings over the days
- `calibration`: how true expected scores have been
- `comparisons`: chances of each two, and two bots head to head
- `reading`: whole tables, and files of them; `names`: what a ladder's name says
"""

from meijin.web.pages.ladders import calibration, comparisons, history, listing, table

ROUTES = (
    *listing.ROUTES,
    *table.ROUTES,
    *history.ROUTES,
    *calibration.ROUTES,
    *comparisons.ROUTES,
)
