"""Cuts: a piece of work is cut off before each of its steps, and what is left is looked at."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Protocol

from tests.power.calls import Calls
from tests.power.volume import PowerCut, Volume

SEEDS = 6
"""How often a step is cut off, each time with another part of what is not durable."""


class Work(Protocol):
    """What is cut off. It writes down what it was told to be durable."""

    def run(self, root: Path, calls: Calls) -> None:
        """Work in a folder."""

    def close(self) -> None:
        """Close what was open when the power was cut, as the system does."""

    def check(self, root: Path) -> None:
        """Look at what is left, and fail if it is not what it must be."""


class Cuts:
    """Runs a piece of work again and again, and cuts it off at each step.

    Args:
        folder: Where it works, each time in a folder of its own.
        begin: Begins a piece of work; the same each time.
        start: A folder to start from; none is an empty one.
    """

    def __init__(self, folder: Path, begin: Callable[[], Work], start: Path | None = None) -> None:
        self._folder = folder
        self._begin = begin
        self._start = start
        self.steps = 0
        """How many the work has."""

    def try_all(self, seeds: int = SEEDS) -> None:
        """Cut it off before each step, and after the last one.

        Raises:
            AssertionError: what was left is not what it must be; tells after which step.
        """
        calls = self._run(0, Random(0))
        self.steps = calls.steps
        for step, seed in self._trials(seeds):
            try:
                self._run(step, Random(1000 * step + seed))
            except Exception as error:
                done = ", ".join(calls.names[max(step - 4, 0) : step - 1])
                message = f"cut at step {step} of {self.steps}, after {done}: {error}"
                raise AssertionError(message) from error

    def _trials(self, seeds: int) -> Iterator[tuple[int, int]]:
        """Every step with the first seed comes before any with the next."""
        for seed in range(seeds):
            for step in range(1, self.steps + 2):
                yield step, seed

    def _run(self, step: int, rng: Random) -> Calls:
        root, left = self._folder / "root", self._folder / "left"
        if self._start is None:
            root.mkdir(parents=True)
        else:
            shutil.copytree(self._start, root)
        volume = Volume(root)
        calls = Calls(volume)
        calls.cut_at = step
        work = self._begin()
        with calls.made(), suppress(PowerCut):
            work.run(root, calls)
        if step:
            volume.leave(left, rng)
        work.close()
        try:
            work.check(left if step else root)
        finally:
            shutil.rmtree(root)
            shutil.rmtree(left, ignore_errors=True)
        return calls
