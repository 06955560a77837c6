"""Backups by command: taken while bots play, and restored under a new server."""

import re
import shutil
import stat
from contextlib import closing
from pathlib import Path
from signal import SIGKILL

from tests.processes import Processes, eventually
from tests.system.books import Books
from tests.system.server import BOTS, NO_LADDER, Server

PLANNED = 36
DELAY = 0.05
"""Seconds to a move: some twenty for all games, and a command takes two to begin on a busy core."""


def test_games_go_on_from_a_backup(server: Server) -> None:
    """A backup that is taken during play is opened by a new server, which plays the rest.

    What was told before it was taken stands, in games that had ended and in those that ran.
    """
    server.start_bots(*BOTS, delay=DELAY)
    server.create_tournament(*BOTS, rounds=12)
    eventually(server.books.are_under_way, 3)
    told = [Path(shutil.copy(server.journal(bot), server.folder / bot)) for bot in BOTS]
    taken = server.tell("backup")
    (copy,) = re.findall(r"^backed up [\d.]+ MB to (\S+), and checked it$", taken, re.MULTILINE)
    assert Path(copy).parent == server.data / "backups"
    kept = Books(f"sqlite:///{copy}")
    with closing(kept.database):
        assert 3 <= kept.finished() < PLANNED
        assert kept.running()
    eventually(server.books.are_under_way, 6)
    assert server.process.stop() == 0
    server.books.database.close()
    restored = server.tell("restore", copy)
    assert re.fullmatch(
        rf"restored {copy} to {server.data}/meijin\.db; what was there is \S+\n", restored
    )
    assert [path.name for path in server.data.glob("*-moves")] == [
        path.name for path in server.data.glob("meijin.db.replaced-*Z-moves")
    ]
    server.start()
    played = Books(server.database_url)
    with closing(played.database):
        eventually(lambda: not played.tournaments_running())
        played.assert_each_planned_game_was_played_once(PLANNED)
        for journal in told:
            assert list(played.breaches_of(journal)) == []


def test_a_running_server_is_not_replaced(server: Server) -> None:
    """One line says so; a server that was killed is no hindrance."""
    copy = str(server.folder / "copy.db")
    server.tell("backup", f"--to={copy}")
    refused = server.refusal("restore", copy)
    there = f"{server.data} at {server.address}"
    assert refused == f"another server is running on {there}; stop it first"
    server.process.stop(SIGKILL)
    server.tell("restore", copy)
    server.start()
    server.tell("restore", copy, "--data=trial")
    assert stat.S_IMODE((server.folder / "trial").stat().st_mode) == 0o700


def test_backups_are_taken_by_themselves(processes: Processes) -> None:
    """The newest are kept, and the log names each."""
    server = Server(processes, "--open", NO_LADDER, "--backup-every=0.5", MEIJIN_BACKUP_KEEP="2")
    server.process.wait_for('"event": "backed up"', times=4)
    left = list((server.data / "backups").glob("meijin-*.db"))
    assert 1 <= len(left) <= 3
    assert server.process.stop() == 0
