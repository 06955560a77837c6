"""How long a bot waits before it tries again."""

from datetime import timedelta
from random import Random

from meijin.bots.sdk.backoff import FIRST, LONGEST, Backoff


def test_delays_double_up_to_the_longest() -> None:
    """Each delay is between half and all of a value that doubles from 0.2 s to 5 s."""
    backoff = Backoff(Random(7))
    delays = [backoff.next() for _ in range(7)]
    limits = [timedelta(seconds=limit) for limit in (0.2, 0.4, 0.8, 1.6, 3.2, 5, 5)]
    assert all(limit / 2 <= delay <= limit for limit, delay in zip(limits, delays, strict=True))


def test_two_bots_wait_differently() -> None:
    """Bots that lost the same server return at different times."""
    assert Backoff(Random(1)).next() != Backoff(Random(2)).next()


def test_reset() -> None:
    """After a good stream the delays begin anew."""
    backoff = Backoff(Random(7))
    for _ in range(9):
        last = backoff.next()
    backoff.reset()
    assert last >= LONGEST / 2
    assert backoff.next() <= FIRST
