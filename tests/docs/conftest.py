"""The pages, taken apart, and a terminal that their commands are typed into."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from meijin.v1.status_service_pb2 import GetActivityRequest
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.wire.contract import DEFAULT_SERVER, SERVER_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

PATIENCE = 60.0
"""Seconds that a command may take on a busy machine."""
POLL = 0.02
"""Seconds between two looks at what a lasting command has said."""

_FENCE = re.compile(
    r"^```(?P<language>\w+)?(?: (?P<title>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LASTING = re.compile(
    r"(?:\w+=(?:\$\([^)]*\)|\S+) )*(?:meijin (?:serve|web|worker|bot run|bot wrap)|python \w+\.py)\b"
)
_SERVER = re.compile(r"(?:\w+=\S+ )*meijin serve\b")
_READY = "meijin is listening on |connected as |worker started"
_ADDRESS = re.compile(r"listening on (\S+)")


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block of a page."""

    place: str
    """The page and the line."""
    language: str
    title: str
    """What stands behind the language: a file's name, or a message's."""
    text: str


@dataclass(slots=True)
class Command:
    """A line of a `console` block that begins with ``$``, or ``^C``."""

    place: str
    text: str
    output: list[str] = field(default_factory=list)
    """What the page says that it prints."""

    @property
    def is_lasting(self) -> bool:
        """Whether it runs until it is stopped."""
        return _LASTING.match(self.text) is not None


class Page:
    """A page of the documentation; its name is its path in the repository."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (ROOT / name).read_text()
        self.fences = [
            Fence(
                place=f"{name}:{self.text.count(chr(10), 0, found.start()) + 1}",
                language=found["language"] or "",
                title=found["title"] or "",
                text=found["text"],
            )
            for found in _FENCE.finditer(self.text)
        ]
        self.commands = list(self._read_commands())

    @property
    def programs(self) -> list[Fence]:
        """The Python blocks that are files."""
        return [fence for fence in self.fences if fence.language == "python" and fence.title]

    def table(self, heading: str) -> list[list[str]]:
        """The cells of the first table behind a heading, row by row, without its head."""
        _, found, rest = self.text.partition(f"\n{heading}\n")
        assert found, f"{self.name} has no {heading}"
        rows = re.search(r"^\|.*?\|$(?!\n\|)", rest, re.MULTILINE | re.DOTALL)
        assert rows, f"no table behind {heading}"
        cells = [line.strip("|").split("|") for line in rows[0].splitlines()[2:]]
        return [[cell.strip() for cell in row] for row in cells]

    def _read_commands(self) -> Iterator[Command]:
        for fence in self.fences:
            if fence.language not in {"console", "sh"}:
                continue
            command: Command | None = None
            for line in fence.text.splitlines():
                if line.startswith("$ ") or line == "^C":
                    if command is not None:
                        yield command
                    command = Command(fence.place, line.removeprefix("$ "))
                else:
                    assert command is not None, f"{fence.place} begins with no command"
                    command.output.append(line)
            if command is not None:
                yield command


class Lasting:
    """A command that runs until it is stopped."""

    def __init__(self, command: Command, log: Path, environment: dict[str, str]) -> None:
        self.command = command
        self._log = log
        with log.open("w") as file:
            # A session of its own: a signal goes to everything that bash has started.
            self._process = subprocess.Popen(
                ["bash", "-c", command.text],
                cwd=log.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """Everything that it has printed so far."""
        return self._log.read_text()

    @property
    def is_server(self) -> bool:
        """Whether others need it to be up."""
        return _SERVER.match(self.command.text) is not None

    @property
    def address(self) -> str | None:
        """Where it listens, if it is a server."""
        found = _ADDRESS.search(self.said)
        return found and found[1]

    def wait_until_ready(self) -> None:
        """Wait for what the page says that it prints, or for a sign that it is up.

        One that compiles says so now and then, and may take its time.
        """
        signs = [re.compile(masked(line)) for line in self.command.output] or [re.compile(_READY)]
        said, deadline = "", time.monotonic() + PATIENCE
        while not all(sign.search(self.said) for sign in signs):
            if said != self.said:
                said, deadline = self.said, time.monotonic() + PATIENCE
            ended = self._process.poll() is not None
            assert not ended, f"{self.command.place} ended: {self.said}"
            assert time.monotonic() < deadline, f"{self.command.place} is not ready: {self.said}"
            time.sleep(POLL)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, which every program of ours takes as a wish to end in order."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def wait(self) -> None:
        """Wait for its end."""
        try:
            status = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise
        place = self.command.place
        assert status in {0, -signal.SIGTERM}, f"{place} ended with {status}: {self.said}"


def wait_for_ladders(address: str) -> None:
    """Wait until a server's ladders have all games, as whoever types the next command would find.

    Where the server asks for a token, or for TLS, nothing is waited for.
    """
    deadline = time.monotonic() + PATIENCE
    with grpc.insecure_channel(address) as channel, suppress(grpc.RpcError):
        service, request = StatusServiceStub(channel), GetActivityRequest()
        while any(
            each.games_behind for each in service.GetActivity(request, timeout=PATIENCE).ladders
        ):
            assert time.monotonic() < deadline, "the ladders do not follow"
            time.sleep(POLL)


class Terminal:
    """Types the commands of a page, in a folder of its own.

    Servers listen on free ports, and every later command is told the address of the
    newest one that runs: the pages' 7464 may be taken on this machine.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.substitutes: dict[str, str] = {}
        """What stands in for the hosts of the pages' examples."""
        self.printed = ""
        """What the commands that ended have printed."""
        self._lasting: list[Lasting] = []
        self._starting: list[Lasting] = []
        self._count = 0
        (folder / "proto").symlink_to(ROOT / "proto")

    def type(self, command: Command) -> None:
        """Carry a command out, and compare what it prints with what the page says."""
        for name, substitute in self.substitutes.items():
            command.text = command.text.replace(name, shlex.quote(substitute))
        if command.text == "^C":
            self._interrupt()
        elif command.is_lasting:
            self._start(command)
        else:
            self._run(command)

    def wait_until_ready(self) -> None:
        """Wait for everything that was started; bots come up beside each other."""
        while self._starting:
            self._starting.pop(0).wait_until_ready()

    def _run(self, command: Command) -> None:
        self.wait_until_ready()
        environment = self.environment()
        address = environment.get(SERVER_VARIABLE, DEFAULT_SERVER)
        text = command.text.replace(f"--server {DEFAULT_SERVER}", f"--server {address}")
        if " ladder " in text and SERVER_VARIABLE in environment:
            wait_for_ladders(address)
        process = subprocess.Popen(
            ["bash", "-c", text],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=2 * PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        assert process.returncode == 0, f"{command.place}: {command.text}\n{said}"
        for line in command.output:
            assert re.search(masked(line), said), f'{command.place}: no "{line}" in\n{said}'
        self.printed += said

    def _start(self, command: Command) -> None:
        self._count += 1
        log = self.folder / f"terminal-{self._count}.log"
        started = Lasting(command, log, self.environment())
        self._lasting.append(started)
        self._starting.append(started)
        if started.is_server:
            self.wait_until_ready()

    def _interrupt(self) -> None:
        """Press Ctrl-C in the newest server's terminal."""
        self.wait_until_ready()
        server = next(found for found in reversed(self._lasting) if found.is_server)
        self._lasting.remove(server)
        server.send(signal.SIGINT)
        server.wait()

    def environment(self) -> dict[str, str]:
        """What a command is started with: no settings of this machine, the newest server."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
        kept |= {"PATH": f"{BIN}:{kept['PATH']}", "COLUMNS": "120"}
        kept |= {"MEIJIN_LISTEN": "127.0.0.1:0", "MEIJIN_WEB": "127.0.0.1:0"}
        kept |= {"XDG_CONFIG_HOME": str(self.folder / "settings")}
        addresses = [found.address for found in self._lasting if found.address]
        return kept | ({"MEIJIN_SERVER": addresses[-1]} if addresses else {})

    def close(self) -> None:
        """Stop everything that still runs: all bots at once, and then their servers."""
        lasting, self._lasting, self._starting = self._lasting, [], []
        with ExitStack() as stack:  # which calls what is last first, whatever fails
            for server in (found for found in lasting if found.is_server):
                stack.callback(server.wait)
                stack.callback(server.send, signal.SIGTERM)
            bots = [found for found in lasting if not found.is_server]
            for bot in bots:
                stack.callback(bot.wait)
            for bot in bots:
                stack.callback(bot.send, signal.SIGTERM)


def masked(line: str) -> str:
    """A pattern for a line in which the numbers may be others."""
    return re.sub(r"\d+", r"\\d+", re.escape(line))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in an empty folder."""
    terminal = Terminal(tmp_path)
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.fixture(scope="session")
def pages() -> Callable[[str], Page]:
    """Reads a page."""
    return Page
