"""`meijin learn`: what it draws, plays and counts, for people and for scripts."""

import json
import os
import signal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.system.processes import Processes, eventually
from typer.testing import CliRunner, Result

import meijin.cli.commands.learn.gomoku
import meijin.cli.commands.learn.tree
import meijin.cli.commands.learn.twenty48
from meijin.bots.reference import fewest_leaves
from meijin.bots.reference.slides import SIDE
from meijin.bots.reference.twenty48 import search
from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.game import TIC_TAC_TOE, Board, Color


def learn(*words: str, typed: str = "") -> Result:
    """Run a command in this process, with what a person types."""
    done = CliRunner().invoke(app, ["learn", *words], input=typed, env={"COLUMNS": "120"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def tell(*words: str, typed: str = "") -> str:
    """What a command prints for people."""
    done = learn(*words, typed=typed)
    assert done.exit_code == 0
    assert done.stderr == ""
    return done.stdout


def ask(*words: str, typed: str = "") -> dict[str, Any]:
    """What a command answers with ``--json``: one object, and nothing else on its output."""
    done = learn(*words, "--json", typed=typed)
    assert done.exit_code == 0
    (line,) = done.stdout.splitlines()
    found = json.loads(line, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    return found


# -- tree ---------------------------------------------------------------------------

S2_DRAWING = """\
root max = 3  alpha -∞, beta ∞
├── B min = 3  alpha -∞, beta ∞
│   ├── 3
│   ├── 12
│   └── 8
├── C min ≤ 2  alpha 3, beta ∞  cut off: alpha 3 ≥ beta 2
│   ├── 2
│   ├── 4 not visited
│   └── 6 not visited
└── D min = 2  alpha 3, beta ∞
    ├── 14
    ├── 5
    └── 2
value 3 by B; 7 of 9 leaves visited
"""


def test_tree_is_drawn() -> None:
    """With the value and the window of each position, and what was left out."""
    assert tell("tree", "--name=s2") == S2_DRAWING


def test_whole_branches_are_drawn_as_left_out() -> None:
    """A6 and both its leaves, and A4's second."""
    assert tell("tree").count("not visited") == 4
    assert tell("tree", "--name=s4").count("not visited") == 5 + 2 + 6


def test_what_was_left_out_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, and nothing else is."""
    screen = Console(force_terminal=True, color_system="standard", file=StringIO(), width=120)
    monkeypatch.setattr(meijin.cli.commands.learn.tree, "console", screen)
    learn("tree")
    assert isinstance(screen.file, StringIO)
    grey = [line for line in screen.file.getvalue().splitlines() if "\x1b[90m" in line]
    assert len(grey) == 4
    assert all("not visited" in line for line in grey)


def test_tree_as_json() -> None:
    """Each position with its window; infinite bounds are missing."""
    found = ask("tree", "--name=s1")
    assert (found["value"], found["best"], found["leaves"]) == (2, "B1", 5)
    b1, b2 = found["root"]["branches"]
    a4 = b1["branches"][1]
    assert (a4["name"], a4["value"], a4["exact"], a4["side"]) == ("A4", 1, False, "min")
    assert (a4["alpha"], a4["beta"], a4["cut_off"]) == (2, None, True)
    assert [leaf["visited"] for leaf in a4["branches"]] == [True, False]
    assert b2["branches"][1] == {"name": "A6", "visited": False, "value": None}


# -- tic-tac-toe --------------------------------------------------------------------


def test_two_players_draw() -> None:
    """The same seed, the same game; it is shown move by move."""
    found = ask("tictactoe", "--watch", "--seed=1")
    assert found == ask("tictactoe", "--watch", "--seed=1")
    assert found["winner"] is None
    assert sorted(found["moves"]) == list(range(1, 10))
    text = tell("tictactoe", "--watch", "--seed=1")
    assert text.count(" plays ") == 9
    assert text.startswith(f"x plays {found['moves'][0]}\n")
    assert text.endswith("a draw\n")


def test_a_person_plays() -> None:
    """Cells come from the input; what is none is refused in a line, and asked for again."""
    typed = "0\nfive\n5\n5\n" + "".join(f"{cell}\n" for cell in (1, 2, 3, 4, 6, 7, 8, 9)) * 2
    text = tell("tictactoe", "--seed=1", typed=typed)
    assert text.startswith("1 2 3\n4 5 6\n7 8 9\n")
    assert '"0" is no free cell; type one of 1 2 3 4 5 6 7 8 9' in text
    assert '"five" is no free cell' in text
    assert '"5" is no free cell' in text
    assert "x plays 5" in text
    assert text.splitlines()[-1] in {"a draw", "o wins"}


def test_a_person_plays_for_a_script() -> None:
    """The board and the questions stay off the output."""
    typed = "".join(f"{cell}\n" for cell in range(1, 10)) * 3
    found = ask("tictactoe", "--seed=1", typed=typed)
    board = Board.from_moves((cell - 1 for cell in found["moves"]), TIC_TAC_TOE)
    assert board.is_over
    assert board.winner is not Color.BLACK
    assert found["winner"] == (board.winner and board.winner.symbol)
    assert found["moves"][0] == 1


def test_input_that_ends_is_told_of() -> None:
    """Where nobody can type, the message says what else to do."""
    with pytest.raises(CommandError, match="add --watch"):
        learn("tictactoe")


# -- 2048 ---------------------------------------------------------------------------


def test_2048_is_told_in_lines() -> None:
    """A line a slide, then the grid; the same seed, the same game."""
    text = tell("2048", "--moves=4", "--seed=1")
    assert text == tell("2048", "--moves=4", "--seed=1")
    lines = text.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["1", "2", "3", "4"]
    assert "4 plies" in lines[0]
    assert lines[-1].startswith("stopped after 4 slides; the largest tile is ")


def test_2048_as_json() -> None:
    """The grid at the end, and what stands on it."""
    found = ask("2048", "--moves=6", "--seed=2")
    tiles = [tile for row in found["grid"] for tile in row]
    assert (found["moves"], found["over"]) == (6, False)
    assert len(found["grid"]) == SIDE
    assert (max(tiles), sum(tiles)) == (found["largest"], found["sum"])


def test_2048_is_live_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One grid is drawn over the other."""
    screen = Console(force_terminal=True, highlight=False, file=StringIO(), width=80)
    monkeypatch.setattr(meijin.cli.commands.learn.twenty48, "console", screen)
    learn("2048", "--moves=3", "--seed=1")
    assert isinstance(screen.file, StringIO)
    drawn = screen.file.getvalue()
    assert "\x1b[1A" in drawn
    assert "3: up" in drawn


def test_2048_ends_when_no_slide_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ply ahead, so that it doesn't take long."""
    monkeypatch.setattr(meijin.cli.commands.learn.twenty48, "search", lambda grid: search(grid, 1))
    assert ask("2048", "--seed=1")["over"] is True
    assert "over after" in tell("2048", "--seed=1").splitlines()[-1]


# -- gomoku -------------------------------------------------------------------------


def test_gomoku_counts() -> None:
    """Pruning saves, order saves more, and the marks are those of minimax's number."""
    one, two = ask("gomoku", "--near")["depths"]
    assert (one["depth"], two["depth"]) == (1, 2)
    nodes = {name: run["nodes"] for name, run in two["searches"].items()}
    assert nodes["ordered"] < nodes["random"] < nodes["scan"] < nodes["minimax"]
    assert two["square_root"] == pytest.approx(nodes["minimax"] ** 0.5, abs=0.1)
    assert two["three_quarters"] == pytest.approx(nodes["minimax"] ** 0.75, abs=0.1)
    assert two["bound"] == fewest_leaves(two["branching"], 2) == 2 * two["branching"] - 1
    assert {run["leaves"] for run in one["searches"].values()} == {one["branching"]}


def test_gomoku_at_full_width() -> None:
    """All 215 empty cells are tried."""
    found = ask("gomoku", "--depth=1")
    assert found["near"] is False
    assert [row["branching"] for row in found["depths"]] == [215]


def test_gomoku_in_tables() -> None:
    """Positions and seconds, a line a depth."""
    text = tell("gomoku", "--near")
    assert text.startswith("Positions visited")
    assert "Seconds" in text
    assert len([line for line in text.splitlines() if line.lstrip().startswith("2 ")]) == 2


def test_minimax_is_left_out_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number is then an estimate, in brackets."""
    monkeypatch.setattr(meijin.cli.commands.learn.gomoku, "MOST_POSITIONS", 100)
    two = ask("gomoku", "--near")["depths"][1]
    assert "minimax" not in two["searches"]
    assert two["square_root"] == two["branching"]
    assert f"(~{two['branching'] ** 2:,})" in tell("gomoku", "--near")


# -- all of them --------------------------------------------------------------------


@pytest.mark.parametrize("words", ["2048 --seed=1", "gomoku --depth=3"])
def test_ctrl_c_ends_quietly(processes: Processes, words: str) -> None:
    """With status 130, and not a word on standard error."""
    process = processes.start("learn", "learn", *words.split())
    if words.startswith("2048"):
        eventually(lambda: process.has_said("1: "))
    else:
        eventually(lambda: is_busy(process.pid))
    assert process.stop(signal.SIGINT) == 130
    assert "Traceback" not in process.words
    assert "meijin:" not in process.words
    assert "Aborted" not in process.words


def is_busy(pid: int) -> bool:
    """Whether a process has used the processor for two seconds: it searches by then."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(ticks) > 2 * os.sysconf("SC_CLK_TCK")


def test_output_can_be_piped(processes: Processes) -> None:
    """Without a terminal nothing but text is printed."""
    done = processes.run("learn", "tree")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
