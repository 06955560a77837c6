from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection

from meijin.cli.demo.folder import MARKER, make_room
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

Write = Callable[[Connection], object]


def write(data: Path, *changes: Write) -> None:
    """Make these changes to the database of a folder."""
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        database.migrate()
        for change in changes:
            database.write(change)


def bot(name: str) -> Write:
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
    data = tmp_path / "data"
    write_demo(data, make_room(data, BOTS))
    return data


def write_demo(data: Path, request_id: str) -> None:
    write(data, *map(bot, BOTS), tournament(request_id))
    MoveLog(log_folder(data / "meijin.db"), is_synced=False).close()
    (data / "ada.log").write_text("12:00:00 left\n")
    (data / "valkey").mkdir()
    (data / "valkey" / "appendonly.aof").touch()


def test_a_demo_makes_room_for_the_next(data: Path) -> None:
    before = (data / MARKER).read_text()
    request_id = make_room(data, BOTS)
    assert (data / MARKER).read_text() == request_id != before
    assert {path.name for path in data.iterdir()} == {MARKER, "meijin.db.lock", "server.lock"}


def test_a_demo_that_was_broken_off_makes_room(tmp_path: Path) -> None:
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
        ("notes.txt", r"notes\.txt"),
        ("cyd.log", r"cyd\.log"),
    ],
)
def test_a_demo_that_was_put_to_more_use_is_kept(
    data: Path, change: Write | str, addition: str
) -> None:
    if isinstance(change, str):
        (data / change).touch()
    else:
        write(data, change)
    before = {path: path.is_file() and path.read_bytes() for path in data.rglob("*")}
    with pytest.raises(CommandError, match=rf"holds more than a demo \({addition}\); give another"):
        make_room(data, BOTS)
    assert {path: path.is_file() and path.read_bytes() for path in data.rglob("*")} == before


def test_a_folder_of_others_is_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CommandError, match="is no earlier demo's folder; give another --data"):
        make_room(tmp_path, BOTS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_in_use_is_kept(data: Path) -> None:
    with (
        FileClaim(data / "server.lock", of=str(data)),
        pytest.raises(CommandError, match=r"another server is running on .* give another --data"),
    ):
        make_room(data, BOTS)
    assert (data / "meijin.db").exists()
