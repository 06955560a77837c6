"""Pages of tournaments: the list, one with its crosstable or bracket, and its files.

- `tournament`: the list of tournaments, and one of them
- `crosstable`: what each bot has scored against each other one
- `progress`: games an hour, rounds, and how the ratio and the estimate of a test moved
- `files`: all games as one file
"""

from meijin.web.pages.tournaments.tournament import ROUTES

__all__ = ["ROUTES"]
