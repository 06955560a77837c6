"""Random games with random faults, in simulated time; a failure names its seed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.simulation.mutants import MUTANTS
from tests.simulation.runner import Simulator, explain, open_simulator

from meijin.server.match.journal import compaction
from meijin.server.match.live import segments

GAMES = int(os.environ.get("MEIJIN_SIMULATED_GAMES", "10000"))
"""How many are played altogether."""

PARTS = 10
SEEDS_APART = 1_000_000
"""Between the first seeds of two parts."""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """A simulator for all tests: what the product compiles for its disk is compiled once."""
    with open_simulator() as simulator:
        yield simulator


SOON = {
    "tells-before-the-commit",
    "ends-games-twice",
    "forgets-a-move",
    "shows-what-is-not-committed",
}
"""Mutants that are noticed within a second."""


@pytest.mark.parametrize("part", [pytest.param(0, marks=pytest.mark.smoke), *range(1, PARTS)])
def test_nothing_is_lost_and_nobody_is_robbed(simulator: Simulator, part: int) -> None:
    """Every planned game is played and counted once, and no bot loses by another's fault."""
    summary = simulator.simulate(1 + part * SEEDS_APART, games=GAMES // PARTS)
    assert summary.failed is None, explain(summary.failed)


def test_nothing_is_lost_by_writing_games_anew(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is running is written anew all the time, and what is old is deleted bit by bit."""
    monkeypatch.setattr(compaction, "BYTES_AT_REST", 0)
    monkeypatch.setattr(compaction, "BYTES_PER_PORTION", 1)
    monkeypatch.setattr(segments, "ENTRIES_PER_SEGMENT", 2)
    summary = simulator.simulate(5_000_000, games=GAMES // PARTS)
    assert summary.failed is None, explain(summary.failed)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.smoke if name in SOON else ()) for name in MUTANTS],
)
def test_a_guard_that_is_missing_is_noticed(simulator: Simulator, name: str) -> None:
    """Without any one of the product's guards, something goes wrong within as many games."""
    with MUTANTS[name]():
        summary = simulator.simulate(1, games=10_000)
    assert summary.failed is not None


@pytest.mark.smoke
def test_a_seed_says_everything(simulator: Simulator) -> None:
    """The same seed is the same world, to the nanosecond; another one is another."""
    first, again, other = (simulator.play(seed) for seed in (7, 7, 8))
    assert (first.digest, first.trace, first.endings) == (again.digest, again.trace, again.endings)
    assert first.digest != other.digest


@pytest.mark.smoke
def test_a_failure_is_seen_again_by_its_seed() -> None:
    """A violation and the trace before it come again in another simulator, from the seed alone."""
    reports = []
    for _ in range(2):
        with open_simulator() as simulator, MUTANTS["forgets-clocks"]():
            failed = simulator.simulate(1, games=1000).failed
            assert failed is not None
            reports.append((simulator.play(failed.seed), failed))
    (again, failed), (elsewhere, _) = reports
    assert again == failed == elsewhere
