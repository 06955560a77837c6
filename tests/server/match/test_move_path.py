"""Which files a move passes from the stream that it is read from to its row."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import meijin.store
from meijin.server.match import watchdog
from meijin.server.parts import Parts
from meijin.testing.server import ServerInTest
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    import pytest
    from tests.server.conftest import StartServer

FOLDERS = {
    "server": Path(sys.modules[Parts.__module__].__file__ or "").parent,
    "store": Path(meijin.store.__file__).parent,
}

PATH = {
    "server/api/play.py",
    "server/match/wire.py",
    "server/match/actions.py",
    "server/match/arbiter.py",
    "server/match/journal.py",
    "store/journal.py",
}
"""Each of these takes the move from the one before it."""

GENERAL = {
    "server/api/interceptor.py",
    "server/match/stalls.py",
    "server/match/compaction.py",
    "server/match/segments.py",
    "server/match/store_watch.py",
    "store/fence.py",
    "store/writer.py",
    "store/prepared.py",
    "store/database.py",
}
"""These are asked on the way and know nothing of moves: whether the message could be decoded,
the time, which old entries go with a new one, whether the store answers, whose it is, the thread
of all transactions, compiled statements, how a transaction begins."""

ROOTS = {("server/api/play.py", "_read"), ("server/match/journal.py", "run")}
"""The two coroutines that carry a move on the event loop: all others do something else."""


def named(frame: FrameType) -> str:
    """The file of a frame by its package; empty for one of neither the server nor the store."""
    path = Path(frame.f_code.co_filename)
    for package, folder in FOLDERS.items():
        if path.is_relative_to(folder):
            return f"{package}/{path.relative_to(folder).as_posix()}"
    return ""


class Trace:
    """Collects the files in which functions are called for a move, until its row is written."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.is_written = False

    def on_loop(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call below one of the coroutines that carry a move."""
        if event == "call" and not self.is_written and (file := named(frame)):
            at: FrameType | None = frame
            while at is not None:
                if (named(at), at.f_code.co_name) in ROOTS:
                    self.files.add(file)
                at = at.f_back

    def on_writer(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call on the writer's thread; the row is there when its function returns."""
        file = named(frame)
        if event == "call" and not self.is_written and file:
            self.files.add(file)
        elif event == "return" and frame.f_code.co_name == "commit_entry":
            self.is_written = True


async def trace_on_writer(server: ServerInTest, trace: Callable[..., None] | None) -> None:
    """Trace the writer's thread from now on, or stop."""
    await server.parts.storage.write(lambda _: sys.setprofile(trace))


async def test_a_move_passes_six_files(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by tracing one move: the server's and the store's files, without the rules."""
    monkeypatch.setattr(watchdog, "PING_INTERVAL", timedelta(hours=1))
    trace = Trace()
    async with start_server() as server:
        black, white = await server.pair()
        turn = await black.turn()
        await black.write(actions=pb.Actions(resigns=[pb.Resign(game=12345)]))
        await black.notice()  # so that its pong has been read
        await trace_on_writer(server, trace.on_writer)
        trace.files.clear()
        sys.setprofile(trace.on_loop)
        try:
            await black.play(turn, 12)
            await white.turn()
        finally:
            sys.setprofile(None)
            await trace_on_writer(server, None)
    assert trace.is_written
    assert trace.files == PATH | GENERAL
    assert len(PATH) == 6
