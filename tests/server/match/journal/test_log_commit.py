"""The lane of the move log: what is written together, and what waits for nobody."""

import asyncio
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.conftest import PATIENCE
from tests.server.rows import live_game as game

from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import Batch, CommitWatch
from meijin.server.match.journal.log_commit import COLLECTION_TURNS, LogCommit
from meijin.server.match.live.segments import Segments
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.stalls import StallWatch
from meijin.store.fence import Fence
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog
from meijin.store.schema import ID_BYTES, Epoch


@pytest.mark.parametrize(
    ("running", "pause", "batches"),
    [
        (1, 1, [[1], [2]]),
        (3, 1, [[1, 2]]),
        (3, COLLECTION_TURNS + 1, [[1], [2]]),
    ],
    ids=["a lone game waits for nobody", "others are read meanwhile", "others come too late"],
)
async def test_moves_wait_for_those_that_are_read_meanwhile(
    tmp_path: Path, running: int, pause: int, batches: list[list[int]]
) -> None:
    """The second game's move is read `pause` turns of the event loop after the first one's."""
    told: list[list[int]] = []
    with closing(MoveLog(tmp_path, is_synced=False)) as log:
        log.begin(LogEntry(FIRST_ENTRY, b"", {}), database_id=bytes(ID_BYTES), epoch=Epoch(1))
        fence = cast("Fence", SimpleNamespace(epoch=1, acknowledged=0))
        watch = CommitWatch()
        store_watch = StoreWatch(StallWatch())
        lane = LogCommit(log, Compaction(Segments(())), fence, store_watch, watch)

        def release(batch: Batch) -> None:
            told.append([each.id for each in batch.moved])

        async with asyncio.timeout(PATIENCE):
            task = asyncio.create_task(lane.run(release, [game(each) for each in range(running)]))
            await asyncio.sleep(0)
            for number in (1, 2):
                batch = lane.batch
                batch.entry.moves += b"."
                batch.moved.append(game(number))
                lane.wake()
                for _ in range(pause):
                    await asyncio.sleep(0)
            await batch.released.wait()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        lane.close()
    assert told == batches
