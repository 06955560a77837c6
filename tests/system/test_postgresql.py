"""PostgreSQL stops in the middle of a tournament: games wait, and nothing is lost."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL
    from tests.system.conftest import Books, Processes, Server

BOTS = ("ada", "grace", "edsger")
OUTAGE = 3.0
"""Seconds; longer than a bot may take for a move."""


def test_games_wait_for_a_crashed_postgresql(
    serve: "Callable[..., Server]",
    processes: "Processes",
    open_books: "Callable[[str], Books]",
    eventually: Callable[..., None],
    postgresql: "PostgreSQL",
) -> None:
    """It crashes twice; no clock runs meanwhile, and a second server still finds no room."""
    url = postgresql.new_database()
    server = serve("--open", f"--database={url}")
    books = open_books(url)
    for bot in BOTS:
        processes.start_bot(bot, server.address)
    eventually(lambda: server.connected_bots() == set(BOTS))
    server.create_tournament(*BOTS, rounds=10, time="2/move")
    for finished in (4, 14):
        eventually(lambda least=finished: books.finished() >= least and books.running())
        waits = server.process.words.count("games wait")
        postgresql.stop("immediate")
        try:
            eventually(lambda count=waits: server.process.words.count("games wait") > count)
            time.sleep(OUTAGE)
        finally:
            postgresql.start()
        assert books.running()
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(30)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    eventually(server.has_current_ladder)
    books.assert_ladder_is_what_the_games_give()
    second = processes.run("serve", "--listen=127.0.0.1:0", "--data=other", f"--database={url}")
    assert second.returncode == 1
    assert "another server is running" in second.stderr
