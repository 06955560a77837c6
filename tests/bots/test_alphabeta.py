"""Alpha-beta search."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest

from meijin.bots import AlphaBetaBot
from meijin.bots.alphabeta import WIDTH, WIN, Limits, search
from meijin.bots.lines import Lines
from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Color,
    Rule,
    Variant,
    parse_cell,
)

if TYPE_CHECKING:
    from tests.bots.conftest import Duel, TickingClock


def cells(names: str, variant: Variant = GOMOKU) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, variant) for name in names.split()]


def after(names: str, variant: Variant = GOMOKU) -> Board:
    """The board after these moves, black's first."""
    return Board.from_moves(cells(names, variant), variant)


def test_begins_in_the_centre() -> None:
    """The first stone goes to h8."""
    assert search(Board(), Limits(depth=2)).cell == 112


WON = [
    "h8 a1 i8 c1 j8 e1 k8 g1",  # black has an open four
    "h8 g8 i8 a1 j8 c1 k8 e1",  # and one that is blocked at one end
    "a1 h8 c3 i9 e1 j10 g3 l12 o15",  # white has a gap to fill
]


@pytest.mark.parametrize("names", WON)
@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_wins_at_once(names: str, rule: Rule) -> None:
    """A side that can make five does so, with the smallest search there is."""
    board = after(names, Variant(rule=rule))
    side = board.side_to_move
    choice = search(board, Limits(nodes=1))
    board.play(choice.cell)
    assert board.winner is side
    assert choice.analysis is not None
    assert choice.analysis.score == WIN - 1


def test_overline_is_no_win() -> None:
    """Under the standard rule a sixth stone wins nothing, and five is made elsewhere."""
    names = "a8 a1 b8 c1 c8 e1 e8 g1 f8 i1 a12 k1 b12 m1 c12 o1 d12 a15"
    assert search(after(names), Limits(nodes=1)).cell in cells("d8 e12")
    assert search(after(names, Variant(rule=STANDARD)), Limits(nodes=1)).cell == cells("e12")[0]


def test_blocks_a_four() -> None:
    """A four is stopped, whatever else there is to do."""
    board = after("h8 h7 i8 i7 j8 j7 a1 k7")
    assert search(board, Limits(nodes=1)).cell in cells("g7 l7")
    board.play(cells("g7")[0])
    board.play(cells("a2")[0])
    assert search(board, Limits(nodes=1)).cell == cells("l7")[0]


def test_answers_an_open_three() -> None:
    """An open three would become an open four: it is stopped in time."""
    board = after("h8 a1 i8 o1 j8")
    assert search(board, Limits(depth=4)).cell in cells("f8 g8 k8 l8")


def test_sees_a_double_four() -> None:
    """The cell that makes two fours at once wins in three plies, and one ply shows it."""
    board = after("h8 g8 i8 a1 j8 c1 k5 e1 k6 g1 k7 k4 a15 o15")
    choice = search(board, Limits(depth=1))
    assert choice.cell == cells("k8")[0]
    assert choice.analysis is not None
    assert choice.analysis.score == WIN - 3


def test_analysis() -> None:
    """The search tells its depth, its nodes and the line that it expects."""
    board = after("h8 i9")
    choice = search(board, Limits(depth=3))
    analysis = choice.analysis
    assert analysis is not None
    assert (analysis.depth, analysis.pv[0]) == (3, choice.cell)
    assert analysis.nodes > 100
    for cell in analysis.pv:
        board.play(cell)


def minimax(lines: Lines, side: int, depth: int, plies: int) -> int:
    """What `search` computes, without pruning."""
    other = 3 - side
    if lines.completing(side):
        return WIN - plies - 1
    if not lines.empty:
        return 0
    moves = lines.completing(other)
    if not moves:
        if depth <= 0:
            return lines.balance if side == Color.BLACK else -lines.balance
        moves = lines.promising(WIDTH)
    scores = []
    for cell in moves:
        lines.place(cell, side)
        scores.append(-minimax(lines, other, depth - 1, plies + 1))
        lines.remove(cell, side)
    return max(scores)


@pytest.mark.parametrize("seed", range(25))
def test_pruning_changes_no_score(seed: int) -> None:
    """Alpha-beta finds the score of plain minimax, and a cell that has it."""
    rng = Random(seed)
    variant = rng.choice([Variant(width=6, height=6, line=4), Variant(width=7, height=7)])
    board = Board.from_moves(rng.sample(range(variant.cells), 4), variant)
    choice = search(board, Limits(depth=3))
    assert choice.analysis is not None
    side = int(board.side_to_move)
    assert choice.analysis.score == minimax(Lines(board), side, choice.analysis.depth, 0)
    if not Lines(board).completing(side):
        board.play(choice.cell)
        after_it = minimax(Lines(board), 3 - side, choice.analysis.depth - 1, 1)
        assert choice.analysis.score == -after_it


@cache
def value(board: str) -> int:
    """What a tic-tac-toe position is worth to the side to move, by plain minimax."""
    position = Board.parse(board, TIC_TAC_TOE)
    if position.winner is not None:
        return -1
    values = [0] if position.is_full else []
    for cell in position.legal_cells():
        symbols = board.replace("\n", "")
        symbol = position.side_to_move.symbol
        child = symbols[:cell] + symbol + symbols[cell + 1 :]
        values.append(-value("\n".join((child[:3], child[3:6], child[6:]))))
    return max(values)


def test_perfect_at_tic_tac_toe() -> None:
    """With the whole tree searched, every choice keeps the value of the position."""
    rng = Random(1)
    for _ in range(100):
        board = Board(TIC_TAC_TOE)
        for _ in range(rng.randrange(7)):
            if not board.is_over:
                board.play(rng.choice(board.legal_cells()))
        if board.is_over:
            continue
        expected = value(str(board))
        board.play(search(board, Limits()).cell)
        assert -value(str(board)) == expected


def test_never_loses_at_tic_tac_toe(duel: type[Duel]) -> None:
    """Chance takes no game from it, and it takes none from itself."""
    room = duel(TIC_TAC_TOE)
    for seed in range(10):
        assert room.points(lambda _: AlphaBetaBot(), 2) >= 1, seed
    assert room.play(AlphaBetaBot(), AlphaBetaBot()).is_draw


def test_beats_chance(duel: type[Duel]) -> None:
    """Two hundred positions a move are enough to win 20 games of 20."""
    assert duel().points(lambda _: AlphaBetaBot(nodes=200), 20) == 20


@pytest.mark.parametrize(
    "variant",
    [Variant(rule=STANDARD, width=22, height=22), Variant(width=9, height=7, line=4)],
)
def test_beats_chance_elsewhere(duel: type[Duel], variant: Variant) -> None:
    """It plays on other boards, and by the other rule."""
    assert duel(variant).points(lambda _: AlphaBetaBot(nodes=200), 4) == 4


def test_beats_chance_in_real_time(duel: type[Duel]) -> None:
    """It wins with a twentieth of a second a move, and is never late."""
    assert duel(control="0.05/move").points(lambda _: AlphaBetaBot(), 4) == 4


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.5])
def test_time_limit(seconds: float, ticking_clock: TickingClock) -> None:
    """The search ends at the first look at the clock after its time is up."""
    start = ticking_clock.now
    choice = search(after("h8 i9 j10"), Limits(seconds=seconds), ticking_clock)
    assert choice.cell
    assert start + seconds <= ticking_clock.now <= start + seconds + 0.002


def test_node_limit() -> None:
    """The search visits no more positions than it may; the same limit, the same choice."""
    board = after("h8 i9 j10")
    first, second = (search(board, Limits(nodes=500)) for _ in range(2))
    assert first == second
    assert first.analysis is not None
    assert first.analysis.nodes <= 500


def test_configuration() -> None:
    """Its limits are part of the version that is rated."""
    bot = AlphaBetaBot(time_limit=timedelta(seconds=0.5), depth=4)
    assert bot.configuration == {"time_limit": "0:00:00.500000", "depth": "4"}
    assert AlphaBetaBot().configuration == {}
    assert bot.digest != AlphaBetaBot().digest
