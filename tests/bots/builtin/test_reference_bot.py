"""The readable searches, as a bot."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from meijin.bots import BotLoadError, Choice, Position, RandomBot, ReferenceBot, load_bot
from meijin.bots.builtin.reference_bot import ALGORITHMS, ALPHABETA, MINIMAX, UCT
from meijin.game import (
    FREESTYLE,
    GOMOKU,
    RENJU,
    RULES,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Rule,
    TimeControl,
    Variant,
    parse_cell,
)

if TYPE_CHECKING:
    from tests.bots.conftest import Duel

CONTROL = TimeControl.parse("60/move")
SMALL = Variant(width=7, height=6, line=4)


def cells(names: str, variant: Variant = GOMOKU) -> list[int]:
    """The cells called so."""
    return [parse_cell(name, variant) for name in names.split()]


def asked(bot: ReferenceBot, names: str = "", variant: Variant = GOMOKU) -> Choice:
    """What the bot does after these moves, black's first."""
    return bot.choose(Position(Board.from_moves(cells(names, variant), variant), CONTROL))


def quick(algorithm: str) -> ReferenceBot:
    """A bot that sees as much as a move and its answer on a small board."""
    return ReferenceBot(algorithm, depth=2, playouts=1_500, seed=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_begins_in_the_centre(algorithm: str) -> None:
    """The first stone goes to h8."""
    assert asked(ReferenceBot(algorithm, playouts=2)).cell == 112


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_wins_at_once(algorithm: str) -> None:
    """A side that can make five does so and thinks well of it, with either colour."""
    black = asked(quick(algorithm), "h8 a1 i8 c1 j8 e1 k8 g1")
    white = asked(quick(algorithm), "a1 h8 c3 i9 e1 j10 g3 l12 o15")
    assert black.cell in cells("g8 l8")
    assert white.cell == cells("k11")[0]
    for choice in (black, white):
        assert choice.analysis is not None
        assert choice.analysis.score == 100 if algorithm == UCT else choice.analysis.score > 900_000


@pytest.mark.parametrize("algorithm", [ALPHABETA, MINIMAX])
def test_blocks_a_four(algorithm: str) -> None:
    """A four is stopped, whatever else there is to do."""
    assert asked(quick(algorithm), "h8 h7 i8 i7 j8 j7 g7 k7").cell == cells("l7")[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_blocks_on_a_small_board(algorithm: str) -> None:
    """So is a row of three where four win; by chance that takes many playouts a cell."""
    assert asked(quick(algorithm), "a1 c3 b1 d3 f3 e3", SMALL).cell == parse_cell("b3", SMALL)


@pytest.mark.parametrize("variant", [SMALL, TIC_TAC_TOE, Variant(width=5, height=5)])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_plays_to_the_end(algorithm: str, variant: Variant, duel: type[Duel]) -> None:
    """Games on several boards are played by the rules, up to a full board."""
    bot = ReferenceBot(algorithm, playouts=40, seed=1)
    room = duel(variant)
    assert room.play(bot, RandomBot(1)).is_over
    assert room.play(RandomBot(2), bot).is_over


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_beats_chance(algorithm: str, duel: type[Duel]) -> None:
    """Six games of six on a small board."""
    bot = ReferenceBot(algorithm, playouts=300, seed=1)
    assert duel(SMALL).points(lambda _: bot, 6) == 6


def test_deeper_searches_win(duel: type[Duel]) -> None:
    """Three plies win a game that two plies lose."""
    shallow, deep = ReferenceBot(depth=1), ReferenceBot(depth=3)
    assert duel(SMALL).play(deep, shallow).winner == 1


def test_searches_agree() -> None:
    """Minimax and alpha-beta give a position the same score; minimax visits more."""
    board = Board(SMALL)
    for cell in Random(3).sample(range(SMALL.cells), 8):
        board.play(cell)
    assert not board.is_over
    position = Position(board, CONTROL)
    full, pruned = (
        ReferenceBot(algorithm).choose(position).analysis for algorithm in (MINIMAX, ALPHABETA)
    )
    assert full is not None
    assert pruned is not None
    assert full.score == pruned.score
    assert full.nodes > pruned.nodes > 1


def test_analysis() -> None:
    """It tells its depth or its playouts, and its own move."""
    searched = asked(ReferenceBot(depth=1), "h8 i9")
    assert searched.analysis is not None
    assert (searched.analysis.depth, searched.analysis.pv) == (1, (searched.cell,))
    drawn = asked(ReferenceBot(UCT, playouts=100), "h8 i9")
    assert drawn.analysis is not None
    assert (drawn.analysis.nodes, drawn.analysis.pv) == (100, (drawn.cell,))
    assert 0 <= drawn.analysis.score <= 100


def test_seed() -> None:
    """The same seed makes the same choice."""
    first, second = (asked(ReferenceBot(UCT, playouts=50, seed=7), "h8 i9") for _ in range(2))
    assert first == second


def test_rules() -> None:
    """It plays all of them, but renju by playouts, which would take minutes."""
    assert set(ReferenceBot().capabilities.rules) == set(RULES.values())
    assert set(ReferenceBot(UCT).capabilities.rules) == set(RULES.values()) - {RENJU}


@pytest.mark.parametrize("rule", RULES.values())
def test_wins_by_the_rule(rule: Rule, duel: type[Duel]) -> None:
    """A game under any rule is played to its end without an illegal move."""
    bot = ReferenceBot(depth=1)
    assert duel(Variant(rule, 7, 7)).play(bot, RandomBot(1)).is_over


@pytest.mark.parametrize(("rule", "wins"), [(STANDARD, False), (FREESTYLE, True)])
def test_six_in_a_row(rule: Rule, wins: bool) -> None:  # noqa: FBT001 - a table
    """Six in a row is a win where the rule says so, and else worth no more than nothing."""
    board = Board.parse("xxx.xx/......./o.o.o.o/......o", Variant(rule, 7, 7))
    choice = ReferenceBot(depth=1).choose(Position(board, TimeControl.parse("1/move")))
    assert (choice.cell == 3) is wins


def test_configuration() -> None:
    """Only the options that count for its algorithm are part of the rated version."""
    assert ReferenceBot(playouts=7).configuration == {"algorithm": "alphabeta", "depth": "2"}
    bot = load_bot("reference", ["algorithm=uct", "playouts=20", "seed=3", "depth=5"])
    assert bot.configuration == {"algorithm": "uct", "playouts": "20", "seed": "3"}
    assert bot.digest != ReferenceBot().digest


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("algorithm=alphabet", 'no algorithm "alphabet"; there are alphabeta, minimax, uct'),
        ("depth=0", "depth 0 is out of range: 1 or more"),
        ("playouts=1", "playouts 1 is out of range: 2 or more"),
        ("depth=deep", '"deep" is no int, as depth has to be'),
        ("level=3", 'has no option "level"; its options are algorithm, depth, playouts, seed'),
    ],
)
def test_wrong_options(option: str, message: str) -> None:
    """A wrong option is answered in one line with what it has to be."""
    with pytest.raises(BotLoadError, match=message) as failure:
        load_bot("reference", [option])
    assert "\n" not in str(failure.value)


BARE = """
import sys
sys.modules["numba"] = sys.modules["numpy"] = None
from meijin.bots import Position, load_bot
from meijin.game import Board, TimeControl
position = Position(Board.from_moves([112, 113]), TimeControl.parse("60/move"))
for algorithm in ("alphabeta", "minimax", "uct"):
    bot = load_bot("reference", [f"algorithm={algorithm}", "playouts=20"])
    assert bot.choose(position).cell in position.legal_cells()
"""


def test_bare_install() -> None:
    """Every algorithm plays where neither numba nor numpy is installed."""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", BARE], env=variables, check=True)
