"""How strong one player is against another."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import strength
from strength import Pair, elo, play_pair, player, read_player, summary

from meijin.bots.core.engine import Engine, Limits
from meijin.bots.core.guided_tree import GuidedTree
from meijin.bots.core.tree_result import TreeLimits
from meijin.game import GOMOKU, Board, parse_cell
from meijin.game.openings.opening import openings_for

SCRIPT = Path(strength.__file__)


def test_elo() -> None:
    """A score of three quarters is 191 Elo; all or nothing is without bound."""
    assert elo(0.5) == 0
    assert elo(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo(0.1) == pytest.approx(-381.70, abs=0.01)
    assert elo(1.0) == math.inf
    assert elo(0.0) == -math.inf


def test_summary() -> None:
    """The pairs' shares are 1, 1/2, 1/2 and 1/2: mean 0.625, error of the mean 0.125."""
    row = summary("a", "b", [Pair((1, 1)), Pair((1, 0)), Pair((0.5, 0.5)), Pair((0, 1))])
    assert row == {
        "first": "a",
        "second": "b",
        "wins": 4,
        "draws": 2,
        "losses": 2,
        "score": 0.625,
        "elo": 88.7,
        "elo_low": -85.0,
        "elo_high": 330.2,
    }


def test_summary_of_equals() -> None:
    """Pairs that all end alike leave no doubt, however the games in them ended."""
    row = summary("a", "b", [Pair((1, 0)), Pair((0, 1))])
    assert (row["wins"], row["losses"], row["elo"]) == (2, 2, 0)
    assert row["elo_low"] == row["elo_high"] == 0


def test_summary_of_one_pair() -> None:
    """One pair says next to nothing."""
    row = summary("a", "b", [Pair((1, 1))])
    assert row["elo"] == math.inf
    assert float(row["elo_low"]) < 10


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("alfabeta", 'no player "alfabeta"; there are alphabeta, guided, pure, reference, random'),
        ("guided:depth=4", 'guided has no option "depth"; its options: playouts'),
        ("random:seed=1", 'random has no option "seed"; its options: none'),
        ("alphabeta:vcf=no", 'vcf is "on" or "off", not "no"'),
        ("alphabeta:nodes=0", 'nodes is a number from 1 on, not "0"'),
        ("reference:depth", 'depth is a number from 1 on, not ""'),
    ],
)
def test_wrong_player(spec: str, message: str) -> None:
    """A wrong player is answered with what it may be."""
    with pytest.raises(ValueError, match=message):
        player(spec, 0.1, 1)


def test_read_player() -> None:
    """Numbers and switches are read; what is not said keeps its default."""
    assert read_player("alphabeta:nodes=20000,vcf=off,vct=on") == (
        "alphabeta",
        {"nodes": 20_000, "vcf": 0, "vct": 1},
    )
    assert read_player("pure") == ("pure", {})


@pytest.mark.parametrize(
    "spec",
    [
        "alphabeta",
        "alphabeta:depth=2",
        "alphabeta:nodes=500,vcf=off,table=off",
        "guided:playouts=100",
        "pure:playouts=3000",
        "reference",
    ],
)
def test_players_win_at_once(spec: str) -> None:
    """Every player but the random one makes a five where it can."""
    names = ("h8", "a1", "i8", "c1", "j8", "e1", "k8", "g1")
    board = Board.from_moves([parse_cell(name, GOMOKU) for name in names])
    cell = player(spec, 0.02, 1)(board)
    assert cell in {parse_cell("g8", GOMOKU), parse_cell("l8", GOMOKU)}


def test_counts_need_no_time() -> None:
    """Players that count take no notice of the time, so their matches repeat on any machine."""
    for opening in openings_for(GOMOKU)[:6]:
        board = Board.from_moves(opening)
        found = Engine(GOMOKU).search_board(board, Limits(nodes=20_000))
        assert player("alphabeta:nodes=20000", 1e-9, 1)(board) == found.cell
        visited = GuidedTree(GOMOKU).search(board.moves, TreeLimits(3_000))
        assert player("guided:playouts=3000", 1e-9, 1)(board) == visited.cell


def test_pair() -> None:
    """Both games of a pair count for the first player."""
    assert play_pair(0, "alphabeta:nodes=200", "random", seconds=1).points == (1, 1)
    assert play_pair(0, "random", "alphabeta:nodes=200", seconds=1).points == (0, 0)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_match() -> None:
    """Two games are played, one with each colour, and chance loses both."""
    done = run("random", "reference:depth=1", "--games=2", "--processes=1", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout.splitlines()[-1])["results"]
    assert (row["first"], row["second"]) == ("random", "reference:depth=1")
    assert (row["wins"], row["draws"], row["losses"]) == (0, 0, 2)
    assert "2 games, 0 points" in done.stderr


def test_match_of_nobody() -> None:
    """A wrong player ends the script with one line that names it."""
    done = run("random", "stockfish")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        'no player "stockfish"; there are alphabeta, guided, pure, reference, random'
    )


def test_match_of_a_variant() -> None:
    """It is played under the rule and on the board that are asked for."""
    done = run("random", "random", "--games=2", "--processes=1", "--variant=caro 5x5", "--json")
    assert done.returncode == 0, done.stderr
    assert run("random", "random", "--variant=gomoku").returncode == 2
