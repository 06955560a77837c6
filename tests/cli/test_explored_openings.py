"""`meijin openings explore` and `meijin openings recount`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.ladder.counted import count_openings
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.store import Database
from meijin.store.openings.explored import counted_games
from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE, ServerInTest
from meijin.testing.server_thread import ServerThread
from meijin.testing.settings import settings_in

SMALL = "--variant=5x5"


async def play(server: ServerInTest) -> None:
    """One game, which black wins in a corner."""
    black, white = await server.pair(rounds=1)
    await play_moves((black, white), FIVE)
    await white.ended()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInTest]:
    """A server with a counted game, whose log is not among what commands print."""
    settings = settings_in(tmp_path_factory.mktemp("served"))
    with capture_logs(), ServerThread(settings) as thread:
        thread.call(play(thread.server))
        count_openings(thread.server.database)
        yield thread.server


def explore(server: ServerInTest, *words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["openings", "explore", *words, "--server", server.address])


def test_a_position_is_shown(served: ServerInTest) -> None:
    """Its moves with what symmetry makes the same, then strengths and games."""
    run = explore(served, SMALL)
    assert run.exit_code == 0
    title, heads, row, *rest = run.stdout.splitlines()
    assert title.startswith("freestyle 5x5, the empty board: 1 game of 1 counted")
    assert heads.split()[:4] == ["move", "the", "same", "games"]
    assert " ".join(row.split()) == "a5 e5 a1 e1 1 100.0% 100.0% 20.7% to 100.0% 1 0 0"
    assert [line.split()[0] for line in rest if line.startswith("unrated")] == ["unrated"]
    assert rest[-1].startswith("game ")
    assert rest[-1].endswith("black wins by five")


def test_the_end_of_a_game_is_a_line(served: ServerInTest) -> None:
    """Moves may be written in one word or in several, from any side."""
    run = explore(served, SMALL, "e1e2d1d2", "c1", "c2 b1 b2", "a1")
    assert "(game over)" in run.stdout
    assert explore(served, SMALL, "c3").stdout.splitlines()[0].endswith("0 games of 1 counted")


def test_a_strength_is_a_filter(served: ServerInTest) -> None:
    """Bands that there are stay in sight."""
    run = explore(served, SMALL, "--strength=1800-up")
    assert "0 games of 1 counted" in run.stdout
    assert "unrated" in run.stdout


def test_json_is_the_message(served: ServerInTest) -> None:
    """With the names of its fields."""
    found = json.loads(explore(served, SMALL, "--json").stdout)
    assert found["results"]["black_wins"] == "1"
    assert found["continuations"][0]["cell"] == 0
    assert found["depth"] == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--variant=big",), '"big" is no variant'),
        (("z9",), "column 25, row 6 is off the 15x15 board"),
        (("9z",), 'no move of the 15x15 board at "9z"'),
        (("h8h8",), "moves: "),
        (("a1b1c1d1e1f1g1h1i1j1k1l1m1",), "moves: 13 moves; openings are counted to 12"),
    ],
)
def test_mistakes(served: ServerInTest, words: tuple[str, ...], message: str) -> None:
    """Are told in one line."""
    run = explore(served, *words)
    assert run.exception is not None
    assert message in str(run.exception)


def test_counts_are_forgotten(tmp_path: Path) -> None:
    """The next count begins with the first game."""
    with ServerThread(settings_in(tmp_path)) as thread:
        thread.call(play(thread.server))
        count_openings(thread.server.database)
        url = thread.server.settings.database
    run = CliRunner().invoke(app, ["openings", "recount", f"--database={url}"])
    assert run.exit_code == 0
    assert run.stdout == "1 game will be counted anew, by the ratings of now\n"
    with Database(url) as database:
        assert database.read(counted_games) == 0
        count_openings(database)
        assert database.read(counted_games) == 1


def test_no_database_to_forget(tmp_path: Path) -> None:
    """A mistaken folder is told, and nothing is made there."""
    run = CliRunner().invoke(app, ["openings", "recount", f"--data={tmp_path / 'none'}"])
    assert isinstance(run.exception, CommandError)
    assert "give the server's folder with --data" in str(run.exception)
    assert not (tmp_path / "none").exists()
