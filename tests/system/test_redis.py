"""Redis and the worker outside of the server, killed and away: only the ladder waits."""

import os
from collections.abc import Callable
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from meijin.server.embedded import EmbeddedValkey

if TYPE_CHECKING:
    from tests.system.conftest import Books, Process, Processes, Server

BOTS = ("ada", "grace", "edsger")
NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""


def start_worker(processes: "Processes", server: "Server", redis: str, *, sweep: float) -> "Process":
    """Start a `meijin worker` beside a server."""
    database = f"--database=sqlite:///{server.data}/meijin.db"
    return processes.start("worker", "worker", database, f"--redis={redis}", f"--sweep={sweep}")


def test_killed_worker_and_redis_cost_no_game(
    serve: "Callable[..., Server]",
    processes: "Processes",
    open_books: "Callable[[str], Books]",
    eventually: Callable[..., None],
) -> None:
    """Jobs reach a worker of its own; both it and Redis are killed, and the ladder catches up."""
    with EmbeddedValkey(processes.folder / "valkey") as valkey:
        server = serve("--open", f"--redis={valkey.url}")
        books = open_books(f"sqlite:///{server.data}/meijin.db")
        worker = start_worker(processes, server, valkey.url, sweep=NEVER)
        eventually(lambda: "worker started" in worker.words)
        for bot in BOTS:
            processes.start_bot(bot, server.address)
        eventually(lambda: server.connected_bots() == set(BOTS))
        server.create_tournament(*BOTS, rounds=16)
        eventually(lambda: "ladder published" in worker.words)

        worker.kill()
        eventually(lambda: books.finished() >= 12)
        assert valkey.pid is not None
        os.kill(valkey.pid, SIGKILL)
        eventually(lambda: valkey.poll() is not None)
        worker = start_worker(processes, server, valkey.url, sweep=1)
        eventually(lambda: "no Redis" in worker.words and "no Redis" in server.process.words)
        eventually(lambda: books.finished() >= 30)
        valkey.restart()
        eventually(lambda: not books.tournaments_running())
        eventually(lambda: "Redis is back" in worker.words)
        eventually(server.has_current_ladder)
        books.assert_each_planned_game_was_played_once(48)
        books.assert_ladder_is_what_the_games_give()
        assert worker.stop(SIGTERM) == 0
        assert "Traceback" not in worker.words + server.process.words


def test_without_redis_the_worker_finds_the_games_itself(
    serve: "Callable[..., Server]",
    processes: "Processes",
    open_books: "Callable[[str], Books]",
    eventually: Callable[..., None],
) -> None:
    """A Redis that never answers holds up neither games nor ladder."""
    nowhere = f"unix://{processes.folder}/no-redis.sock"
    server = serve("--open", f"--redis={nowhere}")
    books = open_books(f"sqlite:///{server.data}/meijin.db")
    worker = start_worker(processes, server, nowhere, sweep=0.5)
    for bot in BOTS:
        processes.start_bot(bot, server.address)
    eventually(lambda: server.connected_bots() == set(BOTS))
    server.create_tournament(*BOTS, rounds=4)
    eventually(lambda: not books.tournaments_running())
    eventually(server.has_current_ladder)
    books.assert_each_planned_game_was_played_once(12)
    books.assert_ladder_is_what_the_games_give()
    assert server.process.words.count("no Redis") == 1
    assert worker.stop(SIGTERM) == 0
    assert server.process.stop(SIGTERM) == 0
