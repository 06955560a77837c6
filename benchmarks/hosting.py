"""What it costs to have a bot hosted: its start, freezing it, each ply, and memory.

    python benchmarks/hosting.py [--starts 15] [--games 4] [--think-ms 0 10 100] [--json]

A server with a host of its own plays the same bot as uploaded programs and as bots that are connected
by themselves, in turns. All is measured on this machine, in one run.

start, in milliseconds of wall time, medians:
    door         until a door that was started ahead listens
    sandbox      until a program that does nothing has begun and ended in it
    interpreter  what Python's start takes longer than that
    hello        what is left: the bot's imports, and its way in through the door
    whole        from the call to the open stream of the bot
frozen: milliseconds until a program stands still, and goes on
ply: milliseconds a ply, hosted and by itself, and how much more that is
memory: MB of an idle bot that is hosted and of its door, each with its share of what others have too
"""

import asyncio
import hashlib
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena_process import ArenaProcess, arena_process, child
from google.protobuf import json_format
from report import Row, parser_of, print_json, show

from meijin.cli.bot.program.transfer import Transfer
from meijin.game import TimeControl, Variant
from meijin.hosting.cores import Cores
from meijin.hosting.door.lines import Plan
from meijin.hosting.doors import DoorPool
from meijin.hosting.runtime import runtime_folders, with_python
from meijin.hosting.seating import Seating
from meijin.hosting.shelf import removed_folder, socket_folder
from meijin.local.connection import Connection, Server, connect, make_tournament
from meijin.programs.archive import examine_apart
from meijin.programs.kinds import ProgramKind
from meijin.programs.prepared import prepare
from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.running import Launch
from meijin.store import Database
from meijin.store.programs import admissions
from meijin.v1 import hosting_service_pb2, play_service_pb2
from meijin.v1.bot_service_pb2 import ListBotsRequest, RegisterBotRequest
from meijin.v1.tournament_service_pb2 import TournamentSettings
from meijin.wire.capabilities import Capabilities, capabilities_to_proto
from meijin.wire.values import time_control_to_proto, variant_to_proto

PROGRAM = """\
import time

from meijin.bots import Bot, Position


class Thinker(Bot):
    def choose(self, position: Position) -> int:
        end, width = time.monotonic() + {think_ms} / 1000, position.variant.width
        while time.monotonic() < end:
            pass
        key = lambda cell: ((cell % width + 2 * (cell // width)) % 5, cell)
        return min(position.legal_cells(), key=key)
"""
SETTINGS = {"MEIJIN_HOSTING": "true", "MEIJIN_REDIS_URL": "unix:///nonexistent/valkey.sock"}
"""Without Redis nobody examines programs: the benchmark admits them."""
CONTROL = TimeControl.parse("600")
PATIENCE = 300.0
MS, MEGABYTE = 1000, 1e6


def median_ms(seconds: Sequence[float]) -> float:
    return round(MS * statistics.median(seconds), 2)


async def timed(work: Callable[[], Awaitable[object]], times: int) -> float:
    """The milliseconds that something takes, at the median."""
    spent = []
    for _ in range(times):
        began = time.monotonic()
        await work()
        spent.append(time.monotonic() - began)
    return median_ms(spent)


class Starts:
    """Starts a bot again and again, as a host does."""

    def __init__(self, sandbox: BubblewrapSandbox, doors: DoorPool, folder: Path) -> None:
        self._sandbox = sandbox
        self._doors = doors
        self._folder = folder
        self._cores = Cores(sorted(os.sched_getaffinity(0))[-1:])
        self._numbers = iter(range(1_000_000))
        script = folder / "bot.py"
        script.write_text(PROGRAM.format(think_ms=0))
        contents = examine_apart(script, ProgramKind.SCRIPT, "bot.py")
        self._prepared = prepare(script, contents, folder / "tree")

    def _launch(self, command: Sequence[str], sockets: Path) -> Launch:
        return Launch(
            name=f"start-{next(self._numbers)}",
            command=command,
            tree=self._prepared.tree,
            socket_folder=sockets,
            runtime=runtime_folders(),
        )

    async def command(self, *words: str) -> None:
        """Run a command to its end."""
        running = await self._sandbox.start(self._launch(words, self._folder))
        await running.wait()

    async def door(self) -> float:
        """How long a door takes that was started ahead."""
        self._doors.prepare()
        await asyncio.sleep(2)  # its imports are not of interest
        with socket_folder(self._folder) as (sockets, user):
            began = time.monotonic()
            door = await self._doors.take(
                Plan("127.0.0.1:1", "", str(sockets / "bot.sock"), "ada", "", user=user)
            )
            await anext(door.lines())
            spent = time.monotonic() - began
            await door.close()
        return spent

    async def whole(self, address: str, bot: str, token: str) -> float:
        """How long it takes until the server has let the bot in."""
        self._doors.prepare()
        await asyncio.sleep(2)
        opened = asyncio.Event()
        with socket_folder(self._folder) as (sockets, user):
            socket = str(sockets / "bot.sock")
            plan = Plan(address, token, socket, bot, "d" * 64, user=user, is_measured=False)
            seating = Seating(
                self._launch(with_python(self._prepared.command), sockets),
                plan,
                sandbox=self._sandbox,
                cores=self._cores,
                doors=self._doors,
                opened=opened.set,
            )
            began = time.monotonic()
            running = asyncio.create_task(seating.run())
            await opened.wait()
            spent = time.monotonic() - began
            seating.stop()
            await running
        return spent

    async def frozen(self, times: int) -> Row:
        """How long it takes to freeze and to thaw a bot that waits."""
        words = (sys.executable, "-c", "import time, meijin.bots; time.sleep(1000)")
        running = await self._sandbox.start(self._launch(words, self._folder))
        await asyncio.sleep(2)
        spent: dict[str, list[float]] = {"freeze": [], "thaw": []}
        for _ in range(times):
            for name, work in (("freeze", running.freeze), ("thaw", running.thaw)):
                began = time.monotonic()
                await work()
                spent[name].append(time.monotonic() - began)
        await running.stop(timedelta(0))
        return {f"{name}_ms": median_ms(each) for name, each in spent.items()}


async def measure_starts(arena: ArenaProcess, token: str, times: int) -> tuple[Row, Row]:
    doors = DoorPool(os.environ)
    async with removed_folder() as folder, BubblewrapSandbox() as sandbox:
        starts = Starts(sandbox, doors, folder)
        door = median_ms([await starts.door() for _ in range(times)])
        nothing = await timed(lambda: starts.command("true"), times)
        python = await timed(lambda: starts.command(sys.executable, "-c", "pass"), times)
        whole = median_ms([await starts.whole(arena.address, "own", token) for _ in range(times)])
        frozen = await starts.frozen(10 * times)
        await doors.close()
    parts = {"door": door, "sandbox": nothing, "interpreter": python - nothing}
    left = whole - sum(parts.values())
    return {
        f"{name}_ms": each for name, each in (parts | {"hello": left, "whole": whole}).items()
    }, frozen


def upload(connection: Connection, bot: str, source: str) -> None:
    data = source.encode()
    digest = hashlib.sha256(data).hexdigest()
    header = hosting_service_pb2.ProgramHeader(
        bot=bot, digest=digest, size=len(data), file_name="bot.py"
    )
    Transfer(connection, header, data, sent=lambda _: None, lost=lambda: None).run()


def admit_all(data: Path) -> None:
    """Admit what was uploaded, unseen."""
    hello = play_service_pb2.Hello(capabilities=capabilities_to_proto(Capabilities()))
    said = json_format.MessageToDict(hello, preserving_proto_field_name=True)
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        now = datetime.now(UTC)
        while taken := database.write(admissions.take_program, now, now + timedelta(hours=1)):
            database.write(admissions.admit, taken, [], said, now)


def play(connection: Connection, data: Path, bots: Sequence[str], games: int) -> float:
    """Play games, and return the milliseconds that a ply takes, at the median of the games."""
    wanted = TournamentSettings(
        bots=bots,
        rounds=games,
        seed=1,
        variant=variant_to_proto(Variant()),
        time_control=time_control_to_proto(CONTROL),
    )
    key = make_tournament(connection, wanted).tournament_id
    query = (
        "select (julianday(end_time) - julianday(start_time)) * 86400 / (length(moves) / 2 - "
        "opening_plies) from game where state = 'finished' and tournament_id = ?"
    )
    deadline = time.monotonic() + PATIENCE
    with sqlite3.connect(data / "meijin.db") as database:
        while len(rows := database.execute(query, (key,)).fetchall()) < games:
            if time.monotonic() > deadline:
                raise TimeoutError(f"tournament {key} has {len(rows)} of {games} games")
            time.sleep(0.2)
    return median_ms([seconds for (seconds,) in rows])


def wait_for(connection: Connection, names: Sequence[str]) -> None:
    """Return once bots are connected."""
    request, deadline = ListBotsRequest(connected=True), time.monotonic() + PATIENCE
    while not {bot.name for bot in connection.ask(connection.bots.ListBots, request).bots} >= {
        *names
    }:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{' and '.join(names)} are not connected")
        time.sleep(0.1)


def measure_plies(
    arena: ArenaProcess, connection: Connection, think_ms: Sequence[int], games: int
) -> list[Row]:
    rows: list[Row] = []
    for think in think_ms:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            script = folder / "bot.py"
            script.write_text(PROGRAM.format(think_ms=think))
            names = [f"own-{side}-{think}" for side in (1, 2)]
            for name in names:
                words = ("bot", "run", str(script), f"--name={name}", f"--server={arena.address}")
                log = stack.enter_context((folder / name).open("wb"))
                stack.enter_context(child([sys.executable, "-m", "meijin", *words], log.fileno()))
            wait_for(connection, names)
            hosted = [f"hosted-{side}-{think}" for side in (1, 2)]
            play(connection, arena.data, hosted, 1)  # has them started
            by_itself = play(connection, arena.data, names, games)
            ply = play(connection, arena.data, hosted, games)
        rows.append(
            {
                "think_ms": think,
                "hosted_ms": ply,
                "by_itself_ms": by_itself,
                "times": round(ply / by_itself, 2),
            }
        )
    return rows


def measure_memory() -> Row:
    """What the seats of this machine's hosts hold, at the median of those that are there."""
    found: dict[str, dict[str, int]] = {"program": {}, "door": {}}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            groups = (process / "cgroup").read_text()
            part = next((each for each in found if f"/{each}\n" in groups), "")
            if "/meijin-" in groups and part:
                seat = groups.partition("/meijin-")[2].partition(f"/{part}")[0]
                rollup = (process / "smaps_rollup").read_text().splitlines()
                kilobytes = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
                found[part][seat] = found[part].get(seat, 0) + 1024 * kilobytes
    return {
        f"{part}_mb": round(statistics.median(seats.values()) / MEGABYTE, 1)
        for part, seats in found.items()
    }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--think-ms", type=int, nargs="+", default=[0, 10, 100])
    given = parser.parse_args()
    with (
        arena_process("process", settings=SETTINGS) as arena,
        connect(Server(arena.address), operator_token(arena.data)) as connection,
    ):
        for think in given.think_ms:
            for side in (1, 2):
                bot = f"hosted-{side}-{think}"
                register(connection, bot)
                upload(connection, bot, PROGRAM.format(think_ms=think) + f"# {side}\n")
        admit_all(arena.data)
        token = register(connection, "own")
        start, frozen = asyncio.run(measure_starts(arena, token, given.starts))
        plies = measure_plies(arena, connection, given.think_ms, given.games)
        memory = measure_memory()
    show("start", [start])
    show("frozen", [frozen])
    show("ply", plies)
    show("memory of an idle bot", [memory])
    if given.json:
        print_json([start, frozen, *plies, memory])


def operator_token(data: Path) -> str:
    return (data / "operator.token").read_text().strip()


def register(connection: Connection, bot: str) -> str:
    """Register a bot, and return its token."""
    return connection.ask_with_token(
        connection.bots.RegisterBot, RegisterBotRequest(name=bot)
    ).token


if __name__ == "__main__":
    main()
