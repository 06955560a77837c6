"""What a turn of the event loop takes, as it is measured."""

import asyncio
import time

from turn_selector import TurnSelector
from turns import Turns

WORK = 0.03


async def work_twice() -> None:
    """Work in two turns of the loop, for longer in the second."""
    for seconds in (WORK / 3, WORK):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        await asyncio.sleep(0)


def test_a_turn_is_between_two_looks_at_the_selector() -> None:
    """The longest is told, and what all of them have taken."""
    turns, selector = Turns(), TurnSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(turns.measure(selector, work_twice))
    row = turns.row("two turns")
    longest, loop = row["longest_turn_ms"], row["loop_ms"]
    assert isinstance(longest, float)
    assert isinstance(loop, float)
    assert 1000 * WORK <= longest < loop
    assert loop >= 1000 * WORK * 4 / 3
