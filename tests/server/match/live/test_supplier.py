"""How often what a bot depends on may fail."""

from datetime import UTC, datetime, timedelta

from meijin.server.match.live.supplier import SUPPLIER_FAILURES, SUPPLIER_PERIOD, SupplierBudget

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_budget_is_used_up_and_comes_back() -> None:
    """Each failure is free again a period after it happened."""
    budget = SupplierBudget()
    taken = [budget.take(NOON + number * SECOND) for number in range(SUPPLIER_FAILURES + 1)]
    assert taken == [True] * SUPPLIER_FAILURES + [False]
    assert not budget.take(NOON + SUPPLIER_PERIOD - SECOND)
    assert budget.take(NOON + SUPPLIER_PERIOD)
    assert not budget.take(NOON + SUPPLIER_PERIOD)


def test_failures_before_count() -> None:
    """Those that the ledger remembers."""
    budget = SupplierBudget([NOON] * SUPPLIER_FAILURES)
    assert not budget.take(NOON + SECOND)
