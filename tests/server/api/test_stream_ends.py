"""How many streams end in one turn of the event loop."""

import asyncio
from itertools import pairwise

import pytest

from meijin.server.api.calls.stream_ends import AT_ONCE, StreamEnds

CROWD = 5 * AT_ONCE + 1


async def test_a_crowd_ends_in_portions_and_in_order() -> None:
    """Between two portions the loop does what else there is to do."""
    ends, ended, looks = StreamEnds(), list[int](), [0]

    async def end(number: int) -> None:
        await ends.turn()
        ended.append(number)

    streams = [asyncio.create_task(end(number)) for number in range(CROWD)]
    while len(ended) < CROWD:
        await asyncio.sleep(0)
        looks.append(len(ended))
    await asyncio.gather(*streams)
    assert ended == list(range(CROWD))
    assert max(after - before for before, after in pairwise(looks)) == AT_ONCE


async def test_streams_that_are_no_crowd_do_not_wait() -> None:
    """They end in the turn in which they do, again and again."""
    ends = StreamEnds()
    for _ in range(3):
        for _ in range(AT_ONCE):
            with pytest.raises(StopIteration):
                ends.turn().send(None)
        await asyncio.sleep(0)


async def test_whoever_is_cut_off_takes_nobodys_place() -> None:
    """The others of the crowd end all the same."""
    ends = StreamEnds()
    streams = [asyncio.create_task(ends.turn()) for _ in range(3 * AT_ONCE)]
    await asyncio.sleep(0)
    for stream in streams[AT_ONCE : 2 * AT_ONCE]:
        stream.cancel()
    turns = await asyncio.gather(*streams, return_exceptions=True)
    assert sum(turn is None for turn in turns) == 2 * AT_ONCE
