"""Backups by command: taken while bots play, and restored under a new server."""

import re
import shutil
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

import pytest
from tests.system.processes import BOTS, NO_LADDER, Processes, Server, eventually

from meijin.v1.tournament_service_pb2 import TOURNAMENT_STATE_FINISHED

if TYPE_CHECKING:
    from tests.system.conftest import Books

PLANNED = 18
DELAY = 0.05
"""Seconds to a move: some ten for all games, and a command takes two to begin on a busy core."""


def test_games_go_on_from_a_backup(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """A backup that is taken during play is opened by a new server, which plays the rest.

    What was told before it was taken stands, in games that had ended and in those that ran.
    """
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*BOTS, delay=DELAY)
    key = server.create_tournament(*BOTS, rounds=6)
    eventually(partial(books.are_under_way, 3))
    told = [Path(shutil.copy(processes.journal(bot), processes.folder / bot)) for bot in BOTS]
    taken = processes.run("backup", f"--data={server.data}")
    assert taken.returncode == 0, taken.stderr
    (copy,) = re.findall(
        r"^backed up [\d.]+ MB to (\S+), and checked it$", taken.stdout, re.MULTILINE
    )
    assert Path(copy).parent == server.data / "backups"
    kept = open_books(f"sqlite:///{copy}")
    assert 3 <= kept.finished() < PLANNED
    assert kept.running()
    kept.database.close()
    eventually(partial(books.are_under_way, 6))
    assert server.process.stop(SIGTERM) == 0
    books.database.close()
    restored = processes.run("restore", copy, f"--data={server.data}")
    assert restored.returncode == 0, restored.stderr
    assert re.fullmatch(
        rf"restored {copy} to {server.data}/meijin\.db; what was there is \S+\n", restored.stdout
    )
    assert [path.name for path in server.data.glob("*-moves")] == [
        path.name for path in server.data.glob("meijin.db.replaced-*Z-moves")
    ]
    server.start()
    eventually(lambda: server.tournament(key).tournament.state == TOURNAMENT_STATE_FINISHED)
    played = open_books(server.database_url)
    played.assert_each_planned_game_was_played_once(PLANNED)
    for journal in told:
        played.assert_holds(journal)


def test_a_running_server_is_not_replaced(processes: Processes) -> None:
    """One line says so; a server that was killed is no hindrance."""
    server = Server(processes, "--open", NO_LADDER)
    copy = processes.folder / "copy.db"
    assert processes.run("backup", f"--data={server.data}", f"--to={copy}").returncode == 0
    restore = partial(processes.run, "restore", str(copy), f"--data={server.data}")
    refused = restore()
    assert refused.returncode == 1
    assert refused.stderr == f"meijin: another server is running on {server.data}; stop it first\n"
    server.process.stop(SIGKILL)
    assert restore().returncode == 0
    server.start()
    assert processes.run("restore", str(copy), "--data=trial").returncode == 0
    assert stat.S_IMODE((processes.folder / "trial").stat().st_mode) == 0o700


def test_backups_are_taken_by_themselves(processes: Processes) -> None:
    """The newest are kept, and the log names each."""
    server = Server(processes, "--open", NO_LADDER, "--backup-every=0.5", MEIJIN_BACKUP_KEEP="2")
    eventually(lambda: server.process.has_said('"event": "backed up"', times=4))
    left = list((server.data / "backups").glob("meijin-*.db"))
    assert 1 <= len(left) <= 3
    assert server.process.stop(SIGTERM) == 0


POSTGRESQL = "--database=postgresql://meijin:secret@db/meijin"
HIDDEN = "postgresql://meijin:***@db/meijin"
ELSEWHERE = "the database is on a PostgreSQL server; run: "


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("backup", "--data=none"), "there is no database {}/none/meijin.db; give the server's"),
        (
            ("restore", "none.db"),
            "there is no none.db; name a backup, such as one in meijin-data/backups",
        ),
        (("restore", "here.db"), "can't restore here.db: file is not a database"),
        (
            ("backup", POSTGRESQL),
            f"{ELSEWHERE}pg_dump --format=custom --file=meijin.dump {HIDDEN}",
        ),
        (
            ("restore", "here.db", POSTGRESQL),
            f"{ELSEWHERE}pg_restore --clean --if-exists --dbname={HIDDEN} meijin.dump",
        ),
        (
            ("serve", "--backup-every=60", POSTGRESQL),
            "backup_every: the database is PostgreSQL's; have a timer run pg_dump",
        ),
    ],
)
def test_refusals_are_one_line(processes: Processes, words: tuple[str, ...], message: str) -> None:
    """Each says what to do."""
    (processes.folder / "here.db").write_text("no database, but some words in a row")
    done = processes.run(*words)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("meijin: " + message.format(processes.folder)), line
