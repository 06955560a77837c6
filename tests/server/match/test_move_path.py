"""How many files a move passes from the stream that it is read from to the log."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import meijin.store
from meijin.server import parts
from meijin.server.match.presence import watchdog

if TYPE_CHECKING:
    from types import FrameType

    import pytest
    from tests.server.conftest import StartServer

FOLDERS = [Path(module.__file__ or "").parents[1] for module in (parts, meijin.store)]

MOST = 16
"""Eight that each take the move from the one before it, and as many that are asked on the way."""

ROOTS = {("play.py", "_read"), ("group_commit.py", "run")}
"""The two coroutines that carry a move on the event loop: all others do something else."""


def is_for_a_move(frame: FrameType | None) -> bool:
    """Whether a call is below one of the coroutines that carry a move."""
    while frame is not None:
        if (Path(frame.f_code.co_filename).name, frame.f_code.co_name) in ROOTS:
            return True
        frame = frame.f_back
    return False


async def test_a_move_passes_few_files(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by tracing one move: the server's and the store's files, without the rules."""
    files: set[str] = set()
    written: list[bool] = []

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "return" and frame.f_code.co_qualname == "MoveLog.append":
            written.append(True)
        elif event == "call" and not written and any(map(path.is_relative_to, FOLDERS)):
            files.update([path.name] if is_for_a_move(frame) else [])

    monkeypatch.setattr(watchdog, "PING_INTERVAL", timedelta(hours=1))
    async with start_server() as server:
        black, white = await server.pair()
        turn = await black.turn()
        for peer in (black, white):
            await peer.catch_up()  # so that its pong has been read
        sys.setprofile(note)
        try:
            await black.play(turn, 12)
            await white.turn()
        finally:
            sys.setprofile(None)
    assert written
    assert {"play.py", "log.py"} <= files
    assert len(files) <= MOST, sorted(files)
