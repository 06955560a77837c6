"""The data folder: closed to others, and refused in one line when it can't be used."""

import stat

from tests.processes import Processes
from tests.system.server import NO_LADDER, Server

SERVE = ("serve", "--listen=127.0.0.1:0", NO_LADDER)


def test_nobody_else_may_look_into_the_folder(processes: Processes) -> None:
    """Nor into any of its files; the lock of one could be taken by whoever can open it."""
    server = Server(processes)
    modes = {path: path.lstat().st_mode for path in (server.data, *server.data.rglob("*"))}
    names = {path.name for path in modes}
    assert names >= {"meijin.db", "meijin.db-wal", "meijin.db-shm", "meijin.db.lock", "server.lock"}
    for path, mode in modes.items():
        if not stat.S_ISLNK(mode):
            assert not mode & 0o077, path
    assert "others may look" not in server.process.words
    assert server.process.stop() == 0
    server.data.chmod(0o755)
    server.start()
    assert f"chmod 700 {server.data}" in server.process.words


def test_a_damaged_database_is_not_served(server: Server) -> None:
    """The line names the newest backup, which is whole; with the check left out it may start."""
    assert server.process.stop() == 0
    database = server.data / "meijin.db"
    backup = server.data / "backups" / "meijin-20260302T120000Z.db"
    backup.parent.mkdir()
    backup.write_bytes(database.read_bytes())
    database.write_bytes(database.read_bytes()[:-8192] + b"\xa5" * 8192)
    words = server.refusal(*SERVE)
    assert words.startswith(f"the database {database} is damaged (")
    assert words.endswith(f"the newest backup is {backup}; run: meijin restore {backup}")
    database.write_bytes(b"")
    assert "is damaged (it is empty)" in server.refusal(*SERVE)
    database.write_bytes(backup.read_bytes())
    server.start()
