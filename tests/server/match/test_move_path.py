"""Which files a move passes from the stream that it is read from to the log."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import meijin.store
from meijin.server.match import watchdog
from meijin.server.parts import Parts
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from types import FrameType

    import pytest
    from tests.server.conftest import StartServer

FOLDERS = {
    "server": Path(sys.modules[Parts.__module__].__file__ or "").parent,
    "store": Path(meijin.store.__file__).parent,
}

MOST = 16
"""Eight that each take the move from the one before it, and as many that are asked on the way."""

ROOTS = {("server/api/play.py", "_read"), ("server/match/journal/group_commit.py", "run")}
"""The two coroutines that carry a move on the event loop: all others do something else."""


def named(frame: FrameType) -> str:
    """The file of a frame by its package; empty for one of neither the server nor the store."""
    path = Path(frame.f_code.co_filename)
    for package, folder in FOLDERS.items():
        if path.is_relative_to(folder):
            return f"{package}/{path.relative_to(folder).as_posix()}"
    return ""


class Trace:
    """Collects the files in which functions are called for a move, until it is in the log."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.is_written = False

    def on_loop(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call below one of the coroutines that carry a move."""
        if self.is_written or not (file := named(frame)):
            return
        if event == "call":
            at: FrameType | None = frame
            while at is not None:
                if (named(at), at.f_code.co_name) in ROOTS:
                    self.files.add(file)
                at = at.f_back
        elif event == "return" and frame.f_code.co_qualname == "MoveLog.append":
            self.is_written = True


async def test_a_move_passes_few_files(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by tracing one move: the server's and the store's files, without the rules."""
    monkeypatch.setattr(watchdog, "PING_INTERVAL", timedelta(hours=1))
    trace = Trace()
    async with start_server() as server:
        black, white = await server.pair()
        turn = await black.turn()
        for peer in (black, white):
            await peer.write(actions=pb.Actions(resigns=[pb.Resign(game=12345)]))
            await peer.notice()  # so that its pong has been read
        trace.files.clear()
        sys.setprofile(trace.on_loop)
        try:
            await black.play(turn, 12)
            await white.turn()
        finally:
            sys.setprofile(None)
    assert trace.is_written
    assert {"server/api/play.py", "store/move_log/log.py"} <= trace.files
    assert len(trace.files) <= MOST, sorted(trace.files)
