"""Prometheus's view of a real server while bots play."""

from signal import SIGTERM
from typing import TYPE_CHECKING

from tests.system.processes import BOTS, Processes, Server, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.system.conftest import Books


def test_a_match_is_seen_by_prometheus(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Games and moves are those of the database, and the ladder is seen to follow."""
    server = Server(processes, "--open", "--metrics=127.0.0.1:0")
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=2)
    eventually(lambda: server.scrape()["meijin_games_running"] > 0)
    assert server.scrape()["meijin_bots_connected"] == 3
    eventually(lambda: server.scrape().get("meijin_games_ended_total") == 6)
    seen = server.scrape()
    moves = sum(len(game.moves) // 2 - game.opening_plies for game in books.games())
    assert seen["meijin_moves_total"] == moves
    assert seen["meijin_journal_batch_moves_sum"] == moves - 6  # the others came with the ends
    assert seen["meijin_calls_total"] > 0
    assert seen["process_resident_memory_bytes"] > 0
    eventually(lambda: server.scrape().get("meijin_refresh_jobs_queued") == 0)
    assert server.process.stop(SIGTERM) == 0


def test_a_taken_port_ends_the_server(processes: Processes) -> None:
    """In one line, which names the port."""
    server = Server(processes, "--open")
    taken = f"--metrics={server.address}"
    other = processes.start("other", "serve", "--listen=127.0.0.1:0", "--data=other", taken)
    assert other.wait() == 1
    last = other.words.splitlines()[-1]
    assert last.startswith(f"meijin: can't serve metrics on {server.address}: ")
    assert "Traceback" not in other.words
