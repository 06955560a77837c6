"""An arena of one's own: a server and bots as child processes, for as long as they are needed."""

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, TypeAlias

import grpc

from meijin.arena.connection import Connection, Server, connect
from meijin.arena.errors import ArenaError, LeftTournamentError
from meijin.arena.server_parts import check_server_parts
from meijin.bots.builtin.compiled import COMPILING
from meijin.bots.sdk.client import CONNECTED
from meijin.server.process.die_with_parent import die_with_parent
from meijin.v1 import bot_service_pb2 as pb
from meijin.wire.contract import SERVER_LOG_FILE

SERVER_START_TIMEOUT = timedelta(minutes=1)

BOT_START_TIMEOUT = timedelta(minutes=5)
"""For a bot to connect, not counting the time in which it compiles its search."""

NOTICE_INTERVAL = timedelta(seconds=2)
"""After it a bot that is not connected yet has its last line passed on, and then again."""

STOP_TIMEOUT = timedelta(seconds=20)
"""A child has this time to end before it is killed."""

END_TIMEOUT = timedelta(seconds=1)
"""A server whose call has failed has this time to end, before it is taken to run."""

POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether the server and its bots are up."""

PREFIX = "MEIJIN_"
"""Of the variables that tell of other servers, of which an arena of one's own is to know nothing."""

FAILURE = "meijin: "
"""How the line begins with which a command ends that has failed."""

LISTENING = re.compile(r"listening on (\S+)")

Child: TypeAlias = "tuple[subprocess.Popen[str], Path]"
"""A process and its log."""

Tell: TypeAlias = Callable[[str], object]
"""Takes a line of what happens meanwhile; it may hold anything that a bot has written."""


@contextmanager
def local_arena(data: Path, bots: dict[str, str], tell: Tell) -> Iterator[Connection]:
    """A server on a free loopback port with bots, which maps names to what `bot run` takes.

    It is told nothing of other servers, neither by the environment nor by the file of settings.
    Everything is stopped on the way out; the logs and the database stay in `data`.

    Raises:
        ArenaError: a process does not come up; the message names its log.
    """
    with local_server(data) as (address, server), _stopping() as children:
        for name, spec in bots.items():
            bot = ["bot", "run", spec, f"--name={name}", f"--server={address}"]
            children[name] = _child(bot, data / f"{name}.log")
        with connect(Server(address), "") as connection, explaining(*server):
            _wait_for_bots(connection, children, tell)
            with telling_of_ends(children, tell):
                yield connection


@contextmanager
def local_server(data: Path, *options: str) -> Iterator["tuple[str, Child]"]:
    """A server on a free loopback port, where everybody is an operator: its address, and itself.

    Raises:
        ArenaError: it does not come up; the message names its log.
    """
    check_server_parts()
    _make_folder(data)
    arguments = ["serve", "--open", "--listen=127.0.0.1:0", f"--data={data}", "--drain=0"]
    with _stopping() as children:
        arguments += [f"--env-file={os.devnull}", *options]
        server = children["server"] = _child(arguments, data / SERVER_LOG_FILE)
        yield _address(*server), server


def _make_folder(data: Path) -> None:
    """Make a folder, if there is none, that can be written into.

    Raises:
        ArenaError: there is something else, or the folder is read-only.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        if not os.access(data, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileExistsError:
        raise ArenaError(f"{data} is a file; give a folder with --data") from None
    except OSError as error:
        raise ArenaError(f"can't use {data}: {error.strerror}; give another --data") from None


@contextmanager
def _stopping() -> Iterator["dict[str, Child]"]:
    """The processes that are put in on the way; at its end all are told to end, then waited for."""
    children: dict[str, Child] = {}
    try:
        yield children
    finally:
        for process, _ in children.values():
            process.terminate()
        for process, _ in children.values():
            try:
                process.wait(STOP_TIMEOUT.total_seconds())
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def telling_of_ends(children: "Mapping[str, Child]", tell: Tell) -> Iterator[None]:
    """Tell how each bot's process ends whose games are being played.

    The server sees a stream that ends, and no more: only who started a process knows its status.
    """
    is_over = threading.Event()

    def wait(name: str, process: "subprocess.Popen[str]", log: Path) -> None:
        status = status_text(process.wait())
        if not is_over.is_set():
            tell(f"{name} ended, {status}: {_last_line(log)}")

    for name, child in children.items():
        threading.Thread(
            target=wait, args=(name, *child), name=f"{name}'s end", daemon=True
        ).start()
    try:
        yield
    finally:
        is_over.set()


def status_text(status: int) -> str:
    """How a process ended, by what `Popen` says."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


@contextmanager
def explaining(server: "subprocess.Popen[str]", log: Path) -> Iterator[None]:
    """Say of calls that fail, and of an interrupted tournament, what it means here.

    Raises:
        ArenaError: the server has ended, or is ended now.
    """
    try:
        yield
    except grpc.RpcError:
        with suppress(subprocess.TimeoutExpired):
            server.wait(END_TIMEOUT.total_seconds())
        _check_server(server, log)
        raise
    except LeftTournamentError:
        raise ArenaError("interrupted; its server and bots are stopped") from None


def _child(arguments: Sequence[str], log: Path) -> "Child":
    """A `meijin` process whose words go to a log.

    In a session of its own, Ctrl-C reaches this command alone, which then stops it in order.
    """
    with log.open("w", encoding="utf-8") as file:
        return _start(arguments, file), log


def _start(arguments: Sequence[str], log: IO[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "meijin", *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    return subprocess.Popen(
        die_with_parent(command),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        text=True,
        env=environment,
        start_new_session=True,
    )


def _address(server: "subprocess.Popen[str]", log: Path) -> str:
    deadline = time.monotonic() + SERVER_START_TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        found = LISTENING.search(_text(log))
        if found is not None:
            return found[1]
        _check_server(server, log)
        time.sleep(POLL_INTERVAL.total_seconds())
    limit = SERVER_START_TIMEOUT.total_seconds()
    raise ArenaError(f"the server did not come up within {limit:g} s; see {log}")


def _check_server(server: "subprocess.Popen[str]", log: Path) -> None:
    """See that the server runs.

    Raises:
        ArenaError: it has ended.
    """
    if server.poll() is not None:
        raise ArenaError(f"the server ended: {_last_line(log)}; see {log}")


class Startup:
    """How long a bot that starts is waited for, and what of its log is passed on."""

    def __init__(self, now: float) -> None:
        self._deadline = now + BOT_START_TIMEOUT.total_seconds()
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        self._last_notice = ""

    def notice(self, line: str, now: float) -> str:
        """What to pass on of a bot whose last line this is; empty when there is no need to."""
        if COMPILING in line:
            self._deadline = now + BOT_START_TIMEOUT.total_seconds()
        if line in ("", self._last_notice) or line.startswith(FAILURE) or now < self._next_notice:
            return ""
        if CONNECTED in line:  # since the server was asked who is there
            return ""
        self._last_notice = line
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        return line

    def is_over(self, now: float) -> bool:
        """Whether it has had its time."""
        return now > self._deadline


def _wait_for_bots(connection: Connection, children: "dict[str, Child]", tell: Tell) -> None:
    """Return when all bots are connected; what keeps one that is slow is told."""
    startups = {name: Startup(time.monotonic()) for name in children}
    while True:
        request = pb.ListBotsRequest(connected=True)
        for bot in connection.ask(connection.bots.ListBots, request).bots:
            startups.pop(bot.name, None)
        if not startups:
            return
        for name, startup in sorted(startups.items()):
            _look_at_bot(name, startup, *children[name], tell)
        time.sleep(POLL_INTERVAL.total_seconds())


def _look_at_bot(
    name: str, startup: Startup, process: "subprocess.Popen[str]", log: Path, tell: Tell
) -> None:
    """Tell what a bot that is not connected yet says.

    Raises:
        ArenaError: it has ended, or has had its time.
    """
    if process.poll() is not None:
        raise ArenaError(f"{name} ended, {status_text(process.returncode)}: {_last_line(log)}")
    now = time.monotonic()
    if notice := startup.notice(_raw_last_line(log), now):
        tell(f"{name}: {notice}")
    if startup.is_over(now):
        limit = BOT_START_TIMEOUT.total_seconds()
        raise ArenaError(f"{name} did not connect within {limit:g} s: {_last_line(log)}")


def _last_line(log: Path) -> str:
    return _raw_last_line(log).removeprefix(FAILURE) or "it said nothing"


def _raw_last_line(log: Path) -> str:
    lines = _text(log).splitlines() or [""]
    return lines[-1]


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
