"""`meijin demo`: the whole arena, from the first process to the last."""

import os
import re
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import Processes, eventually, processes_of
from tests.system.test_web import look

BOTS = ("random", "alphabeta", "mcts")
QUICK = "--time=0.05/move"
"""Equal bots may need a hundred moves and more for a game, too many at half a second each."""
LATE = """
import time
from meijin.cli.demo import command as demo
from meijin.cli.main import main
make = demo.make_tournament
def make_tournament(*words):
    made = make(*words)
    time.sleep(3)
    return made
demo.make_tournament = make_tournament
main()
"""
"""A demo on a busy machine: games end before it looks at them."""


def finished_games(data: Path) -> int:
    """The games with a result in a demo's database, which holds no others."""
    with closing(sqlite3.connect(data / "meijin.db")) as database:
        states = [state for (state,) in database.execute("SELECT state FROM game")]
    assert set(states) == {"finished"}
    return len(states)


def test_two_demos_in_one_folder(processes: Processes) -> None:
    """Each tells its games and prints crosstable and ladder; nothing runs on."""
    data = processes.folder / "demo-data"
    words = ("demo", f"--data={data}", QUICK)
    first = processes.start_command("first", sys.executable, "-c", LATE, *words)
    assert first.wait() == 0, first.words
    crosstable, _, ladder = first.words.partition("Ladder freestyle-15x15-ultrabullet")
    for bot in BOTS:
        assert bot in crosstable
        assert bot in ladder
    assert {"Elo", "W-D-L", "score", "faults"} <= set(ladder.split())
    assert str(data / "meijin.db") in first.words
    assert len(re.findall(r"^game .* plies$", first.words, re.MULTILINE)) == 6
    assert first.words.count("\n  meijin ") == 4
    assert finished_games(data) == 6
    assert processes_of(processes.folder) == set()

    assert set(processes.ask(*words, "--rounds=1")) == {"tournament", "ladder"}
    assert finished_games(data) == 3
    assert processes_of(processes.folder) == set()


@pytest.mark.parametrize("moment", ["a server and three bots", "connected as random", " plies"])
def test_ctrl_c_stops_everything(processes: Processes, moment: str) -> None:
    """While it starts, when the bots come, or after the first game."""
    data = processes.folder / "demo-data"
    demo = processes.start("demo", "demo", f"--data={data}", QUICK)
    logs = (demo.log, data / "random.log")
    eventually(lambda: any(moment in log.read_text() for log in logs if log.exists()))
    assert demo.stop(signal.SIGINT) not in {0, -signal.SIGINT}
    assert processes_of(processes.folder) == set()
    assert "Traceback" not in demo.words
    assert "goes on" not in demo.words


def test_a_killed_demo_takes_everything_along(processes: Processes) -> None:
    """Its server, its bots and their supervisor end by themselves."""
    data = processes.folder / "demo-data"
    demo = processes.start("demo", "demo", f"--data={data}", QUICK)
    log = data / "random.log"
    eventually(lambda: log.exists() and "connected as random" in log.read_text())
    assert len(processes_of(processes.folder)) >= 5
    os.kill(demo.pid, signal.SIGKILL)
    eventually(lambda: processes_of(processes.folder) == set())


def test_a_demo_says_where_to_look_and_stays(processes: Processes) -> None:
    """Its pages are there while it plays, and after that until Ctrl-C."""
    options = ("--time=0.05/move", "--rounds=1", "--stay", "--web=127.0.0.1:0")
    demo = processes.start("demo", "demo", *options)
    demo.wait_for("Ctrl-C stops it")
    found = re.search(r"look at (\S+) meanwhile", demo.words)
    assert found is not None, demo.words
    assert "alphabeta" in look(found[1])
    assert demo.stop(signal.SIGINT) == 0
    assert "What to try next:" in demo.words
