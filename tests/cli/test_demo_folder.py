"""The folder of a demo: what is kept, and what makes room for the next one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection

from meijin.cli.demo_folder import MARKER, make_room
from meijin.cli.errors import CommandError
from meijin.game import GOMOKU, TimeControl
from meijin.store import Database, FileClaim
from meijin.store.bots import add_bot
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.segment import log_folder
from meijin.store.schema import FormatName
from meijin.store.tournaments import NewTournament, add_tournament

BOTS = ("ada", "bob")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAMES = {MARKER, "meijin.db", "meijin.db.lock", "server.lock"}

Write = Callable[[Connection], object]


def write(data: Path, *changes: Write) -> None:
    """Make these changes to the database of a folder."""
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        database.migrate()
        for change in changes:
            database.write(change)


def bot(name: str) -> Write:
    """Registers a bot."""
    return lambda sql: add_bot(sql, name, NOON)


def tournament(request_id: str | None) -> Write:
    """Stores a tournament without games, made by a request of this id."""
    plan = NewTournament(
        name="Demo",
        format=FormatName("round-robin"),
        rounds=1,
        seed=1,
        variant=GOMOKU,
        time_control=TimeControl.parse("1/move"),
        max_games=1,
        is_rated=True,
        bots=(),
        schedule=(),
        request_id=request_id,
    )
    return lambda sql: add_tournament(sql, plan, NOON)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a demo that has ended."""
    data = tmp_path / "data"
    write_demo(data, make_room(data, BOTS))
    return data


def write_demo(data: Path, request_id: str) -> None:
    """Leave in a folder what a demo does."""
    write(data, *map(bot, BOTS), tournament(request_id))
    MoveLog(log_folder(data / "meijin.db"), is_synced=False).close()
    (data / "ada.log").write_text("12:00:00 left\n")
    (data / "valkey").mkdir()
    (data / "valkey" / "appendonly.aof").touch()


def test_a_new_folder_is_marked(tmp_path: Path) -> None:
    """With the id of its request, another one each time."""
    first, second = (make_room(tmp_path / name, BOTS) for name in ("first", "second"))
    assert (tmp_path / "first" / MARKER).read_text() == first != second


def test_a_demo_makes_room_for_the_next(data: Path) -> None:
    """Nothing is left of it but the locks."""
    request_id = make_room(data, BOTS)
    assert (data / MARKER).read_text() == request_id
    assert {path.name for path in data.iterdir()} == NAMES - {"meijin.db"}


def test_a_demo_that_was_broken_off_makes_room(tmp_path: Path) -> None:
    """Before it had a database, a table or a tournament."""
    data = tmp_path / "data"
    make_room(data, BOTS)
    make_room(data, BOTS)
    (data / "meijin.db").touch()
    make_room(data, BOTS)
    write(data, bot("ada"))
    make_room(data, BOTS)
    assert not (data / "meijin.db").exists()


@pytest.mark.parametrize(
    ("change", "addition"),
    [
        (tournament("another"), "tournament 2"),
        (tournament(None), "tournament 2"),
        (bot("cyd"), "the bot cyd"),
    ],
)
def test_a_demo_that_was_put_to_more_use_is_kept(data: Path, change: Write, addition: str) -> None:
    """Another tournament or bot is named, and everything is left as it is."""
    write(data, change)
    before = (data / "meijin.db").read_bytes()
    with pytest.raises(CommandError, match=rf"holds more than a demo \({addition}\); give another"):
        make_room(data, BOTS)
    assert (data / "meijin.db").read_bytes() == before
    assert (data / "valkey" / "appendonly.aof").exists()


def test_a_file_of_ones_own_is_kept(data: Path) -> None:
    """Whatever a demo doesn't write is not its to remove."""
    (data / "notes.txt").write_text("what I saw")
    with pytest.raises(CommandError, match=r"holds more than a demo \(notes\.txt\)"):
        make_room(data, BOTS)
    assert (data / "notes.txt").exists()
    assert (data / "meijin.db").exists()


def test_the_log_of_another_bot_is_kept(data: Path) -> None:
    """A demo has logs of its own bots alone."""
    (data / "cyd.log").touch()
    with pytest.raises(CommandError, match=r"holds more than a demo \(cyd\.log\)"):
        make_room(data, BOTS)


def test_a_folder_of_others_is_kept(tmp_path: Path) -> None:
    """One without a demo's mark."""
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CommandError, match="is no earlier demo's folder; give another --data"):
        make_room(tmp_path, BOTS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_in_use_is_kept(data: Path) -> None:
    """A server that runs there holds its lock."""
    with (
        FileClaim(data / "server.lock", of=str(data)),
        pytest.raises(CommandError, match=r"another server is running on .* give another --data"),
    ):
        make_room(data, BOTS)
    assert (data / "meijin.db").exists()
