import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.processes import Processes, eventually
from typer.testing import CliRunner

import meijin.cli.learn
from meijin.bots.reference import fewest_leaves
from meijin.cli.main import app


def tell(*words: str) -> str:
    words = ("learn", *words)
    done = CliRunner().invoke(app, words, env={"COLUMNS": "120"}, catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def ask(*words: str) -> dict[str, Any]:
    """What a command answers with ``--json``: one object, and nothing else on its output."""
    (line,) = tell(*words, "--json").splitlines()
    found = json.loads(line, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    return found


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


def test_minimax_is_left_out_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number is then an estimate, in brackets."""
    monkeypatch.setattr(meijin.cli.learn, "MOST_POSITIONS", 100)
    two = ask("gomoku", "--near")["depths"][1]
    assert "minimax" not in two["searches"]
    assert two["square_root"] == two["branching"]
    assert f"(~{two['branching'] ** 2:,})" in tell("gomoku", "--near")


def is_busy(pid: int) -> bool:
    """Whether a process has used the processor for two seconds: it searches by then."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(ticks) > 2 * os.sysconf("SC_CLK_TCK")


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    """With status 130, and not a word on standard error."""
    processes = Processes(tmp_path)
    process = processes.start("learn", "learn", "gomoku", "--depth=3")
    try:
        eventually(is_busy, process.pid)
        assert process.stop(signal.SIGINT) == 130
    finally:
        processes.kill_all()
    assert not any(word in process.words for word in ("Traceback", "meijin:", "Aborted"))
