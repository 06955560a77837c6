"""A share of the event loop."""

import pytest

from meijin.server.api.calls.loop_share import BURST, SHARE, SLICE, LoopShare


class Time:
    """A clock that sleeping and working advance."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


async def test_work_takes_its_share_of_the_time() -> None:
    time = Time()
    share = LoopShare(time, time.sleep)
    began = time.now
    for _ in range(1000):
        await share.turn()
        with share.slice():
            time.now += 0.001
    assert 1.0 / (time.now - began) == pytest.approx(SHARE, rel=0.05)


async def test_little_work_waits_for_nothing() -> None:
    """As long as it is less than its share."""
    time = Time()
    share = LoopShare(time, time.sleep)
    for _ in range(100):
        await share.turn()
        with share.slice():
            time.now += 0.001
        time.now += 0.02
    assert time.slept == 0


async def test_time_that_was_left_is_not_saved_up() -> None:
    """After an hour of rest there is no hour of work at once."""
    time = Time()
    share = LoopShare(time, time.sleep)
    time.now += 3600
    with share.slice():
        time.now += 1
    await share.turn()
    assert time.slept > 1 / SHARE - 1 - BURST.total_seconds() - 0.001


def test_a_slice_knows_its_end() -> None:
    time = Time()
    with LoopShare(time, time.sleep).slice() as is_over:
        assert not is_over()
        time.now += SLICE.total_seconds()
        assert is_over()
