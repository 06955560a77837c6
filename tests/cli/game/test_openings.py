from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.ladder.counted import count_openings
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest, channel_to
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.game import GOMOKU, Variant, format_opening, openings_for
from meijin.game.openings.balanced import SIDES
from meijin.store import Database
from meijin.store.ladders.openings import counted_games
from meijin.testing.server import OpenServer, ServerThread
from meijin.testing.settings import settings_in

SMALL = "--variant=5x5"


async def play(server: OpenServer) -> None:
    played = ServerInTest(**vars(server), calls=await channel_to(server))
    black, white = await played.pair(rounds=1)
    await play_moves((black, white), FIVE)
    await white.ended()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenServer]:
    """A server with a counted game, whose log is not among what commands print."""
    settings = settings_in(tmp_path_factory.mktemp("served"))
    with capture_logs(), ServerThread(settings) as thread:
        thread.call(play(thread.server))
        count_openings(thread.server.database)
        yield thread.server


def explore(server: OpenServer, *words: str) -> Result:
    return CliRunner().invoke(app, ["openings", "explore", *words, "--server", server.address])


def test_a_position_is_shown(served: OpenServer) -> None:
    run = explore(served, SMALL)
    assert run.exit_code == 0
    title, heads, row, *rest = run.stdout.splitlines()
    assert title.startswith("freestyle 5x5, the empty board: 1 game of 1 counted")
    assert heads.split()[:4] == ["move", "the", "same", "games"]
    assert " ".join(row.split()) == "a5 e5 a1 e1 1 100.0% 100.0% 20.7% to 100.0% 1 0 0"
    assert [line.split()[0] for line in rest if line.startswith("unrated")] == ["unrated"]
    assert rest[-1].startswith("game ")
    assert rest[-1].endswith("black wins by five")


def test_what_is_chosen_of_the_games(served: OpenServer) -> None:
    """By moves, whose end is a line, and by strengths."""
    assert "(game over)" in explore(served, SMALL, "e1e2d1d2", "c1", "c2 b1 b2", "a1").stdout
    for choice in ("c3", "--strength=1800-up"):
        assert "0 games of 1 counted" in explore(served, SMALL, choice).stdout


def test_json_is_the_message(served: OpenServer) -> None:
    found = json.loads(explore(served, SMALL, "--json").stdout)
    assert found["results"]["black_wins"] == 1
    assert found["continuations"][0]["cell"] == "a5"
    assert found["depth"] == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--variant=big", '"big" is no variant'),
        ("z9", "column 25, row 6 is off the 15x15 board"),
        ("9z", 'no move of the 15x15 board at "9z"'),
        ("h8h8", "moves: "),
        ("a1b1c1d1e1f1g1h1i1j1k1l1m1", "moves: 13 moves; openings are counted to 12"),
    ],
)
def test_mistakes(served: OpenServer, words: str, message: str) -> None:
    assert message in str(explore(served, words).exception)


def test_counts_are_forgotten(tmp_path: Path) -> None:
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
    run = CliRunner().invoke(app, ["openings", "recount", f"--data={tmp_path / 'none'}"])
    assert isinstance(run.exception, CommandError)
    assert "give the server's folder with --data" in str(run.exception)
    assert not (tmp_path / "none").exists()


LISTED = [Variant(rule, side, side) for rule, sides in SIDES.items() for side in sides]
BALANCED = format_opening(openings_for(GOMOKU)[0], GOMOKU)
LOPSIDED = "h8 a1 i8 a15 j8 o1"


@pytest.fixture
def books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(f"{BALANCED}\n{LOPSIDED}\n")
    Path("game.sgf").write_text("(;GM[4];B[hh];W[ig];B[jh])")


@pytest.mark.usefixtures("books")
def test_openings_are_listed_in_one_form() -> None:
    run = CliRunner().invoke(app, ["openings", "list", "game.sgf", "--plies=2"])
    assert (run.exit_code, run.stdout) == (0, "h8 i9\n")


@pytest.mark.usefixtures("books")
def test_one_sided_openings_are_thrown_out() -> None:
    run = CliRunner().invoke(app, ["openings", "vet", "book.txt", "--output=kept.txt"])
    assert run.exit_code == 0
    assert Path("kept.txt").read_text() == f"{BALANCED}\n"
    thrown, count, *_ = run.stderr.splitlines()
    assert thrown.startswith(f"thrown out: {LOPSIDED}: black is ahead by ")
    assert count == "1 of 2 openings kept"


@pytest.mark.parametrize("variant", LISTED, ids=str)
def test_what_ships_is_what_vet_draws(variant: Variant) -> None:
    """By the commands that each list holds, and for as long as a test may search."""
    lists = files("meijin.game.openings").joinpath("lists")
    text = lists.joinpath(f"{variant.rule.name}-{variant.size}.txt").read_text()
    made = [part.splitlines() for part in text.split("# meijin openings vet ")[1:]]
    assert made
    for command, *openings in made:
        assert f"--draw {len(openings)}" in command
        words = shlex.split(command.replace(f"--draw {len(openings)}", "--draw 1"))
        run = CliRunner().invoke(app, ["openings", "vet", *words])
        assert run.stdout == f"{openings[0]}\n"


@pytest.mark.parametrize("words", ["", "book.txt --draw 1"])
def test_either_a_file_or_a_draw_is_vetted(words: str) -> None:
    run = CliRunner().invoke(app, ["openings", "vet", *words.split()])
    assert isinstance(run.exception, CommandError)
    assert str(run.exception).startswith("give a FILE of openings, or --draw so many")


@pytest.mark.usefixtures("books")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("list none.txt", "can't use none.txt: No such file"),
        ("list book.txt --variant=9", "book.txt: line 1: column 10"),
        ("list book.txt --output=game.sgf", "game.sgf exists"),
        ("vet book.txt --variant=big", '"big" is no variant'),
        ("vet --draw=1 --variant=8", "no openings are drawn for freestyle 8x8"),
    ],
)
def test_what_can_not_be_read(words: str, message: str) -> None:
    run = CliRunner().invoke(app, ["openings", *words.split()])
    assert isinstance(run.exception, CommandError)
    assert str(run.exception).startswith(message)
