"""An arena of one's own: a server and bots as child processes, for as long as they are needed."""

import errno
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.game import Variant
from meijin.local.bots import BOT_START_TIMEOUT, BotSupervisor, BotWords, Upkeep, commands_of
from meijin.local.child import MEIJIN, Child, Tell, start_child, stopping
from meijin.local.connection import Connection, Server, connect
from meijin.local.errors import ArenaError, LeftTournamentError, check_server_parts
from meijin.local.sides import Side
from meijin.local.worker import PlaysManyError, WorkerSupervisor
from meijin.wire.contract import SERVER_LOG_FILE
from meijin.worker.plan import Plan

SERVER_START_TIMEOUT = timedelta(minutes=1)
END_TIMEOUT = timedelta(seconds=1)
"""A server whose call has failed has this time to end, before it is taken to run."""

POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether the server is up."""

LISTENING = re.compile(r"listening on (\S+)")
PAGES = re.compile(r"pages for browsers are at (\S+)")

USUAL_UPKEEP = Upkeep()

SETTINGS = {"MEIJIN_MAX_FAULTS": "0"}
"""Of a server of one's own: matches say themselves how many forfeits are too many."""


@contextmanager
def local_arena(
    data: Path,
    bots: Mapping[str, BotWords],
    tell: Tell,
    upkeep: Upkeep = USUAL_UPKEEP,
    *,
    with_ladder: bool = True,
    web: str = "off",
) -> Iterator[Connection]:
    """A server on a free loopback port with bots, which maps names to what `bot run` takes.

    It is told nothing of other servers, neither by the environment nor by the file of settings.
    Everything is stopped on the way out; the logs and the database stay in `data`. Without a
    ladder there is neither a queue nor a worker, which take longer to start than the rest.

    Raises:
        ArenaError: a process does not come up; the message names its log.
        BotLostError: a bot has ended, and its tournaments were cancelled.
    """
    options = () if with_ladder else without_ladder(data)[:1]
    with (
        local_server(data, *options, web=web) as (address, server),
        connect(Server(address), "") as connection,
    ):
        supervisor = BotSupervisor(connection, data, commands_of(bots, address), upkeep, tell)
        with explaining(server), supervisor.running():
            yield connection


@contextmanager
def playing(
    connection: Connection,
    address: str,
    sides: Mapping[str, Side],
    folder: Path,
    tell: Tell,
    *,
    games: int,
    variant: Variant,
    is_pinned: bool = False,
    on_loss: Callable[[], object] = lambda: None,
    limit: timedelta = BOT_START_TIMEOUT,
) -> Iterator[None]:
    """Sides that a worker plays on a server of one's own until the end.

    Where one is a bot that plays many games at once by itself, all are connected as bots instead.

    Args:
        games: At once.
        variant: What is played; engines are asked for nothing else.
        is_pinned: Each game keeps to a core of its own.
        on_loss: Is called when what plays has ended while games were played.
        limit: For each side to get ready.

    Raises:
        BotLostError: a side can't be started, or what plays it has ended for good.
    """
    plans = [side.plan(name) for name, side in sides.items()]
    plan = Plan(address, plans, games, str(folder.resolve()), str(variant), is_pinned)
    with ExitStack() as stack:
        try:
            stack.enter_context(WorkerSupervisor(connection, plan, tell, on_loss, limit).running())
        except PlaysManyError:
            words = {name: side.connecting(name, address, variant) for name, side in sides.items()}
            upkeep = Upkeep(start_timeout=limit, on_end=lambda _: on_loss())
            bots = BotSupervisor(connection, folder, words, upkeep, tell)
            stack.enter_context(bots.running())
        yield


def without_ladder(data: Path) -> tuple[str, str]:
    """Options of a server that rates nothing: it starts no Valkey or worker, nor outlives a power cut."""
    return f"--redis=unix://{data.resolve() / 'none.sock'}", "--durability=process"


@contextmanager
def local_server(
    data: Path, *options: str, web: str = "off", program: Sequence[str] = MEIJIN
) -> Iterator[tuple[str, Child]]:
    """A server on a free loopback port, where everybody is an operator: its address, and itself.

    Args:
        web: Where it has pages for browsers.
        program: What runs it, in place of this installation's own command.

    Raises:
        ArenaError: it does not come up; the message names its log.
    """
    check_server_parts()
    _make_folder(data)
    arguments = ["serve", "--open", "--listen=127.0.0.1:0", f"--data={data}", "--drain=0"]
    arguments += [f"--web={web}", f"--env-file={os.devnull}", *options]
    with stopping() as children:
        log = data / SERVER_LOG_FILE
        # Behind what is there, which may be that of a server that runs.
        server = start_child(arguments, log, goes_on=True, env=SETTINGS, program=program)
        children["server"] = server
        yield _address(server), server


def _make_folder(data: Path) -> None:
    try:
        data.mkdir(parents=True, exist_ok=True)
        if not os.access(data, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileExistsError:
        raise ArenaError(f"{data} is a file; give a folder with --data") from None
    except OSError as error:
        raise ArenaError(f"can't use {data}: {error.strerror}; give another --data") from None


@contextmanager
def explaining(server: Child) -> Iterator[None]:
    """Say of calls that fail, and of an interrupted tournament, what it means here.

    Raises:
        ArenaError: the server has ended, or is ended now.
    """
    try:
        yield
    except grpc.RpcError:
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(END_TIMEOUT.total_seconds())
        _check_server(server)
        raise
    except LeftTournamentError:
        raise ArenaError("interrupted; its server and bots are stopped") from None


def addresses(log: Path) -> tuple[str, str]:
    """Where the server that has started last listens, and where its pages are, by its log.

    The second is empty where it has none, or none yet.
    """
    words = log.read_text(encoding="utf-8", errors="replace")
    begin = max((found.start() for found in LISTENING.finditer(words)), default=0)
    found = [pattern.search(words, begin) for pattern in (LISTENING, PAGES)]
    listening, pages = ("" if each is None else each[1] for each in found)
    return listening, pages


def _address(server: Child) -> str:
    deadline = time.monotonic() + SERVER_START_TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        found = LISTENING.search(server.words)
        if found is not None:
            return found[1]
        _check_server(server)
        time.sleep(POLL_INTERVAL.total_seconds())
    limit = SERVER_START_TIMEOUT.total_seconds()
    raise ArenaError(f"the server did not come up within {limit:g} s; see {server.log}")


def _check_server(server: Child) -> None:
    if server.process.poll() is not None:
        raise ArenaError(f"the server ended: {server.last_words}; see {server.log}")
