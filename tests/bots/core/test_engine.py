"""The engine that Python sees."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from threading import Timer

import pytest

from meijin.bots.core.engine import Engine, Limits, Options, SearchResult, supports
from meijin.bots.core.evaluate import PROVEN
from meijin.game import (
    GOMOKU,
    RULES,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Rule,
    Variant,
    parse_cell,
)

FEW = Options(table_bits=16)
THREATS = replace(FEW, vct=True)

MATES = """
h8 a1 i8 c1 j8 e1 k8 g1
h8 a1 i8 c1 j8 e1
h8 g8 i8 a1 j8 c1 k5 e1 k6 g1 k7 k4
h8 g8 i8 a1 j8 c1 k6 e1 k7 o1
f8 a1 g8 c1 h6 o1 h7 o15
k9 f5 f8 g7 i11 j10 k11 j11 k10 k12 j12 i10 g9 h10 h9 l13 m14 j9 j7 k8 l7 g10 f10 f9 h11 e11
i6 j7 f10 h7 i9 g6 g11 i7 g7 j9 i8 j8 j10
e7 k9 f7 g11 h8 h6 k11 j8 i7 g7 j6 k5 i5 f10 i4 i6 h4 k7 g4 k6 k8 k4 k3 i9 h10 f4
g7 i10 k8 j5 f11 j7 j6 k6 i8 l7 m8 l8 i4 l5 l6
g11 h6 h9 j11 j6 g8 e5 j8 i7 j10 j9 h8 i8 i9 k11 k7 l6 k6 k10 f6 g7 h7 h4 k5 k4 e6 i6 d6 g6 c6 b6 i4 k9 k12 f11 g10 e11 h11 d11 c11 j5 f9 l3 m2 e8 j13 i12 l11 i14 l13 m14
k6 h7 f11 i11 j5 l7 k5 k7 i5 l5 l6 j7 i7 m6
f10 i10 j7 h10 j11 g10 k10 l9 h11 i11 j12 i9 i8 j8 k7 k9 j9 g11 f12 h7 l11 m12 j13
""".strip().splitlines()
"""Moves, after which the side to move wins in 1, 3, 3, 5, 5, and then in up to 13 plies."""


def cells(names: str) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, GOMOKU) for name in names.split()]


def mirrored(moves: list[int], symmetry: int) -> list[int]:
    """The moves on a board that was turned and mirrored, in one of eight ways."""
    turned = []
    for cell in moves:
        row, column = divmod(cell, 15)
        if symmetry & 4:
            row, column = column, row
        turned.append((14 - row if symmetry & 2 else row) * 15 + abs(14 * (symmetry & 1) - column))
    return turned


@pytest.mark.parametrize("names", MATES)
def test_mates(names: str) -> None:
    """A win is found, however the board is turned; which one may hang on the order of cells."""
    for symmetry in range(8):
        engine = Engine(GOMOKU, THREATS)
        finding = engine.search(mirrored(cells(names), symmetry), Limits(nodes=400_000))
        assert finding.score >= PROVEN, symmetry


@pytest.mark.parametrize("names", MATES)
def test_mates_are_played_out(names: str) -> None:
    """The winner keeps the win to the end, whatever the loser tries."""
    board = Board.from_moves(cells(names))
    side = board.side_to_move
    engine = Engine(GOMOKU, THREATS)
    while not board.is_over:
        finding = engine.search_board(board, Limits(nodes=400_000))
        assert (finding.score >= PROVEN) == (board.side_to_move is side)
        board.play(finding.cell)
    assert board.winner is side


def test_finding() -> None:
    """The line expected begins with the move and can be played; the search is repeatable."""
    board = Board.from_moves(cells("h8 i9 j8"))
    before = board.copy()
    first, second = (Engine(GOMOKU, FEW).search_board(board, Limits(depth=7)) for _ in range(2))
    assert first == second
    assert board == before
    assert isinstance(first, SearchResult)
    assert (first.cell, first.depth) == (first.pv[0], 7)
    assert first.seldepth >= 7
    assert len(first.pv) >= 5
    Board.from_moves([*board.moves, *first.pv])


PARTS = ["vcf", "vct", "table", "reductions", "futility"]


@pytest.mark.parametrize("part", PARTS)
def test_parts_can_be_switched(part: str) -> None:
    """With any one part switched the engine still plays, and looks at other positions."""
    moves = cells("k5 j8 h8 k10 j9")
    whole = Engine(GOMOKU, FEW).search(moves, Limits(depth=6))
    without = Engine(GOMOKU, replace(FEW, **{part: not getattr(FEW, part)})).search(
        moves, Limits(depth=6)
    )
    assert without.nodes != whole.nodes
    assert without.depth == 6


def test_depth_and_node_limits() -> None:
    """The first limit that is reached ends the search."""
    moves = cells("h8 i9")
    engine = Engine(GOMOKU, FEW)
    assert engine.search(moves, Limits(depth=3)).depth == 3
    nodes = engine.search(moves, Limits(nodes=10_000)).nodes
    assert 10_000 <= nodes <= 10_000 + 500  # what one look for threats may take


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
def test_deadline(seconds: float) -> None:
    """The search stops at its deadline; the bound is for busy machines."""
    engine = Engine(GOMOKU)
    engine.warm_up()
    start = time.monotonic()
    finding = engine.search(cells("h8 i9"), Limits(time=timedelta(seconds=seconds)))
    assert seconds <= time.monotonic() - start < seconds + 0.5
    assert finding.pv


def test_stop() -> None:
    """Another thread ends the search; the next one is not affected."""
    engine = Engine(GOMOKU)
    timer = Timer(0.1, engine.stop)
    timer.start()
    start = time.monotonic()
    assert engine.search(cells("h8 i9")).cell
    assert time.monotonic() - start < 5
    timer.join()
    assert engine.search(cells("h8 i9"), Limits(depth=3)).depth == 3


def test_noise() -> None:
    """Noise changes what positions seem to be worth, the same way each time."""
    moves = cells("h8 i9 j8")
    scores = [
        Engine(GOMOKU, replace(FEW, noise=noise)).search(moves, Limits(depth=4)).score
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
        board.play(engine.search_board(board, Limits(nodes=300)).cell)
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
