"""A local match of two limited searches, played twice."""

import json
from pathlib import Path
from typing import Any

from tests.system.processes import Processes

WORDS = ("match", "alphabeta:nodes=200", "mcts:playouts=32", "--local", "--games=2", "--seed=5")
TERMS = ("--time=60/move", "--json", "--concurrency=1")


def games_of(path: Path) -> list[dict[str, Any]]:
    """The games in a file, a JSON object in a line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def cells(game: dict[str, Any]) -> tuple[str, list[str]]:
    """Who had black, and the moves."""
    return game["black"]["name"], [move["cell"] for move in game["moves"]]


def test_two_runs_give_the_same_games(processes: Processes) -> None:
    """Move by move; every game is written as it ends, and what the bots were asked and answered."""
    for run in ("one", "two"):
        files = (f"--games-to={run}.jsonl", f"--log={run}.log")
        done = processes.run(*WORDS, *TERMS, *files)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["logs"] == ""
    one, two = (games_of(processes.folder / f"{run}.jsonl") for run in ("one", "two"))
    assert len(one) == 2
    assert list(map(cells, one)) == list(map(cells, two))
    moves = sum(len(game["moves"]) - game["opening_plies"] for game in one)
    lines = (processes.folder / "one.log").read_text().splitlines()
    assert lines == sorted(lines, key=lambda line: line.split()[0])
    words = [line.split() for line in lines]
    assert {line[1] for line in words} == {"alphabeta", "mcts"}
    assert [line[2] for line in words] == ["<", ">"] * moves
