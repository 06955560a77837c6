"""A game as the match keeps it."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import BotId, BotVersionId, GameId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import Contest

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("own", "tournaments", "counted"), [(2, 1, 2), (None, 1, 1), (None, None, None)]
)
def test_a_game_counts_for_the_ladder_of_its_time_control(
    own: int | None, tournaments: int | None, counted: int | None
) -> None:
    """The pairing's where it has one of its own, and the tournament's else."""
    nobody: Any = None
    ladder_id = None if own is None else LadderId(own)
    game = LiveGame(
        number=1,
        id=GameId(1),
        run=cast("Contest", SimpleNamespace(id=1, ladder_id=tournaments)),
        pairing=PendingPairing(PairingId(1), 1, BotId(1), BotId(2), b"", ladder_id=ladder_id),
        arbiter=nobody,
        first=nobody,
        second=nobody,
        first_version=BotVersionId(1),
        second_version=BotVersionId(2),
        start_time=NOON,
        opening_plies=0,
    )
    assert game.ladder_id == counted
    assert game.to_start().ladder_id == counted
