"""Monte-Carlo tree search."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest

from meijin.bots import MctsBot
from meijin.bots.lines import Lines
from meijin.bots.mcts import WIDTH, play_out, search
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


def cells(names: str) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, GOMOKU) for name in names.split()]


def after(names: str, rule: Rule = FREESTYLE) -> Board:
    """The board after these moves, black's first."""
    return Board.from_moves(cells(names), Variant(rule=rule))


def test_begins_in_the_centre() -> None:
    """The first stone goes to h8."""
    assert search(Board(), Random(1), playouts=1).cell == 112


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_wins_at_once(rule: Rule) -> None:
    """A side that can make five does so without a playout."""
    board = after("h8 a1 i8 c1 j8 e1 k8 g1", rule)
    assert search(board, Random(1), playouts=0).cell in cells("g8 l8")


def test_blocks_a_four() -> None:
    """A four is stopped, whatever else there is to do."""
    board = after("h8 h7 i8 i7 j8 j7 g7 k7")
    assert search(board, Random(1), playouts=1).cell == cells("l7")[0]


def test_answers_an_open_three() -> None:
    """Playouts show that an open three has to be stopped."""
    board = after("h8 a1 i8 o1 j8")
    assert search(board, Random(1), playouts=400).cell in cells("f8 g8 k8 l8")


def test_every_candidate_is_tried_before_any_is_tried_again() -> None:
    """Unvisited children come first: after as many playouts as candidates, each has one."""
    choice = search(after("h8 i9"), Random(1), playouts=WIDTH + 1)
    assert choice.analysis is not None
    assert choice.analysis.nodes == WIDTH + 1
    assert len(choice.analysis.pv) == 1


def test_more_playouts_go_deeper() -> None:
    """The tree grows where it goes well, and the line that it expects can be played."""
    board = after("h8 i9")
    choice = search(board, Random(1), playouts=500)
    assert choice.analysis is not None
    assert choice.analysis.nodes == 500
    assert 0 <= choice.analysis.score <= 100
    assert len(choice.analysis.pv) >= 2
    for cell in choice.analysis.pv:
        board.play(cell)


def test_playouts_block() -> None:
    """Where every move is a block, playouts of tic-tac-toe all end in the same draw."""
    lines = Lines(Board.from_moves([0, 4, 1], TIC_TAC_TOE))
    winners = {play_out(lines.copy(), int(Color.WHITE), Random(seed)) for seed in range(30)}
    assert winners == {0}


def test_playouts_win() -> None:
    """A side that can win in a playout does."""
    lines = Lines(after("h8 a1 i8 c1 j8 e1 k8 g1"))
    assert play_out(lines, int(Color.BLACK), Random(1)) == Color.BLACK


def test_seed() -> None:
    """The same seed finds the same."""
    board = after("h8 i9")
    assert search(board, Random(5), playouts=200) == search(board, Random(5), playouts=200)


def test_rarely_loses_at_tic_tac_toe(duel: type[Duel]) -> None:
    """A few hundred playouts see the end of so small a game: it draws with itself."""
    room = duel(TIC_TAC_TOE)
    for seed in range(5):
        game = room.play(MctsBot(seed, playouts=600), MctsBot(seed, playouts=600))
        assert game.is_draw


def test_beats_chance(duel: type[Duel]) -> None:
    """Sixty playouts a move are enough to win 20 games of 20."""
    assert duel().points(lambda seed: MctsBot(seed, playouts=60), 20) == 20


@pytest.mark.parametrize(
    "variant",
    [Variant(rule=STANDARD, width=22, height=22), Variant(width=9, height=7, line=4)],
)
def test_beats_chance_elsewhere(duel: type[Duel], variant: Variant) -> None:
    """It plays on other boards, and by the other rule."""
    assert duel(variant).points(lambda seed: MctsBot(seed, playouts=60), 4) == 4


def test_beats_chance_in_real_time(duel: type[Duel]) -> None:
    """It wins with a tenth of a second a move, and is never late."""
    assert duel(control="0.1/move").points(MctsBot, 4) == 4


@pytest.mark.parametrize("seconds", [0.05, 0.2])
def test_time_limit(seconds: float, ticking_clock: TickingClock) -> None:
    """The search ends at the first look at the clock after its time is up."""
    start = ticking_clock.now
    search(after("h8 i9"), Random(1), seconds=seconds, clock=ticking_clock)
    assert start + seconds <= ticking_clock.now <= start + seconds + 0.002


def test_no_time() -> None:
    """Without any time the most promising cell is visited, and taken."""
    assert search(after("h8 a1 i8 c1 j8"), Random(1), seconds=0).cell in cells("g8 k8")


def test_configuration() -> None:
    """Seed and limits are part of the version that is rated."""
    bot = MctsBot(seed=3, time_limit=timedelta(seconds=2), playouts=9)
    assert bot.configuration == {"seed": "3", "time_limit": "0:00:02", "playouts": "9"}
    assert MctsBot().configuration == {}
