"""The engine that Python sees."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from threading import Timer

import pytest
from tests.bots.conftest import after, cells

from meijin.bots.core.engine import Engine, supports
from meijin.bots.core.limits import Options, SearchLimits, SearchResult
from meijin.game import (
    GOMOKU,
    RULES,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Rule,
    Variant,
)

FEW = Options(table_bits=16)


def test_finding() -> None:
    """The line expected begins with the move and can be played; the search is repeatable."""
    board = after("h8 i9 j8")
    before = board.copy()
    first, second = (
        Engine(GOMOKU, FEW).search_board(board, SearchLimits(depth=7)) for _ in range(2)
    )
    assert first == second
    assert board == before
    assert isinstance(first, SearchResult)
    assert (first.cell, first.depth) == (first.pv[0], 7)
    assert first.seldepth >= 7
    assert len(first.pv) >= 5
    Board.from_moves([*board.moves, *first.pv])


@pytest.mark.parametrize("part", ["vcf", "table", "reductions", "futility"])
def test_parts_can_be_switched(part: str) -> None:
    """With any one part switched the engine still plays, and looks at other positions."""
    moves, limits = cells("k5 j8 h8 k10 j9"), SearchLimits(depth=6)
    whole = Engine(GOMOKU, FEW).search(moves, limits)
    without = Engine(GOMOKU, replace(FEW, **{part: False})).search(moves, limits)
    assert without.nodes != whole.nodes
    assert without.depth == 6


def test_depth_and_node_limits() -> None:
    """The first limit that is reached ends the search."""
    moves = cells("h8 i9")
    engine = Engine(GOMOKU, FEW)
    assert engine.search(moves, SearchLimits(depth=3)).depth == 3
    nodes = engine.search(moves, SearchLimits(nodes=10_000)).nodes
    assert 10_000 <= nodes <= 10_000 + 500  # what one look for threats may take


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_deadline(seconds: float) -> None:
    """The search, which has no other end, stops at its deadline and not before."""
    engine = Engine(GOMOKU)
    engine.warm_up()
    start = time.monotonic()
    finding = engine.search(cells("h8 i9"), SearchLimits(time=timedelta(seconds=seconds)))
    assert seconds <= time.monotonic() - start
    assert finding.pv


def test_stop() -> None:
    """Another thread ends the search; the next one is not affected."""
    engine = Engine(GOMOKU)
    timer = Timer(0.1, engine.stop)
    timer.start()
    assert engine.search(cells("h8 i9")).cell
    timer.join()
    assert engine.search(cells("h8 i9"), SearchLimits(depth=3)).depth == 3


def test_noise() -> None:
    """Noise changes what positions seem to be worth, the same way each time."""
    moves = cells("h8 i9 j8")
    scores = [
        Engine(GOMOKU, replace(FEW, noise=noise)).search(moves, SearchLimits(depth=4)).score
        for noise in (0, 40, 40)
    ]
    assert scores[1] == scores[2] != scores[0]


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize("size", [(5, 5), (5, 22), (22, 5), (19, 19), (22, 22)])
def test_every_size(size: tuple[int, int], rule: Rule) -> None:
    """A game against itself ends by the rules on boards of any size."""
    variant = Variant(rule, *size)
    engine = Engine(variant, FEW)
    board = Board(variant)
    while not board.is_over:
        board.play(engine.search_board(board, SearchLimits(nodes=300)).cell)
    assert board.ply >= 9


def test_wrong_positions() -> None:
    """What it can't search is answered with the reason."""
    engine = Engine(GOMOKU, FEW)
    with pytest.raises(ValueError, match="the game is over"):
        engine.search(cells("h8 a1 i8 c1 j8 e1 k8 g1 l8"))
    with pytest.raises(ValueError, match="plays freestyle 15x15, not standard 15x15"):
        engine.search_board(Board(Variant(STANDARD)))
    with pytest.raises(ValueError, match="not freestyle 3x3 line 3"):
        Engine(TIC_TAC_TOE)
    assert supports(Variant(STANDARD, 22, 5))
