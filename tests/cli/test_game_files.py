"""`meijin game convert` and `verify` of files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.made_games import VOID, WON
from typer.testing import CliRunner
from typer.testing import Result as Ran

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.game import from_sgf, to_sgf
from meijin.game.records.psq import from_psq
from meijin.wire import record_from_proto

Meijin = Callable[..., Ran]
GAMES = to_sgf(record_from_proto(WON)) + to_sgf(record_from_proto(VOID))


@pytest.fixture
def meijin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meijin:
    """`meijin game` with some words, in a folder with a few files."""
    monkeypatch.chdir(tmp_path)
    Path("all.sgf").write_text(GAMES)
    Path("bad.pos").write_text("h8i9\nh8h8\n")

    def run(*words: str) -> Ran:
        return CliRunner().invoke(app, ["game", *words])

    return run


def test_games_are_converted(meijin: Meijin) -> None:
    """By the names of the files, there and back, without a loss where there is room."""
    assert meijin("convert", "all.sgf", "all.json").stdout == "2 games written to all.json\n"
    assert meijin("convert", "all.json", "again.sgf").exit_code == 0
    assert Path("again.sgf").read_text() == GAMES


@pytest.mark.parametrize("ending", ["psq", "html"])
def test_one_game_is_chosen_for_a_file_of_one(meijin: Meijin, ending: str) -> None:
    """Of many, by its place."""
    ran = meijin("convert", "all.sgf", f"one.{ending}")
    assert (
        str(ran.exception) == f"{ending} holds one game, and all.sgf has more; choose with --game"
    )
    assert not Path(f"one.{ending}").exists()
    assert meijin("convert", "all.sgf", f"one.{ending}", "--game=1").exit_code == 0
    assert Path(f"one.{ending}").stat().st_size > 0


def test_a_converted_game_is_the_same(meijin: Meijin) -> None:
    """As far as PSQ holds it."""
    meijin("convert", "all.sgf", "one.psq", "--game=1")
    first = from_sgf(GAMES)
    assert from_psq(Path("one.psq").read_text()).moves == first.moves


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("convert", "all.sgf", "all.sgf"), "all.sgf exists; give another name, or --force"),
        (
            ("convert", "all.sgf", "x"),
            "x tells no format; say with --to: sgf, psq, pos, json, html",
        ),
        (("convert", "all.sgf", "x.sgf", "--game=3"), "all.sgf has no game 3"),
        (("convert", "bad.pos", "x.sgf"), "bad.pos, line 2: h8 is occupied"),
        (("convert", "none.sgf", "x.sgf"), "can't use none.sgf: No such file or directory"),
        (("convert", "all.sgf", "no/x.sgf"), "can't use no/x.sgf.part: No such file"),
        (("convert", "bad.pos", "x.sgf", "--variant=8"), "bad.pos, line 1: column 8, row -1"),
        (("convert", "bad.pos", "x.sgf", "--variant=big"), '"big" is no variant'),
        (("convert", "bad.pos", "x.sgf", "--from=rif"), "bad.pos: line 1: syntax error"),
    ],
)
def test_what_can_t_be_converted(meijin: Meijin, words: tuple[str, ...], message: str) -> None:
    """One line says why, and nothing is written."""
    ran = meijin(*words)
    assert isinstance(ran.exception, CommandError)
    assert str(ran.exception).startswith(message)
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["all.sgf", "bad.pos"]


def test_a_file_is_written_over_when_it_is_said(meijin: Meijin) -> None:
    """With --force alone."""
    assert meijin("convert", "all.sgf", "all.sgf", "--force").exit_code == 0
    assert Path("all.sgf").read_text() == GAMES


def test_files_are_verified(meijin: Meijin) -> None:
    """A line a game, and a status."""
    ran = meijin("verify", "all.sgf")
    assert ran.exit_code == 0
    assert ran.stdout.splitlines() == [
        "all.sgf, game 1: ok: black wins by five, 9 plies",
        "all.sgf, game 2: ok: void: server, 3 plies",
        "2 games, 0 wrong",
    ]
    ran = meijin("verify", "bad.pos", "all.sgf", "--quiet")
    assert (ran.exit_code, ran.stdout) == (
        1,
        "bad.pos, line 2: WRONG: h8 is occupied\n4 games, 1 wrong\n",
    )


def test_a_false_result_is_found(meijin: Meijin) -> None:
    """It is not the one that the moves give."""
    Path("false.sgf").write_text(GAMES.replace("RE[B+]", "RE[W+]"))
    ran = meijin("verify", "false.sgf", "--json")
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert (found["games"], found["wrong"]) == (2, 1)
    (problem,) = found["verdicts"][0]["problems"]
    assert problem == 'it ends "white wins by five", and the board shows a win of black'


def test_a_file_without_games_is_wrong(meijin: Meijin) -> None:
    """Nothing was verified."""
    Path("empty.sgf").write_text("")
    ran = meijin("verify", "empty.sgf")
    assert (ran.exit_code, ran.stdout.splitlines()[0]) == (
        1,
        "empty.sgf, all of it: WRONG: it holds no game",
    )


def test_control_characters_of_a_file_stay_off_the_screen(meijin: Meijin) -> None:
    """A name or a text could rewrite it."""
    Path("evil.sgf").write_text("(;GM[4]RU[\x1b[2J\\]])")
    assert "\x1b" not in meijin("verify", "evil.sgf").stdout
