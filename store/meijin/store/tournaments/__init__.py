"""Tournaments: made, played, listed and counted.

- `creation`: made at once, or part by part; what is left half made is dropped
- `ladder_choice`: the ladder that a game counts for
- `pairings`: planned games, and those of them that are still to be played
- `states`: where they stand, and how they end
- `listing`: as they are shown, and who is entered
- `match_counts`, `seeds`: what formats ask for
- `fault_counts`: games that each bot has lost by its own faults
- `sides`: time controls by side, in one column
- `duplicates`: games of a test that repeat an earlier one
- `openings`: those that a tournament was given, in one column
"""

from meijin.store.tournaments.creation import (
    NewTournament,
    add_games,
    add_tournament,
    begin,
    drop_half_made,
    find_request,
    forget_requests_in_planning,
    is_in_planning,
)
from meijin.store.tournaments.ladder_choice import ladder_name
from meijin.store.tournaments.listing import (
    TournamentRow,
    entrants,
    get_tournament,
    list_tournaments,
)
from meijin.store.tournaments.pairings import (
    PendingPairing,
    PlannedGame,
    add_pairings,
    last_number,
    pending_pairings,
    running_pairings,
)
from meijin.store.tournaments.states import (
    Load,
    TournamentEnd,
    finish_tournament,
    get_state,
    load_of,
    nth_newest,
    running_tournaments,
    set_state,
    settled_ladder,
)

__all__ = [
    "Load",
    "NewTournament",
    "PendingPairing",
    "PlannedGame",
    "TournamentEnd",
    "TournamentRow",
    "add_games",
    "add_pairings",
    "add_tournament",
    "begin",
    "drop_half_made",
    "entrants",
    "find_request",
    "finish_tournament",
    "forget_requests_in_planning",
    "get_state",
    "get_tournament",
    "is_in_planning",
    "ladder_name",
    "last_number",
    "list_tournaments",
    "load_of",
    "nth_newest",
    "pending_pairings",
    "running_pairings",
    "running_tournaments",
    "set_state",
    "settled_ladder",
]
