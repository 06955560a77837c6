"""Every benchmark runs on a small load and ends with its results as one JSON object."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import Processes
from tests.programs.sandbox.laboratory import skip_without
from tests.system.server import Server
from tests.system.test_web import pages_of
from tests.web.browser.chromium import MISSING, executable

from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SMALL = {
    "arbitration": "--games 6 --bots 3 --durability process --seconds 0.3 --echo-seconds 0.2",
    "bridge": "--plies 20 --games",
    "compare": "--bots 2 --games 4 --durability process --concurrency 1 --seconds 0.2 --repeat 1",
    "copied_bots": "--classes 2 --bots 6 --openings 2 --plies 4 --processes 1",
    "curves": "--only look --connected 4,40 --repeat 1",
    "deadline": "--searches 2 --limits 20",
    "explorer": "--games 60",
    "fouls": "--positions 5 --repeat 1",
    "game_memory": "--games 20 --plies 10",
    "grading": "--students 10 --games 8 --worlds even --advantages 200",
    "headlines": "--depth 2",
    "hellos": "--hellos 3 --games 2",
    "hostile": "--seconds 1 --base 1 --only pongs",
    "idle": "--bots 3 --seconds 0.2",
    "idle_games": "--games 10 200 --seconds 5",
    "interval_coverage": "--pools 1 --only collusion dice-matchmaker",
    "ladder": "--sizes 10x200 --jobs 3x20 --days 2 --repeat 1",
    "latency": "--plies 40",
    "large_pools": "--versions 60 --joint 20 --pools 1",
    "lineage": "--ladders 1 --processes 1",
    "load": "--seconds 2 --bots 20 --games 4",
    "pairing_race": "--seeds 1 --most 200 --processes 1",
    "prediction": "--sets constant --folds 2 --repeats 1 --processes 1",
    "refreshing": "--stored 60 --bots 10 --runs 1",
    "runner": "--think 0,1 --concurrency 1 --seconds 0.1 --repeat 1",
    "scheduler": "--bots 2 20 --tournaments 1 3 --looks 5",
    "self_play": "--games 1 --size 7 --rules freestyle --engines alphabeta",
    "slow_game": "--seconds 2 --looks 2 --games 8",
    "sprt_units": "--runs 1 --most-pairs 40 --worlds order same --processes 1",
    "stages": "--games 3 --plies 4 --repeat 1",
    "stopped_tests": "--runs 4 --bounds 50 --worlds even --truths 1 --processes 1",
    "stopping": "--pools 3 --most 60 --only normal --processes 1",
    "storms": "--runs 1 --count 20 --seconds 1 --kind idle",
    "strength": "alphabeta:level=1 alphabeta:level=2 --games 2 --seconds 0.02 --variant 9x9",
    "time_forfeits": "--seconds 2 --bots 2 --games 1 --burners 0",
    "turns": "--bots 20 --games 20 --stored 100 --repeat 1",
    "web": "--bots 0 --watchers 2 --games 2 --seconds 1 --repeat 1",
}
"""Options by the benchmark's name. `search.py` takes minutes, and `records.py` prints no JSON."""


def results(name: str, *options: str) -> list[dict[str, object]]:
    """What a benchmark measures: the last line has a row at least, and every row a figure."""
    words = [sys.executable, str(FOLDER / f"{name}.py"), *options, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])["results"]
    assert rows
    assert all(any(isinstance(value, int | float) for value in row.values()) for row in rows)
    return rows


@pytest.mark.parametrize("name", SMALL)
def test_small_load(name: str) -> None:
    results(name, *SMALL[name].split())


@pytest.mark.skipif(executable() is None, reason=MISSING)
def test_first_visits(tmp_path: Path) -> None:
    """Of the pages of a server that is there."""
    processes = Processes(tmp_path)
    try:
        server = Server(processes, "--open", "--web=127.0.0.1:0")
        (row,) = results("first_visit", pages_of(server.process), "/", "--repeat=1")
        assert row["requests"]
    finally:
        processes.kill_all()


def test_hosting() -> None:
    """Where this machine can limit programs."""
    skip_without(BubblewrapSandbox().check())
    assert results("hosting", "--starts=1", "--games=1", "--think-ms=0")[0]["whole_ms"]


def test_every_benchmark_is_run() -> None:
    """Every file with a command line and JSON is in the table, or has a test of its own."""
    there = {path.stem for path in FOLDER.glob("*.py") if "parser_of(__doc__)" in path.read_text()}
    assert there - set(SMALL) <= {"search", "install", "first_visit", "hosting"}
