"""How long one turn of the server's event loop takes, for each call on a full server.

    python benchmarks/turns.py [--bots 10000] [--games 10000] [--stored 100000] [--repeat 5] [--json]

A server in this process with --bots connected bots that have no stream, --games running games of a
thousand of them, and a ladder of all bots with --stored finished games. Each call is made in this
process, without gRPC, --repeat times. The processor time of the loop's thread between two looks at
the selector is a turn: no answer of a bot is read meanwhile.

longest_turn_ms     of the loop's processor time, the median of the calls
loop_ms             of the loop's processor time for a call in all
process_ms          of all threads for a call in all
"""

import argparse
import asyncio
import gc
import logging
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import structlog
from ladder import Size, fill_database
from prometheus_client import generate_latest
from report import Row, parser_of, report
from starlette.applications import Starlette
from turn_selector import TurnSelector
from web import TICK, ask

from meijin.cli.server.site import LocalGateway
from meijin.game import TimeControl
from meijin.ladder.refresh import refresh
from meijin.server.app import open_database
from meijin.server.process.garbage import GarbageCollector
from meijin.store.schema import BotId, BotVersionId, LadderId
from meijin.testing.server import OpenServer, open_server
from meijin.testing.settings import settings_in
from meijin.v1 import bot_service_pb2, game_service_pb2, ladder_service_pb2, status_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.web.cache import PageCache
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState
from meijin.wire.capabilities import Capabilities
from meijin.wire.values import time_control_to_proto

PLAYERS = 1000
"""Bots of the one tournament: as many as one may have."""

NS_PER_MS = 1_000_000

Call = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class Turns:
    """What a call has taken, each time, in milliseconds of processor time."""

    longest: list[float] = field(default_factory=list)
    loop: list[float] = field(default_factory=list)
    process: list[float] = field(default_factory=list)

    async def measure(self, selector: TurnSelector, call: Call) -> None:
        """Make the call."""
        await asyncio.sleep(0.01)
        selector.longest_ns = 0
        loop, process = time.thread_time_ns(), time.process_time_ns()
        await call()
        await asyncio.sleep(0)  # the turn that it ends in
        self.loop.append((time.thread_time_ns() - loop) / NS_PER_MS)
        self.process.append((time.process_time_ns() - process) / NS_PER_MS)
        self.longest.append(selector.longest_ns / NS_PER_MS)

    def row(self, name: str) -> Row:
        """The medians."""
        return {
            "call": name,
            "longest_turn_ms": round(statistics.median(self.longest), 2),
            "loop_ms": round(statistics.median(self.loop), 2),
            "process_ms": round(statistics.median(self.process), 2),
        }


async def fill(server: OpenServer, bots: int, games: int) -> str:
    """Let the bots of the database in, and have a thousand of them play; return the tournament."""
    lobby = server.parts.lobby
    for number in range(1, bots + 1):
        player = lobby.player(BotId(number), f"bot-{number}")
        lobby.join(player, BotVersionId(number), Capabilities(max_games=1000))
        if number % 100 == 0:
            await asyncio.sleep(0)
    names = [f"bot-{number}" for number in range(1, min(bots, PLAYERS) + 1)]
    control = time_control_to_proto(TimeControl.parse("3600"))
    settings = pb.TournamentSettings(
        bots=names, rounds=1, time_control=control, unrated=True, max_games=games
    )
    service = TournamentServiceStub(server.app.local_calls.channel("", server.operator_token))
    made = await service.CreateTournament(pb.CreateTournamentRequest(settings=settings))
    planned = len(names) * (len(names) - 1) // 2
    while len(server.parts.games.running) < min(games, planned):  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(TICK)
    return made.tournament.tournament_id


async def watch_arena(channel: grpc.aio.Channel, games: int) -> None:
    """See every running game once."""
    request = game_service_pb2.WatchArenaRequest(max_games=games)
    call = GameServiceStub(channel).WatchArena(request)
    async for response in call:
        response.SerializeToString()
        if not response.more:
            break
    call.cancel()


def unary(method: Callable[..., Awaitable[Any]], request: object) -> Call:
    """A call whose response is made ready to be sent."""

    async def call() -> None:
        (await method(request)).SerializeToString()

    return call


def calls(server: OpenServer, tournament: str, games: int) -> Iterator[tuple[str, Call]]:
    """What clients ask."""
    channel = server.app.local_calls.channel("", server.operator_token)
    bots, status = BotServiceStub(channel), StatusServiceStub(channel)
    played, ladders = GameServiceStub(channel), LadderServiceStub(channel)
    tournaments = TournamentServiceStub(channel)
    yield "GetStatus", unary(status.GetStatus, status_service_pb2.GetStatusRequest())
    yield "GetActivity", unary(status.GetActivity, status_service_pb2.GetActivityRequest())
    there = bot_service_pb2.ListBotsRequest(connected=True, page_size=1000)
    yield "ListBots connected", unary(bots.ListBots, there)
    yield "ListBots", unary(bots.ListBots, bot_service_pb2.ListBotsRequest(page_size=1000))
    listed = game_service_pb2.ListGamesRequest(page_size=1000, tournament_id=tournament)
    yield "ListGames running", unary(played.ListGames, listed)
    ended = game_service_pb2.ListGamesRequest(page_size=1000, tournament_id="1")
    yield "ListGames finished", unary(played.ListGames, ended)
    every = pb.ListTournamentsRequest(page_size=1000)
    yield "ListTournaments", unary(tournaments.ListTournaments, every)
    one = pb.GetTournamentRequest(tournament_id=tournament)
    yield "GetTournament", unary(tournaments.GetTournament, one)
    standings = ladder_service_pb2.GetStandingsRequest(page_size=1000)
    yield "GetStandings", unary(ladders.GetStandings, standings)
    yield "WatchArena", lambda: watch_arena(channel, games)

    async def scrape() -> None:
        await asyncio.to_thread(generate_latest, server.app.registry())

    yield "/metrics", scrape


def pages(server: OpenServer, tournament: str) -> Iterator[tuple[str, Call]]:
    """What browsers ask, each time with an empty cache."""
    state = SiteState(LocalGateway(server.app.local_calls), SiteSettings())
    app = application(state)
    paths = ("/", "/bots", "/games", "/status", "/tournaments", f"/tournaments/{tournament}")
    for path in (*paths, "/ladders", "/ladders/freestyle-15x15-ultrabullet"):
        yield f"page {path}", page(state, app, path)


def page(state: SiteState, app: Starlette, path: str) -> Call:
    """A call for a page."""

    async def call() -> None:
        state.cache.close()
        state.cache = PageCache()
        _, status = await ask(app, path)
        if status != 200:
            raise RuntimeError(f"{path} has the status {status}")

    return call


async def cancel(server: OpenServer, tournament: str) -> None:
    """Cancel the tournament, and wait until no game is left."""
    service = TournamentServiceStub(server.app.local_calls.channel("", server.operator_token))
    state = pb.TOURNAMENT_STATE_CANCELLED
    await service.UpdateTournament(
        pb.UpdateTournamentRequest(tournament_id=tournament, state=state)
    )
    while server.parts.games.running:  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(TICK)


@contextmanager
def collections() -> Iterator[list[float]]:
    """The milliseconds that each full collection of garbage took meanwhile."""
    found: list[float] = []
    began = 0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.thread_time_ns()
        elif info["generation"] == max(range(len(gc.get_threshold()))):
            found.append((time.thread_time_ns() - began) / NS_PER_MS)

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


async def measure(folder: Path, options: argparse.Namespace, selector: TurnSelector) -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    settings = settings_in(folder, drain=timedelta(0))
    async with open_server(settings) as server:
        with GarbageCollector(), collections() as full:
            filling = Turns()
            made: list[str] = []

            async def start() -> None:
                made.append(await fill(server, options.bots, options.games))

            await filling.measure(selector, start)
            rows.append(filling.row("bots and games come"))
            for name, call in (*calls(server, made[0], options.games), *pages(server, made[0])):
                turns = Turns()
                for _ in range(options.repeat + 1):
                    await turns.measure(selector, call)
                for each in (turns.longest, turns.loop, turns.process):
                    del each[0]  # what is made once
                rows.append(turns.row(name))
            ending = Turns()
            await ending.measure(selector, lambda: cancel(server, made[0]))
            rows.append(ending.row("UpdateTournament"))
        worst = max(full, default=0.0)
        rows.append(
            {
                "call": f"{len(full)} full collections",
                "longest_turn_ms": round(worst, 2),
                "loop_ms": round(sum(full), 2),
                "process_ms": round(sum(full), 2),
            }
        )
    return rows


def make_ladder(folder: Path, bots: int, games: int) -> None:
    """A database whose ladder has a run of this many bots and games."""
    with open_database(settings_in(folder)) as database:
        database.migrate()
    file = folder / "meijin.db"
    fill_database(file, Size(bots, games), 1)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("UPDATE game SET ending = 'draw' WHERE result = '1/2-1/2'")
    with open_database(settings_in(folder)) as database:
        refresh(database, LadderId(1))


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="meijin-benchmark-") as folder:
        make_ladder(Path(folder), options.bots, options.stored)
        selector = TurnSelector()
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
            rows = runner.run(measure(Path(folder), options, selector))
    report("Turns of the event loop", rows, as_json=options.json)


if __name__ == "__main__":
    main()
