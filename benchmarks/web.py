"""What pages and live boards cost a server, and what they do to its games.

    python benchmarks/web.py [--watchers 1000] [--games 256] [--bots 1000] [--seconds 6]
                             [--repeat 3] [--json]

Live boards: a server, two bots that play one game with 4 moves a second, and browsers that watch
it at 2 frames a second; first by themselves, then while two instant bots play --games at once. Each
has windows of --seconds without and with browsers, in turns.

frames_per_second       that a browser gets
server_cpu_percent      of one core, without browsers and with them
added_cpu_percent       of one core, the difference of the medians
cpu_us_per_frame        of the server, for each browser's frame
moves_per_second        of the instant bots, without browsers and with them
moves_ratio             of the two medians

Pages: a server in this process with a ladder of --bots bots, asked for each page by a call of its
application: first with an empty cache, then again.

cold_ms, cached_ms      from the request to the answer's end, medians of --repeat
cold_cpu_ms             processor time of the process, which other processes don't add to
longest_stall_ms        of the event loop meanwhile; the row of no page says what the machine adds
"""

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arbitration import read
from arena_process import ArenaProcess, arena_process, child
from bot_processes import INSTANT_BOT, start_tournament
from ladder import Size, fill_database
from report import Row, parser_of, print_json, show
from starlette.applications import Starlette

from meijin.bots import RandomBot
from meijin.cli.server.site import LocalGateway
from meijin.ladder.refresh import refresh
from meijin.local import play_match
from meijin.server.app import open_database
from meijin.store.schema import LadderId
from meijin.testing.server import OpenServer, open_server
from meijin.testing.settings import settings_in
from meijin.web.cache import PageCache
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

WATCHERS = Path(__file__).with_name("web_watchers.py")
SLOW = ("slow-one", "slow-two")
INSTANT = ("one", "two")
PAUSE = 0.25
ROUNDS = 40_000
WARM_UP = 2.0
GAMES_OF_A_BOT = 20
LADDER_PAGE = "/ladders/freestyle-15x15-ultrabullet"
TICK = 0.002


@dataclass(slots=True)
class Windows:
    """What was measured in the windows without browsers, or with them."""

    cpu_percent: list[float] = field(default_factory=list)
    moves_per_second: list[float] = field(default_factory=list)
    frames_per_second: list[float] = field(default_factory=list)
    """Of all browsers together."""


@contextmanager
def bots(arena: ArenaProcess, names: Sequence[str], games: int, pause: float) -> Iterator[None]:
    """Two bots that play each other on and on, this many games at once."""
    with ExitStack() as stack:
        for name in names:
            words = [sys.executable, str(INSTANT_BOT), name, arena.address, str(games), str(pause)]
            stack.enter_context(child(words))
        arena.wait_for_bots(len(SLOW) if names is SLOW else len(SLOW + INSTANT))
        start_tournament(arena.address, names, rounds=ROUNDS, games=games)
        time.sleep(WARM_UP)
        yield


def measure(arena: ArenaProcess, seconds: float, windows: Windows) -> None:
    """Look at both ends of a window."""
    before = read(arena)
    time.sleep(seconds)
    after = read(arena)
    span = after.time - before.time
    windows.cpu_percent.append(100 * (after.server - before.server).total / span)
    windows.moves_per_second.append((after.moves - before.moves) / span)


def measure_watched(arena: ArenaProcess, seconds: float, watchers: int, windows: Windows) -> None:
    """The same while browsers watch the tournament of one game."""
    command = [sys.executable, str(WATCHERS), arena.pages, "tournament:1", str(watchers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        began = time.monotonic()
        measure(arena, seconds, windows)
        span = time.monotonic() - began
        output, _ = process.communicate()
    windows.frames_per_second.append(json.loads(output)["frames"] / span)


def in_turns(arena: ArenaProcess, options: argparse.Namespace) -> tuple[Windows, Windows]:
    """Windows without browsers and with them."""
    alone, watched = Windows(), Windows()
    for _ in range(options.repeat):
        measure(arena, options.seconds, alone)
        measure_watched(arena, options.seconds, options.watchers, watched)
    return alone, watched


def boards(options: argparse.Namespace) -> Iterator[Row]:
    """What browsers cost that watch a game, by itself and beside many others."""
    with arena_process("process", web="127.0.0.1:0") as arena, bots(arena, SLOW, 1, PAUSE):
        yield row_of(1, *in_turns(arena, options), watchers=options.watchers)
        if options.games:
            with bots(arena, INSTANT, options.games, 0.0):
                windows = in_turns(arena, options)
                yield row_of(options.games, *windows, watchers=options.watchers)


def row_of(games: int, alone: Windows, watched: Windows, *, watchers: int) -> Row:
    """What the browsers have added."""
    cpu = [statistics.median(windows.cpu_percent) for windows in (alone, watched)]
    moves = [statistics.median(windows.moves_per_second) for windows in (alone, watched)]
    frames = statistics.median(watched.frames_per_second)
    return {
        "games": games,
        "watchers": watchers,
        "frames_per_second": round(frames / watchers, 2),
        "server_cpu_percent": round(cpu[0], 1),
        "watched_cpu_percent": round(cpu[1], 1),
        "added_cpu_percent": round(cpu[1] - cpu[0], 1),
        "cpu_us_per_frame": round((cpu[1] - cpu[0]) / 100 / frames * 1e6, 1),
        "moves_per_second": round(moves[0], 1),
        "watched_moves_per_second": round(moves[1], 1),
        "moves_ratio": round(moves[1] / moves[0], 3) if moves[0] else 0.0,
    }


def make_ladder(folder: Path, bot_count: int) -> None:
    """A database whose ladder has a run of this many bots."""
    with open_database(settings_in(folder)) as database:
        database.migrate()
    fill_database(folder / "meijin.db", Size(bot_count, bot_count * GAMES_OF_A_BOT), 1)
    with open_database(settings_in(folder)) as database:
        refresh(database, LadderId(1))


@dataclass(slots=True)
class Stalls:
    """How late the event loop has been."""

    longest: float = 0.0

    async def watch(self) -> None:
        """Look at it forever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK
            await asyncio.sleep(TICK)
            self.longest = max(self.longest, loop.time() - due)


@asynccontextmanager
async def stalls() -> AsyncIterator[Stalls]:
    """Watch the event loop as long as the context lasts."""
    found = Stalls()
    watching = asyncio.create_task(found.watch())
    await asyncio.sleep(10 * TICK)
    try:
        yield found
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def ask(app: Starlette, path: str) -> tuple[float, int]:
    """The seconds that a page takes, and its status."""
    sent: list[Any] = []

    async def receive() -> Any:  # noqa: ANN401 - ASGI's
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:  # noqa: ANN401 - ASGI's
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"accept-encoding", b"gzip")]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "headers": headers,
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1234),
    }
    began = time.perf_counter()
    await app(scope, receive, send)
    return time.perf_counter() - began, sent[0]["status"]


async def pages(folder: Path, repeat: int) -> list[Row]:
    """What each page takes: of the ladder that is there, and of a game that is played now."""
    async with open_site(folder) as (_, state):
        rows = [await _page(state, path, repeat) for path in (LADDER_PAGE, "/")]
    with tempfile.TemporaryDirectory(prefix="meijin-benchmark-") as empty:
        async with open_site(Path(empty)) as (server, state):
            rows.append(await _page(state, await play(server), repeat))
    rows.append(await _no_page(1.0))
    return rows


@asynccontextmanager
async def open_site(folder: Path) -> AsyncIterator[tuple[OpenServer, SiteState]]:
    """A server in this process, with pages, whose modules the collector leaves alone."""
    gc.freeze()
    async with open_server(settings_in(folder)) as server:
        state = SiteState(LocalGateway(server.app.local_calls), SiteSettings())
        try:
            yield server, state
        finally:
            state.cache.close()


class Other(RandomBot):
    """The opponent, by a name of its own."""


async def play(server: OpenServer) -> str:
    """Play a game, and say where its page is."""
    bots = (RandomBot(seed=1), Other(seed=1))
    played = await asyncio.to_thread(play_match, *bots, server=server.address, games=1)
    return f"/games/{played.games[0].game_id}"


@dataclass(slots=True)
class Loads:
    """How long a page took, each time."""

    cold: list[float] = field(default_factory=list)
    cold_cpu: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    status: int = 0


async def _page(state: SiteState, path: str, repeat: int) -> Row:
    app, loads = application(state), Loads()
    await ask(app, path)  # templates are compiled once
    async with stalls() as found:
        for _ in range(repeat):
            state.cache.close()
            state.cache = PageCache()
            cpu = time.process_time()
            seconds, loads.status = await ask(app, path)
            loads.cold_cpu.append(time.process_time() - cpu)
            loads.cold.append(seconds)
            loads.cached.append((await ask(app, path))[0])
    return page_row(path, loads, found)


async def _no_page(seconds: float) -> Row:
    async with stalls() as found:
        await asyncio.sleep(seconds)
    return page_row("(none)", Loads([0.0], [0.0], [0.0]), found)


def page_row(path: str, loads: Loads, found: Stalls) -> Row:
    """What a page takes."""
    return {
        "page": path,
        "status": loads.status,
        "cold_ms": round(statistics.median(loads.cold) * 1000, 1),
        "cold_cpu_ms": round(statistics.median(loads.cold_cpu) * 1000, 1),
        "cached_ms": round(statistics.median(loads.cached) * 1000, 2),
        "longest_stall_ms": round(found.longest * 1000, 1),
    }


def main() -> None:
    """Measure boards and pages."""
    parser = parser_of(__doc__)
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--bots", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    watched = list(boards(options)) if options.watchers else []
    if watched:
        show("Live boards", watched)
    shown: list[Row] = []
    if options.bots:
        with tempfile.TemporaryDirectory(prefix="meijin-benchmark-") as folder:
            make_ladder(Path(folder), options.bots)
            shown = asyncio.run(pages(Path(folder), options.repeat))
        show("Pages", shown)
    if options.json:
        print_json([*watched, *shown])


if __name__ == "__main__":
    main()
