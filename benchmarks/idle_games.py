"""What watching the clocks of games that wait costs.

    python benchmarks/idle_games.py [--games 1000 10000 50000 100000] [--control 60/move]
                                    [--seconds 50] [--json]

Nothing is moved in the games: their bots think. In one process, without sockets, and on a clock
that is set forward from look to look, so that it takes less time than it tells of.

games         that wait; all of them began at once
cpu_percent   of one core, for all looks in this many seconds
longest_ms    the longest look of them, in processor time
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

from report import parser_of, report

from meijin.game import TimeControl, Variant
from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listeners
from meijin.server.match.live.live_game import Contest
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.presence.watchdog import TICKS_PER_EXPIRY
from meijin.server.match.stalls import TICK_INTERVAL_NS, StallWatch
from meijin.store.schema import BotId, BotVersionId, FormatName, GameId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing, TournamentRow
from meijin.wire.capabilities import Capabilities

BOTS = 100
GRACE = timedelta(seconds=30)


class Hall:
    """Bots, of which none moves, and the time."""

    def __init__(self, control: TimeControl) -> None:
        self.now_ns = 0
        self._watch = StallWatch(lambda: self.now_ns)
        listeners, deadlines = Listeners(), Deadlines()
        self._lobby = Lobby(
            self._watch, listeners, deadlines=deadlines, grace=GRACE, max_notices=100
        )
        journal = SimpleNamespace(add_start=lambda _: None)
        self._games = Games(
            self._lobby,
            cast("Journal", journal),
            listeners,
            self._watch,
            StoreWatch(self._watch),
            deadlines=deadlines,
            grace=GRACE,
            margin=timedelta(0),
            last_game=GameId(0),
        )
        self._contest = Contest(
            TournamentRow(
                id=TournamentId(1),
                format=FormatName("round-robin"),
                variant=Variant(),
                time_control=control,
                create_time=datetime.now(UTC),
            )
        )

    def start(self, games: int) -> None:
        """Have games begin, and each first turn be asked."""
        players = [self._lobby.player(BotId(each), f"bot-{each}") for each in range(1, BOTS + 1)]
        for player in players:
            self._lobby.join(player, BotVersionId(player.bot_id), Capabilities())
        for number in range(games):
            self._start(number, players[number % BOTS], players[(number + 1) % BOTS])
        for session in self._lobby.sessions:
            while session.wake.is_set():
                session.drain(self._watch.moment())

    def _start(self, number: int, first: Player, second: Player) -> None:
        pairing = PendingPairing(PairingId(number), number, first.bot_id, second.bot_id, b"")
        self._games.start(self._contest, pairing, first, second).announce_start()

    def look(self) -> float:
        """Let time pass until the next look at the clocks; the seconds that it takes."""
        for _ in range(TICKS_PER_EXPIRY):
            self.now_ns += TICK_INTERVAL_NS
            moment = self._watch.tick()
        began = time.process_time()
        self._games.expire(moment)
        return time.process_time() - began


async def measure(games: int, control: TimeControl, seconds: float) -> dict[str, int | float]:
    """Have games wait, and look at their clocks."""
    hall = Hall(control)
    hall.start(games)
    spent = [hall.look()]
    while hall.now_ns < seconds * NS_PER_SECOND:
        spent.append(hall.look())
    return {
        "games": games,
        "cpu_percent": round(100 * sum(spent) / seconds, 3),
        "longest_ms": round(1000 * max(spent), 3),
    }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", type=int, nargs="+", default=[1000, 10_000, 50_000, 100_000])
    parser.add_argument("--control", type=TimeControl.parse, default=TimeControl.parse("60/move"))
    parser.add_argument("--seconds", type=float, default=50.0)
    given = parser.parse_args()
    rows = [asyncio.run(measure(games, given.control, given.seconds)) for games in given.games]
    report(f"games of {given.control} that wait", rows, as_json=given.json)


if __name__ == "__main__":
    main()
