"""Tournaments: made, played, listed and counted.

- `creation`: made at once, or part by part; what is left half made is dropped
- `pairings`: planned games, the ladders they count for, and those that are still to be played
- `states`: where they stand, and how they end
- `challenges`: unrated games between two that somebody asked for
- `listing`: as they are shown, who is entered, how strong they are, and what they forfeited
- `match_counts`: results as formats ask for them, and what a match has come to
- `duplicates`: games of a test that repeat an earlier one

Every public name of those but `challenges`, `duplicates` and `match_counts` is one of the package's.
"""

from meijin.store.tournaments.creation import *  # noqa: F403
from meijin.store.tournaments.listing import *  # noqa: F403
from meijin.store.tournaments.pairings import *  # noqa: F403
from meijin.store.tournaments.states import *  # noqa: F403
