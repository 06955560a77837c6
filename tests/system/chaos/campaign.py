"""A campaign: one tournament under the faults of one plan, and its audit."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.processes import eventually
from tests.system.books import Books
from tests.system.chaos.arena import BOTS, PATIENCE, Arena
from tests.system.chaos.audit import Audit, Window, left_over
from tests.system.chaos.plan import Kind, Step, Target, plan

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
    """Plays a tournament, and injects a fault whenever this many games more are over."""

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
        self._tell(f"chaos: seed {self._report.seed}")
        with self._arena as arena:
            self._play(arena)
            audit = Audit(arena, self._windows)
            self._report.breaches = audit.breaches()
            self._report.forfeits, self._report.voids = len(audit.forfeits), len(audit.voids)
            arena.server.books.database.close()
            self._report.breaches += left_over(arena)
        self._report.left_out = arena.left_out
        self._report.seconds = time.monotonic() - self._start
        return self._report

    def _play(self, arena: Arena) -> None:
        steps = plan(self._report.seed, arena.kinds & self._kinds, BOTS, self._faults)
        server = arena.server
        server.create_tournament(*BOTS, rounds=self._rounds, time=TIME_CONTROL, variant=VARIANT)
        for number, step in enumerate(steps):
            due = number * self._report.games // (len(steps) + 1)
            eventually(_have_finished, server.books, due, patience=PATIENCE)
            self._inject(arena, step)
        eventually(lambda: not server.books.tournaments_running(), patience=PATIENCE)
        eventually(server.has_current_ladder, patience=PATIENCE)

    def _inject(self, arena: Arena, step: Step) -> None:
        """Let faults strike, and note which games they may have cost whom."""
        books = arena.server.books
        self._tell(f"{books.finished()} games; {' + '.join(map(str, step))}")
        last_before = books.last_game()  # first: a game that begins now is newer, or it runs
        running = set(map(int, books.running()))
        arena.inject(step)
        self._report.faults += len(step)
        arena.wait_for_bots()
        victims = {found.victim for found in step if found.kind.target is Target.BOT}
        self._windows.append(Window(victims, running, last_before, books.last_game()))

    def _tell(self, words: str) -> None:
        self._say(f"{time.monotonic() - self._start:6.1f} s  {words}")


def _have_finished(books: Books, games: int) -> bool:
    return books.finished() >= games
