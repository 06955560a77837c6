"""The runner: one world after another, until this many games were played."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.simulation.disk import Disk
from tests.simulation.world import Report, World

from meijin.server.settings import Settings
from meijin.testing.settings import settings_in

MEMORY = Path("/dev/shm")


@dataclass(slots=True)
class Summary:
    """What became of many worlds."""

    worlds: int = 0
    games: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    streams: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    failed: Report | None = None
    """The first world in which something was not as it must be."""

    def __str__(self) -> str:
        rate = self.games / self.seconds if self.seconds else 0.0
        return (
            f"{self.games} games in {self.worlds} worlds, {rate:.0f} a second\n"
            f"ended by: {_counts(self.endings)}\nfaults: {_counts(self.faults)}\n"
            f"hostile streams: {_counts(self.streams)}"
        )


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


class Simulator:
    """Plays worlds on one disk, which it empties for each."""

    def __init__(self, disk: Disk, settings: Settings) -> None:
        self._disk = disk
        self._settings = settings

    def play(self, seed: int, *, is_hostile: bool = False) -> Report:
        return World(seed, self._disk, self._settings, is_hostile=is_hostile).run()

    def simulate(self, first_seed: int, *, games: int, is_hostile: bool = False) -> Summary:
        """Play worlds from a seed on, until this many games have begun or something is wrong."""
        summary = Summary()
        begin = time.perf_counter()
        while summary.games < games and summary.failed is None:
            report = self.play(first_seed + summary.worlds, is_hostile=is_hostile)
            summary.worlds += 1
            summary.games += report.games
            summary.endings += report.endings
            summary.faults += report.faults
            summary.streams += report.streams
            if report.violation:
                summary.failed = report
        summary.seconds = time.perf_counter() - begin
        return summary


@contextmanager
def open_simulator() -> Iterator[Simulator]:
    """A simulator whose disk is in memory, where there is a folder for it."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        folder = Path(name)
        disk = Disk(folder)
        settings = settings_in(
            folder, grace=timedelta(seconds=2), write_timeout=timedelta(seconds=1)
        )
        try:
            yield Simulator(disk, settings)
        finally:
            disk.close()


def explain(report: Report) -> str:
    """A failure for people: what is wrong, what came before it, and how to see it again."""
    hostile = " --hostile" if report.streams else ""
    return "\n".join(
        [
            *report.trace,
            f"seed {report.seed}: {report.violation}",
            f"again: .venv/bin/python -m tests.simulation --seed {report.seed} --games 1{hostile}",
        ]
    )
