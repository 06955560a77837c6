"""The bots of a trial, and whether what they were told is still there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.system.chaos.audit import all_games, compare, read_journal
from tests.system.conftest import Books
from tests.system.processes import Processes, Server

from meijin.game import encode_moves
from meijin.store.schema import GameState
from meijin.store.verification import verify

BOTS = ("ada", "blaise", "charles", "dijkstra")
THOUGHT = 0.05
"""Seconds that a bot takes for a move."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a life has left, held against what the bots were told by then."""

    told: int
    """Positions, all in all."""
    running: int
    finished: int
    lost: int
    """Moves of the longest positions that a bot was told of and that are not there."""
    doubled: int
    """Pairings that count twice, and cells that are taken twice."""
    failures: tuple[str, ...]
    """What `meijin verify` finds."""


class Crowd:
    """Bots that play so many games at once, and write down what they are told."""

    def __init__(self, processes: Processes, server: Server, games: int) -> None:
        self._processes = processes
        for name in BOTS:
            slots = 2 * games // len(BOTS)
            processes.start_bot(name, server.address, delay=THOUGHT, games=slots)

    def journals(self) -> dict[str, list[str]]:
        """By bot, what it has written down."""
        found = {}
        for name in BOTS:
            path = self._processes.journal(name)
            text = path.read_text() if path.exists() else ""
            found[name] = text[: text.rfind("\n") + 1].splitlines()
        return found

    def look(self, database: Path) -> Findings:
        """Look at what a server has left that does not run."""
        longest: defaultdict[str, str] = defaultdict(str)
        told = 0
        for lines in self.journals().values():
            for line in lines:
                what, game, rest = line.split(" ", 2)
                if what == "told":
                    told += 1
                    longest[game] = max(longest[game], rest, key=len)
        books = Books(f"sqlite:///{database}")
        with closing(books.database):
            verification = verify(books.database)
            games = {str(game.id): game for game in all_games(books)}
        stored = {key: game.moves.hex() for key, game in games.items()}
        if verification.running is not None:
            for game_id, moves in verification.running.moves.items():
                stored[str(game_id)] += encode_moves([code for code, _, _ in moves]).hex()
        lost = sum(_lost(position, stored.get(game, "")) for game, position in longest.items())
        counted = [game for game in games.values() if game.state is not GameState.VOID]
        pairings = Counter(game.pairing_id for game in counted)
        return Findings(
            told=told,
            running=sum(game.state is GameState.RUNNING for game in counted),
            finished=sum(game.state is GameState.FINISHED for game in counted),
            lost=lost,
            doubled=sum(pairings.values()) - len(pairings) + sum(map(_repeats, stored.values())),
            failures=verification.failures,
        )

    def breaches(self, database: Path) -> Iterator[str]:
        """What the journals say of the finished games that the records do not, or the reverse."""
        books = Books(f"sqlite:///{database}")
        with closing(books.database):
            games = all_games(books)
        for bot, lines in self.journals().items():
            told = read_journal(lines)
            for game in games:
                if game.state is GameState.FINISHED and str(game.id) in told:
                    for breach in compare(bot, game, told[str(game.id)]):
                        yield f"game {game.id}, {bot}: {breach}"


def _lost(told: str, stored: str) -> int:
    """How many plies of a position are not stored."""
    same = 0
    while told[same : same + 4] == stored[same : same + 4] != "":
        same += 4
    return (len(told) - same) // 4


def _repeats(position: str) -> int:
    cells = [position[place : place + 4] for place in range(0, len(position), 4)]
    return len(cells) - len(set(cells))
