"""Games read from a folder without a server."""

from pathlib import Path

import pytest
from tests.store.league import BLACK, WHITE, League
from typer.testing import CliRunner

from meijin.cli.errors import CommandError
from meijin.cli.game.selection import GameSelection, ended_games, get_game
from meijin.cli.game.source import games_of
from meijin.cli.main import app
from meijin.cli.profile import Profile
from meijin.store import Database, FileClaim


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder that a server has left, with two games."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        League(database, bots=2).finish((0, 1, BLACK), (1, 0, WHITE), line=(112, 113))
    return tmp_path


def refusal(data: Path) -> str:
    with pytest.raises(CommandError) as refused, games_of(Profile(), data):
        pass
    return str(refused.value)


def test_games_of_a_folder_are_read(data: Path) -> None:
    """One by its number, or those of a selection, newest first; by several at once."""
    with games_of(Profile(), data) as source, games_of(Profile(), data) as another:
        games = list(ended_games(source, GameSelection(bot="freestyle-15x15-bot-0")))
        assert [game.black[-1] for game in games] == ["1", "0"]
        assert get_game(another, games[0].game_id) == games[0]
        assert [move.cell for move in games[0].moves] == [112, 113]


def test_commands_read_a_folder(data: Path) -> None:
    """All of its games where none is chosen; a turn of one is given to a bot."""

    def told(*words: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, ["game", *words, f"--data={data}"])
        assert done.exit_code == status, done.output
        return done.stdout

    assert told("export", "--format=pos").splitlines() == ["h8i8", "h8i8"]
    *games, count = told("verify", status=1).splitlines()  # two moves decide no game
    assert count == "2 games, 2 wrong"
    assert all(line.startswith(f"{data}, game 100000") for line in games)
    assert told("verify", "1000001", status=1).endswith("1 game, 1 wrong\n")
    assert "ply 2: " in told("replay", "1000001", "random")


def test_what_is_not_there_is_told_in_a_line(data: Path) -> None:
    with pytest.raises(CommandError, match="no game 9;"), games_of(Profile(), data) as source:
        get_game(source, "9")
    with pytest.raises(CommandError, match='no bot "ghost";'), games_of(Profile(), data) as source:
        next(ended_games(source, GameSelection(bot="ghost")))


def test_a_folder_of_a_server_that_runs_is_left_to_it(data: Path) -> None:
    """It knows more of its games."""
    claim = FileClaim(data / "server.lock", of=str(data))
    with claim:
        claim.tell("127.0.0.1:7464")
        assert refusal(data) == (
            f"another server is running on {data} at 127.0.0.1:7464; stop it first, or ask it "
            "with --server"
        )
    with Database(f"sqlite:///{data / 'meijin.db'}") as database, database.claim():
        assert refusal(data).startswith("another server is running on")


def test_a_folder_has_to_hold_games(tmp_path: Path) -> None:
    """Nothing is made where there are none."""
    empty, file = tmp_path / "empty", tmp_path / "file"
    empty.mkdir()
    file.touch()
    (tmp_path / "meijin.db").touch()
    for folder in (empty, file, tmp_path / "nowhere"):
        assert refusal(folder) == f"there are no games in {folder}: it has no meijin.db"
    assert list(empty.iterdir()) == []
    assert refusal(tmp_path) == "the database has no tables yet; start the server first"
