"""A game as the match keeps it, and its bots' budgets."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.server.rows import live_game, tournament_row

from meijin.server.match.live.live_game import (
    SUPPLIER_FAILURES,
    SUPPLIER_PERIOD,
    Contest,
    SupplierBudget,
)
from meijin.store.schema import BotId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("own", "tournaments", "counted"), [(2, 1, 2), (None, 1, 1), (None, None, None)]
)
def test_a_game_counts_for_the_ladder_of_its_time_control(
    own: int | None, tournaments: int | None, counted: int | None
) -> None:
    """The pairing's where it has one of its own, and the tournament's else."""
    ladder_id = None if own is None else LadderId(own)
    pairing = PendingPairing(PairingId(1), 1, BotId(1), BotId(2), b"", ladder_id=ladder_id)
    game = live_game(run=Contest(tournament_row(ladder_id=tournaments)), pairing=pairing)
    assert game.ladder_id == game.to_start().ladder_id == counted


def test_the_budget_of_a_suppliers_failures_is_used_up_and_comes_back() -> None:
    """Each failure is free again a period after it happened; those before count."""
    budget = SupplierBudget([NOON])
    times = [NOON + number * SECOND for number in range(1, SUPPLIER_FAILURES + 1)]
    assert [budget.take(time) for time in times] == [True] * (SUPPLIER_FAILURES - 1) + [False]
    assert not budget.take(NOON + SUPPLIER_PERIOD - SECOND)
    assert budget.take(NOON + SUPPLIER_PERIOD)
    assert not budget.take(NOON + SUPPLIER_PERIOD)
