"""`meijin play`: the games of a worker, whatever becomes of it."""

import json
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.processes import Process, Processes, children_of, eventually, processes_of
from tests.system.books import Books
from tests.system.screen import terminal
from tests.system.server import Server

from meijin.ladder.refresh import refresh
from meijin.server.views.tallies import TournamentTally
from meijin.store import Database
from meijin.store.ladders.runs import standings
from meijin.store.schema import Bot, BotId, LadderId, TournamentId
from meijin.store.tournaments.listing import get_tournament
from meijin.worker.cores import cores

SEARCHES = {
    "ada": ("alphabeta", "nodes=50"),
    "bob": ("alphabeta", "nodes=400"),
    "cyd": ("mcts", "playouts=32"),
}
TERMS = ("--seed=5", "--time=60/move", "--games=4")
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
    """Move by move: nothing but the way that a turn takes is different.

    So the crosstables are equal, and the ladders.
    """
    sides = [f"{bot}:{option} name={name}" for name, (bot, option) in SEARCHES.items()]
    processes.tell("play", *sides, *TERMS, "--rated", *FILES)
    for name, (bot, option) in SEARCHES.items():
        where = (f"--name={name}", f"--server={server.address}")
        processes.start(name, "bot", "run", bot, f"--option={option}", *where)
    eventually(lambda: server.connected_bots() >= SEARCHES.keys())
    server.tell("tournament", "run", *SEARCHES, *TERMS)
    by_network = server.books
    by_worker = Books(f"sqlite:///{processes.folder / 'mine' / 'meijin.db'}")
    with closing(by_worker.database):
        assert len(moves_of(by_worker)) == 12
        assert moves_of(by_worker) == moves_of(by_network)
        table, ratings = crosstable(by_worker.database), ladder(by_worker.database)
        assert (len(table), ratings.keys()) == (6, SEARCHES.keys())
        assert table == crosstable(by_network.database)
        assert ratings == ladder(by_network.database)


def moves_of(books: Books) -> dict[int, tuple[str, str, bytes]]:
    """The names and moves of games, by their places in the schedule."""
    return {game.pairing_id: (game.black, game.white, game.moves) for game in books.games()}


def crosstable(database: Database) -> dict[tuple[str, str], tuple[int, ...]]:
    """The games that the first of two bots has won, drawn and lost against the second."""
    row = database.read(get_tournament, tournament_id=TournamentId(1))
    found = database.read(TournamentTally().at, row=row).crosstable
    bots = database.read(lambda at: at.execute(select(Bot.id, Bot.name)).all())
    names = {row.id: row.name for row in bots}
    table = {}
    for first, second, scored in zip(found.firsts, found.seconds, found.scores, strict=True):
        pair = names[BotId(int(first))], names[BotId(int(second))]
        score = tuple(scored.tolist())
        table[pair], table[pair[::-1]] = score, score[::-1]
    return table


def ladder(database: Database) -> dict[str, Any]:
    """Each bot's rank, rating, margin and score by colours."""
    refresh(database, LadderId(1))
    table = database.read(standings, ladder_id=LadderId(1)).standings
    return {
        line.bot: (
            line.rank,
            pytest.approx(line.elo),
            pytest.approx(line.margin),
            line.as_black,
            line.as_white,
        )
        for line in table
    }


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


@on_linux
def test_what_ctrl_c_leaves_is_told(processes: Processes) -> None:
    """By the terminal's own: where the match stands, and how it goes on."""
    with terminal(processes, 80, *LONG, "--data=mine") as opened:
        opened.wait_for("game 4 ")
        opened.type("\x03")
        assert opened.wait() == 1
        shown = " ".join(opened.screen.lines)
    assert "alphabeta against random: " in shown
    assert "interrupted; the same command goes on with what is in mine" in shown
    eventually(lambda: not processes_of(processes.folder))


@on_linux
def test_a_pinned_game_keeps_to_a_core(processes: Processes) -> None:
    """With both of its sides, and each game at once to another one, where there are as many."""
    usable = cores()
    match = processes.start("pinned", *LONG, *FILES, "--pin", f"--concurrency={len(usable)}")
    path = processes.folder / "games.jsonl"
    eventually(lambda: path.exists() and path.read_text().count("\n") > 3)
    worker = worker_of(match)
    slots = [pid for pid in children_of(worker) if os.getpgid(pid) == os.getpgid(worker)]
    kept = [os.sched_getaffinity(pid) for pid in slots]
    assert sorted(map(sorted, kept)) == [[core] for core in usable]
    match.stop(signal.SIGINT)
