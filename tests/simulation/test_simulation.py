"""Random games with random faults, in simulated time; a failure names its seed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
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


@pytest.mark.parametrize("part", [pytest.param(0, marks=pytest.mark.smoke), *range(1, PARTS // 2)])
def test_any_messages_leave_the_server_sound(simulator: Simulator, part: int) -> None:
    """Documented ends, bounded answers, every game ended once as committed, nobody robbed."""
    seed = 11_000_000 + part * SEEDS_APART
    summary = simulator.simulate(seed, games=GAMES // PARTS, is_hostile=True)
    assert summary.failed is None, explain(summary.failed)
    assert set(summary.endings) >= {"five", "draw", "resign", "illegal", "crash", "disconnect"}
    assert set(summary.streams) >= {"OK", "cut", "PROTOCOL", "INVALID_REQUEST", "REPLACED"}


@pytest.mark.smoke
def test_a_seed_says_everything(simulator: Simulator) -> None:
    """The same seed is the same world in any simulator, to the nanosecond; another is another."""
    with open_simulator() as elsewhere:
        assert elsewhere.play(7) == simulator.play(7)
    assert simulator.play(8).digest != simulator.play(7).digest
