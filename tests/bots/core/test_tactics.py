"""Wins that the engine must see, checked against every reply on the board."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import Options, SearchLimits, SearchResult
from meijin.game import GOMOKU, parse_cell
from meijin.game.records.chances import PROVEN_SCORE, WIN_SCORE

FEW = Options(table_bits=16)
LIMITS = SearchLimits(nodes=300_000)
SIDE = GOMOKU.width

WINS = """
1: f9 g8 k6 f11 j5 g10 h9 g9 g11 f10 h10 h8 i7 g7 g6 e8 f8 e11 d12 e10 e12 d9 g12 c10 d10 b11 a12
1: k9 k7 j8 f8 f6 g6 k5 i7 j7 j9 i8 l8 j6 j5 k6 l5 l6 m6 k4 k8 i10 h6 j4 i3 g10 h9 h10 f10 l4 i4 k3 k2 k10 j10 m4 n4 h5 f9 m3 n2 m7 n8 f12 i9 g9 i6 i5 g8 h7 f7 f11 n5 l7 n6 n7
1: f10 i10 j7 h10 j11 g10 j10 j9 k8 i11 l9 m10 j12 i12 i9 j13 h11 k12 l11 i13 i14 k13 l13 l12 k14 m11 j14 l14 m12 n11 n10 h8 k7 h7 h9 k10 k9 k5 m7 g6 i8 g13 h13 l7 h14 g14 l8 n6 m9 o11
2: h11 e5 k11 h8 j9 i8 j5 g7 f6 j8 k8 i10 f8 i7 i11 g11 h10 g9 j11 l11 j6 f10 e11 i9 i6 g8 g10 g5 g6
2: k9 k10 e9 h11 h9 e11 e7 g9 e6 e8 f7 g8 g7 d7 f9 h6 f6 f8 h8 d8 c8 e5 j10 i9 d6 c6 j11 g11 i11 l8 j9 j8 h10 d11 f11 g13 j12 j13 d10 g10 g12 k13 i12 b5 a4 k12 f12 h12 e10 d9 i14 h13
2: k5 j8 h8 k10 j9 k7 k9 l9 i9 m8 n7 l8 k8 l7 l10 k6 j5 l5 l6 j7 h9 g9 i7
3: k6 h7 f11 i11 j5 k5 j6 j7 l7 m8 l6 i6 m6 n6 k8 j9 l8 l9 k7 i5 k10 k9 m9 n10 i4 h3 m5 n4 i9 j8 l4 l5 j4 k4 j3 j2 m3 m4 k3 l3 n5 o4 l10 j10 j11 h5 g4 h4 h6 h12 g13 j12 g5 h10 g9 i12 k12 h11 h9 k13 l14 g12 f12 i10 f13 i13 i14
3: k7 g10 j9 i11 i6 i10 j10 i12 i9 h11 j13 j11 k11 h8 j8 l6 h9 g11 f11 k9 j6 j7 i5 f9 e8 h4 g6 i14 i13 h6
3: k8 f10 i11 h11 j11 f9 i12 k10 h12 f8 f7 e8 i10 d7 g10 c6 b5 f12 f11 i9
3: h11 e5 k11 h8 j9 i8 j5 g7 f6 j8 k8 i10 f8 i7 i11 g11 h10 g9 j11 l11 j6 f10 e11 i9 i6 g8 g10
3: i7 h8 k8 j7 f11 e11 g11 f12 g13 g12 e12 h9 k6 h11 h10 i10 f13 g8 f7 f8 e8 j8 i8 j10 j9 g7 i9 g6 g5 h6 i5 i6 f6
3: e9 i6 g8 h9 j8 j7 g10 g7 h8 k8 h5 i8 i7 k9 k7 l6 l5 j6 k6 m10 l9 k10 f10 g9 h10 i10 j9 g11 l10 k12 k11 l11 j13 n9 o8 i12 i11 j12 l12 d10 e8 d8 j10 i9 m13 n14 d7 l13 j11 f9 h12 e7 g5 f5 g13 f14 h6 f4 h4 h7 h3 h2 j5 e4 g6 i4 i3 f6 k5 i5
4: i6 j7 f10 h7 i9 g6 f5 i8 j9 h9 g10 g7 f7
4: i7 h8 k8 j7 f11 e11 g11 f12 g13 g12 e12 h9 k6 h11 h10 i10 f13 g8 f7 f8 e8 j8 i8 j10 j9 g7 i9 g6 g5 h6 i5
4: k9 f5 f8 g7 k11 k10 l10 j12 m11 j8 l11 j11 n11 o11 l9 l12 j10 l8
4: e8 g9 k5 j8 e9 e10 f8 f10 d10 g7 g8 h8 i7 i9 j10 h10 k7 h9 d8
4: e7 k9 f7 g11 h8 h6 k11 g7 f8 j8 g5 h10 i9 j10 f6 l10 i7 i10 k10 f10
4: f10 i10 j7 h10 j11 g10 j10 j9 k8 i11 l9 m10 j12 i12 i9 j13 h11 k12 l11 i13 i14 k13 l13 l12 k14 m11 j14 l14 m12 n11 n10 h8 k7 h7 h9 k10 k9 k5 m7 g6 i8 g13
5: k5 j8 h8 k10 j9 k7 k9 l9 i9 m8 n7 l8 k8 l7 l10 k6 j5
5: f6 i6 k9 h8 k8 i7 k7 k6 j6 i5 i4 h7 i9
5: k9 k7 j8 f8 f6 g6 k5 i7 j7 j9 i8 l8 j6 j5 k6 l5 l6 m6 k4 k8 i10 h6 j4 i3 g10 h9 h10 f10 l4 i4 k3 k2 k10 j10 m4 n4 h5 f9 m3
5: e5 i7 f8 f7 j7 e7 g7 e9 g5 g8 h5 i5 i6 g4 f6 h8 e6 d5 j6 k6 k8 l9 j5 j8 d6 c6 f4 g3 e3 h6 k4 l3 e4 e2 j4 j3 d4 c3 l4 m4 f2 c5 c4 b4 i3 h4 f5 f3 k5 l6 g1 h2 m5 l7 l8 c7 k9 b6 n5 l5 m3
5: h9 j7 f8 e8 k6 f7 g6 e9 e7 g9 h7 h8 f5 i8 e6 j6 i7
5: g11 h6 h9 j11 j6 g8 e5 j8 i7 g7 h8 g9 g6 f8 i5 j10 j12 h10 e7 k10 i10 j9 j7 l9 m8 l11 i8 i12
6: f9 g8 k6 f11 j5 g10 h9 g9 g11 f10 h10 h8 i7 g7 g6 e8 f8
6: e9 i6 g8 h9 j8 j7 g10 g7 h8 k8 h5 i8 i7 k9 k7 l6 l5 j6 k6 m10 l9 k10 f10 g9 h10 i10 j9 g11 l10 k12 k11 l11 j13 n9 o8 i12 i11 j12 l12 d10 e8 d8 j10 i9 m13 n14 d7 l13 j11 f9 h12 e7 g5 f5 g13 f14 h6 f4 h4 h7 h3 h2 j5 e4
6: g5 f6 j8 g7 f7 j5 h7 h6 g6 i5 j4 e5 d4 i8 i9 l5 k5 k6 j7 l6 i4 e8 k4 i6 j6 l4 l7 e9 f8 j9 g4 h4 h10 k7 g3 g2 e6 e11 e10 h3 f10 h5
6: i11 k7 h5 f6 g5 e5 g7 g8 i5 j5 h6 f8 i7 f4 i6 f7 f5 i8 h8 f10
6: k9 k10 e9 h11 h9 e11 e7 g9 e6 e8 f7 g8 g7 d7 f9 h6 f6 f8 h8 d8 c8 e5 j10 i9 d6 c6 j11 g11 i11 l8 j9 j8 h10 d11 f11 g13 j12 j13 d10 g10 g12 k13 i12 b5
6: f5 g8 j10 i7 i9 g11 g9 f9 h7 k11 i11 h10 k9 h12 j9 h9
7: k6 j10 j11 h7 g8 h10 k10 h8 h9 i10 k11 f10 g10 g9 i7 i11 f8 k9 h12 i12 i9 i8 f5 l8 m7 k8 j8 k13 j12 i13 i14 h11 j9 e11 d12 j13 h13 f11 g11 f13 f12 e12 e14 d11 c10 g14 h15 e10 e9 c11 b11 k14 l15 d9 c8 d8 d7 e6 h6 g7 j6 i6 g5 f4 j5 j7 h5 i5 m8 l13 m13 n9
7: k7 g8 e10 k6 i6 h9 i10 h11 j7 h8 h10 j8 i8 i7 k10 j10 j9 h7 l9 k8 k9 m9 i12 j11 l11 m12 l12 l10 i11 i9 g7 k11 j12 n8 o7 m8 l8 m10 m11 m7 m6 h6 h5 f4 g5 g9 l14 k13 g4 f3
7: g7 h11 i11 e6 g9 f7 j11 g8 h9 f9 f8 h10 e10 e8 g10 d5 c4 g6 h5 d6 c6
7: g7 i10 k8 j5 f11 k6 i8 i4 l7 j8 j7 i6 k7 i7 n5 m6 h6 k4 n7 m7 h9
7: f9 i9 h11 h7 h6 i12 f8 f10 i11 g7 i7 g5 g11 f11 g9 h10 g10 g12 e8 d7 d9 e9 g6 f7 e7 f6 h8 g8 e6 j6 e5 e4 j11 k11 h12 j10 l12 l10 k10 m9 n8 k7 l8 j8 l6 h13 i14 j5 j7 i5 d6
""".strip().splitlines()
"""Positions of the engine's own games: in how many moves the side to move wins, and how it
came to be. The figure is the shortest win that searches of the eight symmetries find."""

CASES = [
    pytest.param(int(moves), [parse_cell(name, GOMOKU) for name in names.split()], id=f"{at}")
    for at, (moves, names) in enumerate(line.split(": ") for line in WINS)
]


def mirrored(cells: list[int], symmetry: int) -> list[int]:
    """The cells on a board that was turned and mirrored, in one of eight ways."""
    turned = []
    for cell in cells:
        row, column = divmod(cell, SIDE)
        if symmetry & 4:
            row, column = column, row
        if symmetry & 2:
            row = SIDE - 1 - row
        turned.append(row * SIDE + (SIDE - 1 - column if symmetry & 1 else column))
    return turned


@pytest.mark.parametrize(("moves", "cells"), CASES)
def test_every_symmetry(moves: int, cells: list[int]) -> None:
    """The win is proven however the board lies; at hand it is no longer than it must be."""
    for symmetry in range(8):
        finding = Engine(GOMOKU, FEW).search(mirrored(cells, symmetry), LIMITS)
        assert finding.score >= PROVEN_SCORE, symmetry
        if moves <= 2:
            assert finding.score == WIN_SCORE - (2 * moves - 1)


@pytest.mark.parametrize(("moves", "cells"), CASES)
def test_every_reply(moves: int, cells: list[int]) -> None:
    """The engine's moves win against all replies, by rules that share nothing with the core."""
    assert Proof().wins(cells), moves


def test_a_claim_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that calls any move winning is found out."""
    boast = SearchResult(score=PROVEN_SCORE, depth=1, nodes=1, pv=(0,))
    monkeypatch.setattr(Engine, "search", lambda *_: boast)
    assert not Proof().wins([parse_cell(name, GOMOKU) for name in ("h8", "i9")])


def _fives() -> Iterator[list[int]]:
    for rows, columns in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(SIDE - 4 * rows):
            for column in range(SIDE):
                if 0 <= column + 4 * columns < SIDE:
                    yield [(row + i * rows) * SIDE + column + i * columns for i in range(5)]


FIVES = np.array(list(_fives()))
"""The cells of every row of five."""
ONES = np.ones(5, np.int8)


def missing(moves: list[int], stones: int, side: int) -> set[int]:
    """The empty cells of the fives in which `side` has this many stones, the other none."""
    board = np.zeros(GOMOKU.cells, np.int8)
    board[moves[side::2]], board[moves[1 - side :: 2]] = 1, 10
    fives = FIVES[board[FIVES] @ ONES == stones]
    return set(fives[board[fives] == 0].tolist())


class Proof:
    """Follows the engine's moves against every reply."""

    def __init__(self) -> None:
        self._engine = Engine(GOMOKU, FEW)
        self._known: dict[tuple[frozenset[int], frozenset[int]], bool] = {}

    def wins(self, moves: list[int]) -> bool:
        side = len(moves) % 2
        if missing(moves, 4, side):
            return True
        threatened = missing(moves, 4, 1 - side)
        if len(threatened) > 1:
            return False
        fours = set() if threatened else missing(moves, 3, side)
        if any(len(missing([*moves, cell], 4, side)) > 1 for cell in fours):
            return True
        key = frozenset(moves[::2]), frozenset(moves[1::2])
        if key not in self._known:
            finding = self._engine.search(moves, LIMITS)
            is_claimed = finding.score >= PROVEN_SCORE
            self._known[key] = is_claimed and self._holds([*moves, finding.cell])
        return self._known[key]

    def _holds(self, moves: list[int]) -> bool:
        """Whether every reply to the last move loses."""
        side = len(moves) % 2
        if missing(moves, 4, side):
            return False
        replies = missing(moves, 4, 1 - side) or set(range(GOMOKU.cells)) - set(moves)
        return all(self.wins([*moves, reply]) for reply in replies)
