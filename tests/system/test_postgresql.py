"""PostgreSQL stops in the middle of a tournament: games wait, and nothing is lost."""

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tests.system.processes import BOTS, Processes, Server, eventually

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL
    from tests.system.conftest import Books

OUTAGE = 3.0
"""Seconds; longer than a bot may take for a move."""


def test_games_wait_for_a_crashed_postgresql(
    processes: Processes, open_books: "Callable[[str], Books]", postgresql: "PostgreSQL"
) -> None:
    """It crashes twice; no clock runs meanwhile, and a second server still finds no room."""
    url = postgresql.new_database()
    server = Server(processes, "--open", f"--database={url}")
    books = open_books(url)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=8, time="2/move")
    for outages, finished in enumerate((4, 12), start=1):
        eventually(partial(books.are_under_way, finished))
        postgresql.stop("immediate")
        try:
            eventually(partial(server.process.has_said, "games wait", outages))
            time.sleep(OUTAGE)
        finally:
            postgresql.start()
        assert books.running()
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(24)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    eventually(server.has_current_ladder)
    books.assert_ladder_is_what_the_games_give()
    second = processes.run("serve", "--listen=127.0.0.1:0", "--data=other", f"--database={url}")
    assert second.returncode == 1
    assert "another server is running" in second.stderr
