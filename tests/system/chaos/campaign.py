"""A campaign: one tournament under the faults of one plan, and its audit."""

import time
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.system.chaos.arena import BOTS, PATIENCE, Arena
from tests.system.chaos.audit import Audit, Window, last_game, left_over
from tests.system.chaos.plan import Kind, Step, Target, plan
from tests.system.conftest import Books
from tests.system.processes import eventually

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

PAIRS = len(BOTS) * (len(BOTS) - 1) // 2
TIME_CONTROL = "3/move"
VARIANT = "7x7"


@dataclass
class Report:
    """How a campaign went."""

    seed: int
    games: int
    """How many were planned."""
    faults: int = 0
    """How many were injected."""
    forfeits: int = 0
    voids: int = 0
    seconds: float = 0.0
    left_out: dict[Kind, str] = field(default_factory=dict)
    """The kinds of faults that could not be injected here, and why."""
    breaches: list[str] = field(default_factory=list)
    """What is not as it must be."""

    def __str__(self) -> str:
        counts = f"{self.games} games, {self.faults} faults, {self.forfeits} forfeits by them"
        ends = f"{self.voids} void, {self.seconds:.0f} s, {len(self.breaches)} breaches"
        lines = [f"seed {self.seed}: {counts}, {ends}"]
        lines += [f"  LEFT OUT: {kind.words}: {why}" for kind, why in self.left_out.items()]
        lines += [f"  BREACH: {breach}" for breach in self.breaches]
        return "\n".join(lines)


class Campaign:
    """Plays a tournament, and injects a fault whenever so many games more are over."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        *,
        rounds: int,
        faults: int,
        kinds: Collection[Kind] = tuple(Kind),
        postgresql: "PostgreSQL | None" = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self._arena = Arena(folder, postgresql)
        self._rounds = rounds
        self._faults = faults
        self._kinds = set(kinds)
        self._say = say
        self._windows: list[Window] = []
        self._start = time.monotonic()
        self._report = Report(seed, PAIRS * rounds)

    def run(self) -> Report:
        """Play, and tell how it went."""
        self._tell(f"chaos: seed {self._report.seed}")
        with self._arena as arena:
            books = Books(arena.database_url)
            with closing(books.database):
                self._play(arena, books)
                audit = Audit(arena, books, self._windows)
                self._report.breaches = audit.breaches()
                self._report.forfeits, self._report.voids = len(audit.forfeits), len(audit.voids)
            self._report.breaches += left_over(arena)
        self._report.left_out = arena.left_out
        self._report.seconds = time.monotonic() - self._start
        return self._report

    def _play(self, arena: Arena, books: Books) -> None:
        steps = plan(self._report.seed, arena.kinds & self._kinds, BOTS, self._faults)
        arena.server.create_tournament(
            *BOTS, rounds=self._rounds, time=TIME_CONTROL, variant=VARIANT
        )
        for number, step in enumerate(steps):
            due = number * self._report.games // (len(steps) + 1)
            eventually(partial(_have_finished, books, due), PATIENCE)
            self._inject(arena, books, step)
        eventually(lambda: not books.tournaments_running(), PATIENCE)
        eventually(arena.server.has_current_ladder, PATIENCE)

    def _inject(self, arena: Arena, books: Books, step: Step) -> None:
        """Let faults strike, and note which games they may have cost whom."""
        self._tell(f"{books.finished()} games; {' + '.join(map(str, step))}")
        last_before = last_game(books)  # first: a game that begins now is newer, or it runs
        running = set(map(int, books.running()))
        arena.inject(step)
        self._report.faults += len(step)
        arena.wait_for_bots()
        victims = {found.victim for found in step if found.kind.target is Target.BOT}
        self._windows.append(Window(victims, running, last_before, last_game(books)))

    def _tell(self, words: str) -> None:
        self._say(f"{time.monotonic() - self._start:6.1f} s  {words}")


def _have_finished(books: Books, games: int) -> bool:
    """Whether so many games have a result."""
    return books.finished() >= games
