"""An arena of a command's own: how its processes are waited for, and how they end."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pytest

from meijin.bots.builtin.compiled import COMPILING
from meijin.bots.sdk.client import CONNECTED
from meijin.local import child as module
from meijin.local.bots import BOT_START_TIMEOUT, NOTICE_INTERVAL, Startup
from meijin.local.child import Child, status_text, stopping
from meijin.local.errors import ArenaError
from meijin.local.server import addresses, local_arena, local_server, without_ladder
from meijin.wire.contract import SERVER_LOG_FILE

LIMIT = BOT_START_TIMEOUT.total_seconds()
DYING_SERVER = r"""
import sys
print("meijin is listening on 127.0.0.1:1", flush=True)
sys.stdout.buffer.write(b"meijin: out of memory \xff\n")
"""
"""What says where it listens, and ends; its last words are no text."""
LEAVING_TOGETHER = """
import pathlib, signal, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
def leave(*_):
    mine.touch()
    while not other.exists():
        time.sleep(0.01)
    sys.exit()
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
time.sleep(600)
"""
"""What is told to end, and does so once another has been told too."""


def test_a_bot_has_its_time_and_as_long_as_it_compiles() -> None:
    """Whatever else it says, it is given up when that time is over."""
    startup = Startup(0)
    assert not startup.is_over(LIMIT)
    assert startup.is_over(LIMIT + 1)
    for now in range(0, int(10 * LIMIT), 10):
        startup.notice(f"12:00:00 {COMPILING}, once", now)
        assert not startup.is_over(now)
    startup = Startup(0)
    startup.notice(COMPILING, 1000)
    startup.notice("compiled the search: 3 functions", 1001)
    startup.notice("reconnecting in 2.0 s", 1002)
    assert not startup.is_over(1000 + LIMIT)
    assert startup.is_over(1001 + LIMIT)


def test_a_last_line_is_passed_on_once() -> None:
    """Not at once, for most bots are quick; then each new one, but not too many."""
    startup = Startup(0)
    later = NOTICE_INTERVAL.total_seconds()
    assert startup.notice("loading", later - 1) == ""
    assert startup.notice("loading", later) == "loading"
    assert startup.notice("loading", 3 * later) == ""
    assert startup.notice("compiling", 3 * later) == "compiling"
    assert startup.notice("connecting", 3 * later + 1) == ""
    assert startup.notice("connecting", 4 * later) == "connecting"


@pytest.mark.parametrize(
    "line", ["meijin: no file bot.py", f"12:00:00 {CONNECTED} ada to 127.0.0.1:7464"]
)
def test_an_end_and_an_arrival_are_told_by_others(line: str) -> None:
    assert Startup(0).notice(line, NOTICE_INTERVAL.total_seconds()) == ""


def test_a_server_that_ends_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_arguments: Sequence[str], log: IO[str], _env: object) -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, "-c", DYING_SERVER], stdout=log, text=True)

    monkeypatch.setattr(module, "_start", start)
    told = r"the server ended: out of memory \ufffd; see .*server\.log"
    with pytest.raises(ArenaError, match=told), local_arena(tmp_path, {}, print):
        pass


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "exit status 0"),
        (3, "exit status 3"),
        (-9, "killed by SIGKILL"),
        (-99, "killed by signal 99"),
    ],
)
def test_statuses_are_told_in_words(status: int, text: str) -> None:
    assert status_text(status) == text


def test_bots_end_together(tmp_path: Path) -> None:
    """All are told to before one is waited for."""
    files = [tmp_path / "ada", tmp_path / "bob"]
    with stopping() as children:
        for mine, other in (files, files[::-1]):
            words = [sys.executable, "-c", LEAVING_TOGETHER, str(mine), str(other)]
            process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            children[mine.name] = Child(process, tmp_path / "log")
            assert process.stdout is not None
            with process.stdout:
                assert process.stdout.readline() == "ready\n"
    assert [child.process.returncode for child in children.values()] == [0, 0]


def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    """The second server says why it ends, behind what the first has said, which goes on."""
    log = tmp_path / SERVER_LOG_FILE
    options = without_ladder(tmp_path)
    with local_server(tmp_path, *options) as (address, _):
        before = log.read_bytes()
        with (
            pytest.raises(ArenaError, match=f"another server is running on .* at {address}"),
            local_server(tmp_path, *options),
        ):
            pass
        assert log.read_bytes().startswith(before)
    with local_server(tmp_path, *options) as (address, _):
        assert addresses(log) == (address, "")
