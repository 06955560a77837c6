"""A tournament as it is played."""

import pytest

from meijin.server.tournaments.run import TournamentRun


@pytest.mark.parametrize(("last", "following"), [(0, 1), (2, 3), (7, 9), (8, 9)])
def test_a_pair_of_games_begins_with_an_odd_number(
    run: TournamentRun, last: int, following: int
) -> None:
    """So that 2k - 1 and 2k are one, even where an earlier pair lacks its second game."""
    run.last_number = last
    assert run.next_number == following
