"""The readable searches, as a bot."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest
from tests.bots.conftest import after, cells, chosen

from meijin.bots import BotLoadError, ReferenceBot, load_bot
from meijin.bots.builtin.reference_bot import ALGORITHMS, ALPHABETA, MINIMAX, UCT
from meijin.game import FREESTYLE, STANDARD, Board, Rule, Variant

SMALL = Variant(width=7, height=6, line=4)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_blocks_on_a_small_board(algorithm: str) -> None:
    """A row of three is stopped where four win; by chance that takes many playouts a cell."""
    bot = ReferenceBot(algorithm, depth=2, playouts=1_500, seed=1)
    assert chosen(bot, after("a1 c3 b1 d3 f3 e3", SMALL)).cell == cells("b3", SMALL)[0]


def test_searches_agree() -> None:
    """Minimax and alpha-beta give a position the same score; minimax visits more."""
    board = Board.from_moves(Random(3).sample(range(SMALL.cells), 8), SMALL)
    full, pruned = (
        chosen(ReferenceBot(algorithm), board).analysis for algorithm in (MINIMAX, ALPHABETA)
    )
    assert full is not None
    assert pruned is not None
    assert full.score == pruned.score
    assert (full.nodes or 0) > (pruned.nodes or 0) > 1


def test_analysis_of_playouts() -> None:
    """It tells their number, and a share of 100; the same seed makes the same choice."""
    first, second = (
        chosen(ReferenceBot(UCT, playouts=50, seed=7), after("h8 i9")) for _ in range(2)
    )
    assert first == second
    assert first.analysis is not None
    assert first.analysis.nodes == 50
    score = first.analysis.score
    assert score is not None
    assert 0 <= score <= 100


@pytest.mark.parametrize(("rule", "wins"), [(STANDARD, False), (FREESTYLE, True)])
def test_six_in_a_row(rule: Rule, wins: bool) -> None:  # noqa: FBT001 - a table
    """Six in a row is a win where the rule says so, and else worth no more than nothing."""
    board = Board.from_moves((0, 14, 1, 16, 2, 18, 4, 20, 5, 27), Variant(rule, 7, 7))
    assert (chosen(ReferenceBot(depth=1), board).cell == 3) is wins


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
