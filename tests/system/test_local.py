"""`meijin match --local` and `meijin demo`: other servers' settings, and twice the same games."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tests.processes import Commands, Processes

LOCAL = (
    ("match", "random", "random", "--local", "--games=2", "--data=mine", "--time=0.05/move"),
    ("demo", "--data=mine", "--time=0.05/move", "--rounds=1"),
)
LIMITED = ("match", "alphabeta:nodes=200", "mcts:playouts=32", "--local", "--games=2", "--seed=5")


@pytest.mark.parametrize("words", LOCAL, ids=["match", "demo"])
@pytest.mark.parametrize("place", ["environment", "file"])
def test_settings_of_another_server(
    processes: Processes, words: tuple[str, ...], place: str
) -> None:
    """What they name stays untouched, and what they ask for is not heard of."""
    folder = processes.folder
    others = {
        "MEIJIN_DATABASE_URL": f"sqlite:///{folder / 'other.db'}",
        "MEIJIN_REDIS_URL": f"unix://{folder / 'other.sock'}",
        "MEIJIN_DATA": str(folder / "other-data"),
        "MEIJIN_GRACE": "never",
        "MEIJIN_SERVER": "127.0.0.1:1",
        "MEIJIN_TOKEN": "secret",
    }
    if place == "file":
        lines = [f"{name}={value}\n" for name, value in others.items()]
        (folder / "meijin.env").write_text("".join(lines))
    Commands(folder, **(others if place == "environment" else {})).tell(*words)
    assert (folder / "mine" / "meijin.db").exists()
    assert not list(folder.glob("other*"))


def games_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def cells(game: dict[str, Any]) -> tuple[str, list[str]]:
    return game["black"]["name"], [move["cell"] for move in game["moves"]]


def test_exported_games_say_what_played_them(processes: Processes) -> None:
    """Of two sides of one bot too, whose options are in their names."""
    sides = ("alphabeta:nodes=200", "alphabeta:nodes=100")
    terms = ("--local", "--games=2", "--seed=5", "--time=60/move", "--games-to=games.jsonl")
    processes.tell("match", *sides, *terms, "--quiet")
    games = games_of(processes.folder / "games.jsonl")
    for black, white in ((game["black"], game["white"]) for game in games):
        assert {black["name"], white["name"]} == set(sides)
        assert all(side["options"] == [side["name"].split(":")[1]] for side in (black, white))
        assert black["digest"] != white["digest"]
        assert black["hardware"] == white["hardware"] != ""
    first, second = games
    given = [[move["cell"] for move in game["moves"][: game["opening_plies"]]] for game in games]
    assert given[0] == given[1] != []
    for game in games:
        told = [game[name] for name in ("pair", "seed", "release")]
        assert told == [1, 5, version("meijin")]
    assert {first["round"], second["round"]} == {1, 2}


def test_limited_searches_play_the_same_games_twice(processes: Processes) -> None:
    """Every game is written as it ends, and what the bots were asked and answered."""
    for run in ("one", "two"):
        files = (f"--games-to={run}.jsonl", f"--log={run}.log")
        told = processes.ask(*LIMITED, "--time=60/move", "--concurrency=1", *files)
        assert told["logs"] == ""
    one, two = (games_of(processes.folder / f"{run}.jsonl") for run in ("one", "two"))
    assert len(one) == 2
    assert list(map(cells, one)) == list(map(cells, two))
    moves = sum(len(game["moves"]) - game["opening_plies"] for game in one)
    lines = (processes.folder / "one.log").read_text().splitlines()
    assert lines == sorted(lines, key=lambda line: line.split()[0])
    words = [line.split() for line in lines]
    assert {line[1] for line in words} == {"alphabeta", "mcts"}
    assert [line[2] for line in words] == ["<", ">"] * moves
