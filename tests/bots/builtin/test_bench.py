"""The reference search, by which machines are compared."""

from datetime import timedelta

import pytest

from meijin.bots.builtin.bench import BenchResult, run_bench

pytest.importorskip("numba")


def run(seconds: float, tick: float) -> BenchResult:
    """On a machine whose clock goes on by a tick whenever it is looked at."""
    instants = iter(range(100))
    return run_bench(timedelta(seconds=seconds), lambda: next(instants) * tick)


def test_rounds_go_on_until_the_time_is_over() -> None:
    """One at least; each visits the same nodes, whatever the time."""
    once, thrice = run(0.001, 1.0), run(2.5, 1.0)
    assert (once.rounds, thrice.rounds) == (1, 3)
    assert once.nodes_per_round == thrice.nodes_per_round > 0
    assert thrice.seconds == 3.0
    assert thrice.nodes_per_second == once.nodes_per_round


def test_a_clock_that_stands_divides_nothing_by_zero() -> None:
    assert run(0, 0.0).nodes_per_second > 0
