"""Suppliers: what bots depend on, and how often it may fail before the bot answers for it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

SUPPLIER_FAILURES = 5
"""How many games of a bot may be void through its supplier in `SUPPLIER_PERIOD`."""

SUPPLIER_PERIOD = timedelta(hours=24)


class SupplierBudget:
    """A bot's budget of games that are void since what it depends on failed.

    Beyond it such a failure is the bot's own, or nobody could ever beat a bot that says so
    whenever it is about to lose.

    Args:
        times: When its supplier failed before, oldest first.
    """

    __slots__ = ("_times",)

    def __init__(self, times: Iterable[datetime] = ()) -> None:
        # A list: an empty deque takes 0.8 KB, of each bot that is connected.
        self._times = [*times][-SUPPLIER_FAILURES:]

    def take(self, now: datetime) -> bool:
        """Whether one more failure is within the budget; it is counted then."""
        times = self._times
        if len(times) == SUPPLIER_FAILURES and now - times[0] < SUPPLIER_PERIOD:
            return False
        times.append(now)
        del times[:-SUPPLIER_FAILURES]
        return True
