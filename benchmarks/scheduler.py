"""What a look of the scheduler costs, by the bots that are connected.

    python benchmarks/scheduler.py [--bots 100 1000 10000 100000] [--tournaments 1 10]
                                   [--games 5] [--looks 200] [--json]

Each tournament is for up to a thousand of the bots, each of which takes one game at once, and has
--games times as many planned. In one process, without sockets, commits and collections of garbage.

bots           that are connected
tournaments    that are played
running        games, which is all that can be
ended_us       processor time of the look after a game has ended, with what it starts; the median
joined_us      the same after a bot has come back
idle_us        the same after a bot has come back where no game may begin, and all others wait
filling_ms     the longest turn of the loop while the first look starts all of the games
"""

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

from report import parser_of, report

from meijin.game import GOMOKU, Party, TimeControl
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listeners
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.stalls import StallWatch
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.pending import PendingPairings
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FormatName,
    GameId,
    PairingId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing, TournamentRow
from meijin.wire.capabilities import Capabilities

PLAYERS = 1000
"""Bots of a tournament: as many as one may have."""

TURNS = 3
"""Of the loop in which a look after one event is over."""

QUIET_TURNS = 100
"""This many in a row in which no game begins: a long look is over, which offers bots first."""

GRACE = timedelta(seconds=30)


class Hall:
    """A scheduler, its games, and bots that never move."""

    def __init__(self, bots: int) -> None:
        watch, listeners, deadlines = StallWatch(), Listeners(), Deadlines()
        self._lobby = Lobby(watch, listeners, deadlines=deadlines, grace=GRACE, max_notices=100)
        journal = SimpleNamespace(
            add_start=lambda game: listeners.committed((game,), (), ()), add_end=lambda _: None
        )
        self.games = Games(
            self._lobby,
            cast("Journal", journal),
            listeners,
            watch,
            StoreWatch(watch),
            deadlines=deadlines,
            grace=GRACE,
            margin=timedelta(0),
            last_game=GameId(0),
        )
        self.scheduler = Scheduler(self._lobby, self.games, cast("Journal", journal), Pauses(0))
        listeners.add(self.scheduler)
        self._listeners = listeners
        for bot in range(1, bots + 1):
            self.join(BotId(bot))

    def join(self, bot_id: BotId) -> None:
        """A bot comes."""
        player = self._lobby.player(bot_id, f"bot-{bot_id}")
        self._lobby.join(player, BotVersionId(bot_id), Capabilities())

    def come_back(self, bot_id: BotId) -> None:
        """A bot loses its stream, and has a new one."""
        player: Player = self._lobby.players[bot_id]
        if player.session is not None:
            self._lobby.leave(player.session)
        self.join(bot_id)

    def stop(self, game: LiveGame) -> None:
        """A game ends, and that is committed."""
        game.arbiter.void(Party.NOBODY, "")
        self.games.end(game)
        self._listeners.committed((), (), (game,))

    def plan(self, number: int, pairs: Sequence[tuple[int, int]], *, max_games: int = 0) -> None:
        """Play a tournament of these games."""
        run = TournamentRun(
            row=TournamentRow(
                id=TournamentId(number),
                format=FormatName("round-robin"),
                variant=GOMOKU,
                time_control=TimeControl(timedelta(hours=1)),
                max_games=max_games,
                create_time=datetime.now(UTC),
            ),
            format=RoundRobin(len(pairs)),
            pending=PendingPairings(
                PendingPairing(PairingId(place), place, BotId(first), BotId(second), b"")
                for place, (first, second) in enumerate(pairs, start=1)
            ),
        )
        self.scheduler.add(run)

    async def look(self) -> int:
        """Let the loop run for as long as a look after one event takes; its processor time."""
        began = time.thread_time_ns()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return time.thread_time_ns() - began

    async def fill(self) -> int:
        """Let all games begin that can; the processor time of the longest turn of the loop."""
        longest, quiet = 0, 0
        while quiet < QUIET_TURNS:
            before, began = len(self.games.running), time.thread_time_ns()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time_ns() - began)
            quiet = quiet + 1 if before == len(self.games.running) else 0
        return longest


def schedules(
    rng: random.Random, bots: int, tournaments: int, games: int
) -> Iterator[Sequence[tuple[int, int]]]:
    """Of each tournament, games for each of its bots, in an order by chance."""
    for _ in range(tournaments):
        players = rng.sample(range(1, bots + 1), min(bots, PLAYERS))
        count = games * len(players)
        yield [(pair[0], pair[1]) for pair in (rng.sample(players, 2) for _ in range(count))]


def measure(bots: int, tournaments: int, *, games: int, looks: int) -> dict[str, int | float]:
    """One row."""
    gc.collect()
    gc.disable()
    try:
        return asyncio.run(_measure(bots, tournaments, games, looks))
    finally:
        gc.enable()


async def _measure(bots: int, tournaments: int, games: int, looks: int) -> dict[str, int | float]:
    rng = random.Random(1)
    hall, full = Hall(bots), Hall(bots)
    plans = list(schedules(rng, bots, tournaments, games))
    for number, pairs in enumerate(plans, start=1):
        hall.plan(number, pairs)
        full.plan(number, pairs, max_games=1)
    longest = await hall.fill()
    await full.fill()
    running = len(hall.games.running)
    players = sorted({bot for pairs in plans for pair in pairs for bot in pair})

    def stop_one() -> None:
        hall.stop(rng.choice(list(hall.games.running.values())))

    def bring_back(place: Hall) -> None:
        place.come_back(BotId(rng.choice(players)))

    return {
        "bots": bots,
        "tournaments": tournaments,
        "running": running,
        "ended_us": await _median_us(hall, looks, stop_one),
        "joined_us": await _median_us(hall, looks, lambda: bring_back(hall)),
        "idle_us": await _median_us(full, looks, lambda: bring_back(full)),
        "filling_ms": round(longest / 1e6, 2),
    }


async def _median_us(hall: Hall, looks: int, happens: Callable[[], None]) -> float:
    found = []
    for _ in range(looks):
        happens()
        found.append(await hall.look())
    return round(statistics.median(found) / 1000, 1)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--bots", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--tournaments", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--games", type=int, default=5)
    parser.add_argument("--looks", type=int, default=200)
    given = parser.parse_args()
    rows = [
        measure(bots, tournaments, games=given.games, looks=given.looks)
        for bots in given.bots
        for tournaments in given.tournaments
    ]
    report("Looks of the scheduler", rows, as_json=given.json)


if __name__ == "__main__":
    main()
