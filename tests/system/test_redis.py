"""Redis and the worker outside of the server, killed: only the ladder waits."""

import os
from signal import SIGKILL

from tests.processes import Process, Processes, eventually
from tests.system.server import BOTS, Server

from meijin.server.process.valkey import EmbeddedValkey

NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""


def start_worker(server: Server, redis: str, *, sweep: float) -> Process:
    words = (f"--database={server.database_url}", f"--redis={redis}", f"--sweep={sweep}")
    return server.processes.start("worker", "worker", *words)


def assert_ladder_follows(server: Server, games: int) -> None:
    server.assert_all_is_played(games)
    eventually(server.has_current_ladder)
    server.books.assert_ladder_is_what_the_games_give()


def test_killed_worker_and_redis_cost_no_game(processes: Processes) -> None:
    """Jobs reach a worker of its own; both it and Redis are killed, and the ladder catches up."""
    with EmbeddedValkey(processes.folder / "valkey") as valkey:
        server = Server(processes, "--open", f"--redis={valkey.url}")
        worker = start_worker(server, valkey.url, sweep=NEVER)
        worker.wait_for("worker started")
        server.start_bots(*BOTS)
        server.create_tournament(*BOTS, rounds=16)
        worker.wait_for("ladder published")

        worker.kill()
        eventually(lambda: server.books.finished() >= 12)
        assert valkey.pid is not None
        os.kill(valkey.pid, SIGKILL)
        eventually(lambda: valkey.poll() is not None)
        worker = start_worker(server, valkey.url, sweep=1)
        worker.wait_for("no Redis")
        server.process.wait_for("no Redis")
        eventually(lambda: server.books.finished() >= 30)
        valkey.stop()
        valkey.start()
        worker.wait_for("Redis is back")
        assert_ladder_follows(server, 48)
        assert worker.stop() == 0
        assert "Traceback" not in worker.words + server.process.words
