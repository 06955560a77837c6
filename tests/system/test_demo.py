"""`meijin demo`: the whole arena, from the first process to the last."""

import json
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.system.processes import NO_LADDER, Processes, Server, eventually, processes_of

BOTS = ("random", "alphabeta", "mcts")
QUICK = "--time=0.05/move"
"""Equal bots may need a hundred moves and more for a game, too many at half a second each."""


def finished_games(data: Path) -> int:
    """The games with a result in a demo's database, which holds no others."""
    with closing(sqlite3.connect(data / "meijin.db")) as database:
        states = [state for (state,) in database.execute("SELECT state FROM game")]
    assert set(states) == {"finished"}
    return len(states)


@pytest.fixture(scope="module")
def played_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo of three games."""
    processes = Processes(tmp_path_factory.mktemp("demo"))
    data = processes.folder / "data"
    done = processes.run("demo", f"--data={data}", QUICK, "--rounds=1")
    assert done.returncode == 0, done.stderr
    return data


@pytest.fixture
def data(processes: Processes, played_folder: Path) -> Path:
    """A copy of such a folder, in the test's own."""
    return Path(shutil.copytree(played_folder, processes.folder / "data"))


def test_two_demos_in_one_folder(processes: Processes) -> None:
    """Each plays a double round robin and prints crosstable and ladder; nothing runs on."""
    data = processes.folder / "demo-data"
    first = processes.run("demo", f"--data={data}", QUICK)
    assert first.returncode == 0, first.stderr
    crosstable, _, ladder = first.stdout.partition("Ladder freestyle-15x15-ultrabullet")
    for bot in BOTS:
        assert bot in crosstable
        assert bot in ladder
    assert {"Elo", "W-D-L", "score", "faults"} <= set(ladder.split())
    assert str(data / "meijin.db") in first.stdout
    games = [line for line in first.stderr.splitlines() if line.startswith("game ")]
    assert len(games) == 6
    assert all(line.endswith(" plies") for line in games)
    assert finished_games(data) == 6
    assert processes_of(processes.folder) == set()

    assert first.stdout.count("\n  meijin ") == 4
    assert "What to try next:" in first.stdout

    second = processes.run("demo", f"--data={data}", QUICK, "--rounds=1", "--json")
    assert second.returncode == 0, second.stderr
    assert set(json.loads(second.stdout)) == {"tournament", "ladder"}
    assert finished_games(data) == 3
    assert processes_of(processes.folder) == set()


@pytest.mark.parametrize("moment", ["a server and three bots", "connected as random", " plies"])
def test_ctrl_c_stops_everything(
    processes: Processes,
    moment: str,
) -> None:
    """While it starts, when the bots come, or after the first game."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    data = processes.folder / "demo-data"
    demo = processes.start("demo", "demo", f"--data={data}", QUICK)
    logs = (demo.log, data / "random.log")
    eventually(lambda: any(moment in log.read_text() for log in logs if log.exists()))
    assert len(processes_of(processes.folder)) >= 1
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


@pytest.mark.smoke
def test_a_folder_of_others_is_left_alone(processes: Processes) -> None:
    """A folder that holds anything but an earlier demo is refused in one line."""
    data = processes.folder / "precious"
    data.mkdir()
    (data / "thesis.tex").write_text("years of work")
    refused = processes.run("demo", f"--data={data}")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert len(refused.stderr.splitlines()) == 1
    assert "give another --data" in refused.stderr
    assert [path.name for path in data.iterdir()] == ["thesis.tex"]


def refused_in_one_line(processes: Processes, data: Path) -> str:
    """The line in which a demo says that it will not use a folder, which it leaves as it is."""
    before = {path: path.read_bytes() for path in data.rglob("meijin.db")}
    refused = processes.run("demo", f"--data={data}", QUICK)
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert "give another --data" in refused.stderr
    assert {path: path.read_bytes() for path in data.rglob("meijin.db")} == before
    return refused.stderr


def test_a_folder_in_use_is_left_alone(processes: Processes, data: Path) -> None:
    """A demo's folder on which a server runs is refused; that goes on, and its end frees it."""
    server = Server(processes, "--open", NO_LADDER)
    assert "another server is running" in refused_in_one_line(processes, data)
    assert len(server.tournament("1").crosstable) == 6
    server.process.stop()
    assert processes.run("demo", f"--data={data}", QUICK, "--rounds=1").returncode == 0


def test_a_folder_that_was_played_on_is_left_alone(processes: Processes, data: Path) -> None:
    """A demo that was served again, and in which another tournament was made, is kept."""
    server = Server(processes, "--open", NO_LADDER)
    server.create_tournament("random", "mcts", rounds=1, variant="15x15")
    server.process.stop()
    assert "holds more than a demo (tournament 2)" in refused_in_one_line(processes, data)


@pytest.mark.parametrize("moment", ["listening", " plies"])
def test_a_demo_that_was_broken_off_is_replaced(processes: Processes, moment: str) -> None:
    """Killed before its tournament or in it, it leaves nothing that is worth keeping."""
    data = processes.folder / "data"
    demo = processes.start("demo", "demo", f"--data={data}", QUICK)
    logs = (demo.log, data / "server.log")
    eventually(lambda: any(moment in log.read_text() for log in logs if log.exists()))
    demo.kill()
    eventually(lambda: processes_of(processes.folder) == set())
    again = processes.run("demo", f"--data={data}", QUICK, "--rounds=1")
    assert again.returncode == 0, again.stderr
    assert finished_games(data) == 3
