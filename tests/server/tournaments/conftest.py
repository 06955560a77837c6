"""A tournament as it is played."""

import pytest

from meijin.game import GOMOKU, TimeControl
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.run import TournamentRun
from meijin.store.schema import FormatName, TournamentId


@pytest.fixture
def run() -> TournamentRun:
    """A round robin of which one game is to be played."""
    return TournamentRun(
        id=TournamentId(1),
        variant=GOMOKU,
        time_control=TimeControl.parse("60"),
        max_games=0,
        ladder_id=None,
        format_name=FormatName("round-robin"),
        format=RoundRobin(1),
    )
