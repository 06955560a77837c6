"""Running a bot from a script, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from tests.bots.conftest import ScriptedServer

from meijin.bots import RandomBot, bot_source, serve

SLOW_BOT = """
import time
from meijin.bots import Bot, run

class SlowBot(Bot):
    def choose(self, position):
        time.sleep(3600)
        return 0

run(SlowBot())
"""


@asynccontextmanager
async def script_of(
    source: str, folder: Path, server: ScriptedServer
) -> AsyncIterator[asyncio.subprocess.Process]:
    path = folder / "own.py"
    path.write_text(source)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "MEIJIN_SERVER": server.address,
        "GRPC_VERBOSITY": "ERROR",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(path), env=environment, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def last_words(process: asyncio.subprocess.Process) -> str:
    _, written = await process.communicate()
    return written.decode()


@pytest.mark.parametrize("is_hasty", [False, True])
async def test_template_runs(server: ScriptedServer, tmp_path: Path, *, is_hasty: bool) -> None:
    """A new author's file connects, plays, and leaves at Ctrl-C with a goodbye; at two at once."""
    async with script_of(bot_source("mine"), tmp_path, server) as process:
        session = await server.admitted()
        assert session.hello.bot_name == "mine"
        await session.begin(1)
        (play,) = await session.receive_plays()
        assert play.cell == 112
        await session.send_events(ended=[session.ended(1)])
        await session.send_ping(1)
        await session.receive()
        process.send_signal(signal.SIGINT)
        assert (await session.receive()).HasField("goodbye")
        if is_hasty:  # the first one is still being polite
            process.send_signal(signal.SIGINT)
        else:
            session.end()
        words = await last_words(process)
    assert process.returncode == (-signal.SIGINT if is_hasty else 0)
    assert "connected as mine" in words
    assert "game game-1 against rival started" in words
    assert "game game-1 against rival ended: white wins by five" in words
    assert is_hasty or words.splitlines()[-1].endswith("left")


async def test_sigterm_during_a_search(server: ScriptedServer, tmp_path: Path) -> None:
    """A search holds up nothing: the bot leaves, and says how many games wait for it."""
    async with script_of(SLOW_BOT, tmp_path, server) as process:
        session = await server.admitted()
        await session.begin(1)
        await session.send_ping(1)
        await session.receive()
        process.terminate()
        await session.receive_end()
        words = await last_words(process)
    assert process.returncode == 0
    assert "games that wait 30 s for the bot's return: 1" in words
    assert "Traceback" not in words


async def test_refusal(server: ScriptedServer, tmp_path: Path) -> None:
    """A refused bot ends with one line that says what to do."""
    async with script_of(bot_source("mine"), tmp_path, server) as process:
        session = await server.session()
        session.end(grpc.StatusCode.UNAUTHENTICATED, "unknown token")
        words = await last_words(process)
    assert process.returncode == 1
    assert words.startswith("meijin: unknown token: register the bot")
    assert words.count("\n") == 1


async def test_serve(server: ScriptedServer) -> None:
    """In a program with an event loop, a bot serves until it is cancelled."""
    serving = asyncio.create_task(serve(RandomBot(), server=server.address, name="any"))
    session = await server.admitted()
    assert session.hello.bot_name == "any"
    await session.begin(1)
    await session.receive_plays()
    serving.cancel()
    await session.receive_end()
    with pytest.raises(asyncio.CancelledError):
        await serving
