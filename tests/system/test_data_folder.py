"""The data folder: closed to others, and refused in one line when it can't be used."""

import stat
from pathlib import Path
from signal import SIGTERM

import pytest
from tests.system.processes import NO_LADDER, Processes, Server


def refusal(processes: Processes, *options: str) -> str:
    """What `meijin serve` says that can't start: the last line; gRPC and the log may speak too."""
    done = processes.run("serve", "--listen=127.0.0.1:0", NO_LADDER, *options)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


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
    assert server.process.stop(SIGTERM) == 0
    server.data.chmod(0o755)
    server.start()
    assert f"chmod 700 {server.data}" in server.process.words


def test_a_damaged_database_is_not_served(processes: Processes) -> None:
    """The line names the newest backup, which is whole; with the check left out it may start."""
    server = Server(processes, NO_LADDER)
    assert server.process.stop(SIGTERM) == 0
    database = server.data / "meijin.db"
    backup = server.data / "backups" / "meijin-20260302T120000Z.db"
    backup.parent.mkdir()
    backup.write_bytes(database.read_bytes())
    whole = database.read_bytes()
    database.write_bytes(whole[:-8192] + b"\xa5" * 8192)
    words = refusal(processes, f"--data={server.data}")
    assert words.startswith(f"meijin: the database {database} is damaged (")
    assert words.endswith(f"the newest backup is {backup}; run: meijin restore {backup}")
    database.write_bytes(b"")
    assert "is damaged (it is empty)" in refusal(processes, f"--data={server.data}")
    database.write_bytes(backup.read_bytes())
    server.start()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--data=taken",), "can't use taken: it is a file, and no folder"),
        (("--data=/sys/meijin",), "can't use /sys/meijin: "),
        (
            ("--data=data", "--database=sqlite:///taken"),
            "taken is damaged (file is not a database)",
        ),
        (("--data=data", "--database=sqlite:///folder"), "folder is a folder"),
        (("--data=data", "--database=sqlite:///none/meijin.db"), "none/meijin.db.lock"),
        (("--data=linked",), "server.lock is a symbolic link"),
    ],
)
def test_what_can_not_be_used_is_refused(
    processes: Processes, options: tuple[str, ...], words: str
) -> None:
    """In a line that names it."""
    folder: Path = processes.folder
    (folder / "taken").write_text("not a database\n" * 1000)
    (folder / "folder").mkdir()
    (folder / "linked").mkdir()
    (folder / "linked" / "server.lock").symlink_to(folder / "taken")
    assert words in refusal(processes, *options)
