"""The pages of ladders: tables, ratings over days, and who is the stronger of any two.

- `listing`: all ladders; `top`: the best of one, for the front page
- `table`: a ladder's table; `choice`: which of its lines, in which order; `columns`: what each says;
  `intervals`: its bars
- `history`: ratings over the days
- `matrix`: chances of each two; `head_to_head`: two bots against each other
- `runs`: the runs that are kept; `diagnosis`: what speaks against one
- `bots`: those that an address names
- `reading`: whole tables; `downloads`: the same as CSV and JSON; `names`: what a ladder's name says
"""

from meijin.web.pages.ladders import diagnosis, head_to_head, history, listing, matrix, runs, table

ROUTES = (
    *listing.ROUTES,
    *table.ROUTES,
    *history.ROUTES,
    *matrix.ROUTES,
    *head_to_head.ROUTES,
    *runs.ROUTES,
    *diagnosis.ROUTES,
)
