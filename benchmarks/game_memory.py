"""What a running game takes in the server's memory.

    python benchmarks/game_memory.py [--games 1000 10000 50000] [--plies 0 60 224] [--json]

Each row is a process of its own, which makes the games as the server does: with their arbiters and
pairings, entered for all games and for those of 1,000 bots, and with a time of its own for each move.

bytes_a_game            what Python allocates
resident_bytes_a_game   growth of the process's resident memory
"""

import gc
import os
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import cast

from report import parser_of, report

from meijin.game import GOMOKU, Seat, TimeControl, Variant
from meijin.game.arbiter.moment import Moment
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listeners
from meijin.server.match.live.live_game import Contest, LiveGame
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.stalls import StallWatch
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FormatName,
    GameId,
    LadderId,
    PairingId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing, TournamentRow

BOTS = 1000
PAGE = os.sysconf("SC_PAGE_SIZE")
MOVE_NS = 123_456_789
"""What the first move takes; each takes a nanosecond more than the one before it."""


class Arena:
    """The running games of a server, as far as they take memory."""

    def __init__(self) -> None:
        watch, listeners, deadlines = StallWatch(), Listeners(), Deadlines()
        self._run = Contest(
            TournamentRow(
                id=TournamentId(1),
                format=FormatName("round-robin"),
                variant=GOMOKU,
                time_control=TimeControl(timedelta(minutes=5), timedelta(seconds=1)),
                create_time=datetime.now(UTC),
                ladder_id=LadderId(1),
            )
        )
        self._lobby = Lobby(
            watch,
            listeners,
            deadlines=deadlines,
            grace=timedelta(seconds=30),
            max_notices=100,
        )
        self._games = Games(
            self._lobby,
            cast("Journal", None),  # commits nothing here
            listeners,
            watch,
            StoreWatch(watch),
            deadlines=deadlines,
            grace=timedelta(seconds=30),
            margin=timedelta(seconds=0.05),
            last_game=GameId(0),
        )
        self._bots = [self._lobby.player(BotId(1 << 20 | bot), f"bot-{bot}") for bot in range(BOTS)]

    def add(self, number: int, plies: int) -> None:
        """Play a game as far as this many plies."""
        first, second = self._bots[number % BOTS], self._bots[(number + 1) % BOTS]
        game = self._new(number, first, second)
        play(game, plies, number)
        self._games.running[game.id] = game
        self._lobby.enter(game)

    def _new(self, number: int, first: Player, second: Player) -> LiveGame:
        bots = first.bot_id, second.bot_id
        pairing = PendingPairing(PairingId(1 << 20 | number), number, *bots, opening=b"")
        return self._games.new_live_game(
            self._run,
            pairing,
            game_id=GameId(1 << 20 | number),
            players=(first, second),
            versions=(BotVersionId(first.bot_id), BotVersionId(second.bot_id)),
            start_time=datetime.now(UTC),
        )


def quiet_cells(variant: Variant = GOMOKU) -> list[int]:
    """All cells in an order in which no two stones in a row have a third beside them."""
    cells = range(variant.cells)
    black = [cell for cell in cells if _belongs_to_black(cell, variant)]
    white = [cell for cell in cells if not _belongs_to_black(cell, variant)]
    pairs = zip_longest(black, white)
    return [cell for pair in pairs for cell in pair if cell is not None]


def _belongs_to_black(cell: int, variant: Variant) -> bool:
    row, column = divmod(cell, variant.width)
    return (column + 2 * row) % 4 < 2


CELLS = quiet_cells()


def play(game: LiveGame, plies: int, number: int) -> None:
    """Play this many plies without an end, each with a time and a credit for lag of its own."""
    arbiter, now_ns = game.arbiter, 1 << 40
    for ply in range(plies):
        arbiter.ask(Moment(now_ns, 0))
        now_ns += MOVE_NS + ply + number
        seat = Seat.SECOND if ply & 1 else Seat.FIRST
        arbiter.play(seat, ply, CELLS[ply], Moment(now_ns, 0), 1_234_567)
    arbiter.ask(Moment(now_ns, 0))
    assert arbiter.outcome is None
    assert arbiter.board.ply == plies


def allocated_bytes(games: int, plies: int) -> float:
    """What Python allocates for a game."""
    arena = _warm(plies)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(games):
        arena.add(number, plies)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / games


def resident_bytes(games: int, plies: int) -> float:
    """By how much the process grows for a game."""
    arena = _warm(plies)
    gc.collect()
    before = _resident()
    for number in range(games):
        arena.add(number, plies)
    return (_resident() - before) / games


def _warm(plies: int) -> Arena:
    """An arena whose rules have classified the lines that occur."""
    Arena().add(0, plies)
    return Arena()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def measure(games: int, plies: int) -> dict[str, str | int | float]:
    """One row."""
    row: dict[str, str | int | float] = {"games": games, "ply": plies}
    context = get_context("spawn")
    for name, bytes_of in (
        ("bytes_a_game", allocated_bytes),
        ("resident_bytes_a_game", resident_bytes),
    ):
        with ProcessPoolExecutor(1, mp_context=context) as process:
            row[name] = round(process.submit(bytes_of, games, plies).result())
    return row


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", type=int, nargs="+", default=[1000, 10_000, 50_000])
    parser.add_argument("--plies", type=int, nargs="+", default=[0, 60, 224])
    options = parser.parse_args()
    rows = [measure(games, plies) for games in options.games for plies in options.plies]
    report("Running games", rows, as_json=options.json)


if __name__ == "__main__":
    main()
