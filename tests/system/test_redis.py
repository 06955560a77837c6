"""Redis and the worker outside of the server, killed and away: only the ladder waits."""

import os
from collections.abc import Callable
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from tests.system.processes import BOTS, Process, Processes, Server, eventually

from meijin.server.process.valkey import EmbeddedValkey

if TYPE_CHECKING:
    from tests.system.conftest import Books

NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""


def start_worker(server: Server, redis: str, *, sweep: float) -> Process:
    """Start a `meijin worker` beside a server."""
    words = (f"--database={server.database_url}", f"--redis={redis}", f"--sweep={sweep}")
    return server.processes.start("worker", "worker", *words)


def test_killed_worker_and_redis_cost_no_game(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Jobs reach a worker of its own; both it and Redis are killed, and the ladder catches up."""
    with EmbeddedValkey(processes.folder / "valkey") as valkey:
        server = Server(processes, "--open", f"--redis={valkey.url}")
        books = open_books(server.database_url)
        worker = start_worker(server, valkey.url, sweep=NEVER)
        eventually(lambda: "worker started" in worker.words)
        server.start_bots(*BOTS)
        server.create_tournament(*BOTS, rounds=16)
        eventually(lambda: "ladder published" in worker.words)

        worker.kill()
        eventually(lambda: books.finished() >= 12)
        assert valkey.pid is not None
        os.kill(valkey.pid, SIGKILL)
        eventually(lambda: valkey.poll() is not None)
        worker = start_worker(server, valkey.url, sweep=1)
        eventually(lambda: "no Redis" in worker.words and "no Redis" in server.process.words)
        eventually(lambda: books.finished() >= 30)
        valkey.stop()
        valkey.start()
        eventually(lambda: not books.tournaments_running())
        eventually(lambda: "Redis is back" in worker.words)
        eventually(server.has_current_ladder)
        books.assert_each_planned_game_was_played_once(48)
        books.assert_ladder_is_what_the_games_give()
        assert worker.stop(SIGTERM) == 0
        assert "Traceback" not in worker.words + server.process.words


def test_without_redis_the_worker_finds_the_games_itself(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """A Redis that never answers holds up neither games nor ladder."""
    nowhere = f"unix://{processes.folder}/no-redis.sock"
    server = Server(processes, "--open", f"--redis={nowhere}")
    books = open_books(server.database_url)
    worker = start_worker(server, nowhere, sweep=0.5)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=4)
    eventually(lambda: not books.tournaments_running())
    eventually(server.has_current_ladder)
    books.assert_each_planned_game_was_played_once(12)
    books.assert_ladder_is_what_the_games_give()
    assert server.process.words.count("no Redis") == 1
    assert worker.stop(SIGTERM) == 0
    assert server.process.stop(SIGTERM) == 0


def test_a_servers_own_worker_and_valkey_are_started_again(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Both are killed in the middle of a tournament; the server replaces them and plays on."""
    server = Server(processes, "--open", MEIJIN_SWEEP="0.5")
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=6)
    eventually(lambda: "ladder published" in server.process.words)
    assert server.process.kill_children() == 2
    eventually(lambda: server.process.words.count("worker started") == 2)
    eventually(lambda: not books.tournaments_running())
    eventually(server.has_current_ladder)
    books.assert_each_planned_game_was_played_once(18)
    books.assert_ladder_is_what_the_games_give()
    for process in ("the embedded Valkey ended", "the worker ended"):
        assert server.process.words.count(process) == 1
