"""Processes that a test starts, waits for, stops and kills."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import grpc

MEIJIN = (sys.executable, "-m", "meijin")
PATIENCE = 120.0
"""Seconds that anything may take before a test gives up; a whole demo on busy cores needs some."""
POLL_INTERVAL = 0.1
"""Seconds between two looks, each of which takes time from what it waits for."""
PORTS = range(20_000, 32_000)
"""Below those the kernel deals out, so that nobody takes a port while its server is away."""


def eventually(
    condition: Callable[..., object], *arguments: object, patience: float = PATIENCE
) -> None:
    """Wait until a condition holds; a server that is away makes it fail for now."""
    deadline = time.monotonic() + patience
    while not _holds(condition, *arguments):
        assert time.monotonic() < deadline, f"it did not come to pass in {patience:g} s"
        time.sleep(POLL_INTERVAL)


def _holds(condition: Callable[..., object], *arguments: object) -> bool:
    try:
        return bool(condition(*arguments))
    except grpc.RpcError:
        return False


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def processes_of(folder: Path) -> set[int]:
    """The living processes whose command line or environment names a folder."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if os.fsencode(folder) in words:
                found.add(int(process.name))
    return found - {os.getpid()}


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """This process's own without Meijin's settings; the mark is handed on to all descendants.

    Servers have no pages unless they are told to: their ports would be the same.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
    mark = {"TEST_FOLDER": str(folder), "MEIJIN_WEB": "off", "XDG_CONFIG_HOME": str(folder)}
    return {**kept, **mark, "COLUMNS": "200", "NO_COLOR": "1", **extra}


class Process:
    """A command in the background; what it says goes to a log.

    Where it `is_group`, signals go to everything that it has started.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        is_group: bool = False,
    ) -> None:
        self.name = name
        self._is_group = is_group
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as log:
            self._start = log.tell()
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=is_group,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def words(self) -> str:
        return self.log.read_bytes()[self._start :].decode()

    def has_said(self, words: str, times: int = 1) -> bool:
        """Whether it has said something, since it was started and this many times."""
        return self.words.count(words) >= times

    def wait_for(self, words: str, times: int = 1) -> None:
        """Wait until it has said something; fail if it ends before."""
        eventually(lambda: self.has_said(words, times) or not self.is_running)
        assert self.has_said(words, times), self.words

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        if self._is_group:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)
        else:
            self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.send(number)
        return self._process.wait(PATIENCE)

    def wait(self) -> int:
        return self._process.wait(PATIENCE)

    def kill(self, *, with_children: bool = False) -> None:
        victims = children_of(self.pid) if with_children else []
        self._process.kill()
        _kill(victims)
        self._process.wait(PATIENCE)

    def kill_children(self) -> int:
        """``kill -9`` to all that it has started; return how many those were."""
        victims = children_of(self.pid)
        _kill(victims)
        return len(victims)


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Commands:
    """Runs `meijin` commands to their ends, in a folder and with settings."""

    command: Sequence[str] = MEIJIN

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.env = env

    def run(
        self, *words: str, text: str | None = None, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*self.command, *words],
            cwd=self.folder,
            env=environment(self.folder, self.env | env),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **({"stdin": subprocess.DEVNULL} if text is None else {"input": text}),
        )

    def tell(self, *words: str, status: int = 0, **env: str) -> str:
        done = self.run(*words, **env)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def ask(self, *words: str, status: int = 0, **env: str) -> dict[str, Any]:
        """What one answers with ``--json``: one object on one line."""
        (line,) = self.tell(*words, "--json", status=status, **env).splitlines()
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def refusal(self, *words: str, **env: str) -> str:
        """Why one ends with status 1, in a line behind what a log may say."""
        done = self.run(*words, **env)
        assert (done.returncode, done.stdout) == (1, ""), done
        assert "Traceback" not in done.stderr
        line = done.stderr.splitlines()[-1]
        assert line.startswith("meijin: "), done.stderr
        return line.removeprefix("meijin: ")


class Processes(Commands):
    """Starts processes in a folder, and kills at the end what still runs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._started: list[Process] = []
        self.at_end = ExitStack()
        """What else is to be closed, before anything is killed."""

    def start(self, name: str, *words: str, **env: str) -> Process:
        return self.start_command(name, *MEIJIN, *words, **env)

    def start_command(self, name: str, *command: str, **env: str) -> Process:
        process = Process(self.folder, name, command, environment(self.folder, env))
        self._started.append(process)
        return process

    def kill_all(self) -> None:
        self.at_end.close()
        for process in reversed(self._started):
            process.kill(with_children=True)
