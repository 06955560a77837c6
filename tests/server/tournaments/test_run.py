"""A tournament as it is played."""

import pytest

from meijin.game import GOMOKU, TimeControl
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.run import TournamentRun
from meijin.store.schema import FormatName, TournamentId


@pytest.mark.parametrize(("last", "following"), [(0, 1), (2, 3), (7, 9), (8, 9)])
def test_a_pair_of_games_begins_with_an_odd_number(last: int, following: int) -> None:
    """So that 2k - 1 and 2k are one, even where an earlier pair lacks its second game."""
    run = TournamentRun(
        id=TournamentId(1),
        variant=GOMOKU,
        time_control=TimeControl.parse("60"),
        max_games=0,
        ladder_id=None,
        format_name=FormatName("round-robin"),
        format=RoundRobin(1),
        last_number=last,
    )
    assert run.next_number == following
