"""Another server takes the database over: the first one ends, and nothing that was told is lost."""

from pathlib import Path
from signal import SIGCONT, SIGSTOP

from sqlalchemy import text
from tests.processes import Process, Processes, eventually
from tests.system.server import BOTS, NO_LADDER, Server

from meijin.store import Database
from meijin.store.database import database_file

FENCED = 75
"""The exit status of a server that was replaced."""

TOLD = ("the server stops", "this server ends", "the server is stopping")
"""To a stream that is open, and to bots that lost theirs while the server was halted: one who comes
in before it has seen that it is fenced off, and one who comes in after."""

END_OTHERS = text(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def start_second(server: Server, url: str) -> Process:
    """Start a server on the database of a first one, which loses its lock without noticing."""
    path = database_file(url)
    words = ("serve", "--open", NO_LADDER, "--listen=127.0.0.1:0", "--data=other")
    if path is not None:
        Path(f"{path}.lock").unlink()
    else:
        server.process.send(SIGSTOP)
        with Database(url) as database:
            database.read(lambda at: at.execute(END_OTHERS).all())
    second = server.processes.start("second", *words, f"--database={url}")
    second.wait_for("is listening on")
    if path is None:
        server.process.send(SIGCONT)
    return second


def test_a_server_that_was_replaced_ends(processes: Processes, any_database_url: str) -> None:
    """In one line, with a status of its own; its bots go on where they are told the truth."""
    server = Server(processes, "--open", NO_LADDER, f"--database={any_database_url}")
    bots = server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=4)
    eventually(server.books.are_under_way, 3)
    second = start_second(server, any_database_url)
    assert server.process.wait() == FENCED
    assert "Traceback" not in server.process.words
    last = server.process.words.splitlines()[-1]
    assert last.startswith("meijin: another server, ")
    assert "has taken this database over (epoch 2, this one's was 1)" in last
    assert second.stop() == 0
    server.start()
    server.assert_all_is_played(12)
    assert any(words in bot.words for bot in bots for words in TOLD)
