"""`meijin play`: the games of a worker, whatever becomes of it."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.processes import Process, Processes, children_of, eventually, processes_of
from tests.system.server import Server

SEARCHES = ("alphabeta:nodes=200", "mcts:playouts=32")
TERMS = ("--games=4", "--seed=5", "--time=60/move", "--quiet")
LONG = ("play", "alphabeta:nodes=200", "random", "--games=200", "--seed=5", "--time=60/move")
FILES = ("--quiet", "--data=mine", "--games-to=games.jsonl")

on_linux = pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")


def games_of(path: Path) -> dict[int, tuple[str, ...]]:
    """The names and moves of the games of a file, by their rounds."""
    games = [json.loads(line) for line in path.read_text().splitlines()]
    found = {
        game["round"]: (
            game["black"]["name"],
            game["white"]["name"],
            *(move["cell"] for move in game["moves"]),
        )
        for game in games
    }
    assert len(found) == len(games)
    return found


def begun(processes: Processes) -> Process:
    """A match of which some games are over."""
    path = processes.folder / "games.jsonl"
    match = processes.start("match", *LONG, *FILES)
    eventually(lambda: path.exists() and path.read_text().count("\n") > 3)
    return match


def worker_of(match: Process) -> int:
    """The process that plays its games."""
    (found,) = (
        pid
        for pid in children_of(match.pid)
        if b"meijin.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    return found


def test_a_worker_plays_what_bots_of_a_server_play(processes: Processes, server: Server) -> None:
    """Move by move: nothing but the way that a turn takes is different."""
    processes.tell("play", *SEARCHES, *TERMS, "--games-to=worker.jsonl")
    names = [search.split(":")[0] for search in SEARCHES]
    for name, search in zip(names, SEARCHES, strict=True):
        option = f"--option={search.split(':')[1]}"
        processes.start(name, "bot", "run", name, option, f"--server={server.address}")
    eventually(lambda: server.connected_bots() >= set(names))
    server.tell("match", *names, *TERMS, "--games-to=network.jsonl")
    by_worker, by_network = (
        games_of(processes.folder / f"{way}.jsonl") for way in ("worker", "network")
    )
    assert len(by_worker) == 4
    assert by_worker == by_network


@on_linux
def test_a_killed_worker_is_started_again(processes: Processes) -> None:
    """No game is lost, and none is played twice."""
    match = begun(processes)
    os.kill(worker_of(match), signal.SIGKILL)
    assert match.wait() == 0, match.words
    assert match.has_said("the worker ended, killed by SIGKILL; it is started again")
    assert set(games_of(processes.folder / "games.jsonl")) == set(range(1, 201))


@on_linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_a_match_that_is_ended_leaves_nothing_running(
    processes: Processes, number: signal.Signals
) -> None:
    """And the same command goes on with it."""
    match = begun(processes)
    assert match.stop(number) != 0
    eventually(lambda: not processes_of(processes.folder))
    before = games_of(processes.folder / "games.jsonl")
    told = processes.ask(*LONG, "--data=mine", "--quiet", "--games-to=rest.jsonl")
    assert told["tournament"]["finished_games"] == 200
    rest = games_of(processes.folder / "rest.jsonl")
    assert {game: rest.get(game, moves) for game, moves in before.items()} == before
    assert set(before) | set(rest) == set(range(1, 201))
