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
from meijin.wire.records import record_from_proto

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
    assert meijin("convert", "all.json", "all.sgf", "--force").exit_code == 0
    assert Path("all.sgf").read_text() == GAMES


@pytest.mark.parametrize("ending", ["psq", "html"])
def test_one_game_is_chosen_for_a_file_of_one(meijin: Meijin, ending: str) -> None:
    ran = meijin("convert", "all.sgf", f"one.{ending}")
    said = f"{ending} holds one game, and all.sgf has more; choose with --game"
    assert str(ran.exception) == said
    assert not Path(f"one.{ending}").exists()
    assert meijin("convert", "all.sgf", f"one.{ending}", "--game=1").exit_code == 0
    text = Path(f"one.{ending}").read_text()
    assert ending == "html" or from_psq(text).moves == from_sgf(GAMES).moves


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("all.sgf all.sgf", "all.sgf exists; give another name, or --force"),
        ("all.sgf x", "x tells no format; say with --to: sgf, psq, pos, json, html"),
        ("all.sgf x.sgf --game=3", "all.sgf has no game 3"),
        ("bad.pos x.sgf", "bad.pos, line 2: h8 is occupied"),
        ("none.sgf x.sgf", "can't use none.sgf: No such file or directory"),
        ("all.sgf no/x.sgf", "can't use no/x.sgf.part: No such file"),
        ("bad.pos x.sgf --variant=8", "bad.pos, line 1: column 8, row -1"),
        ("bad.pos x.sgf --variant=big", '"big" is no variant'),
        ("bad.pos x.sgf --from=rif", "bad.pos: line 1: syntax error"),
    ],
)
def test_what_can_t_be_converted(meijin: Meijin, words: str, message: str) -> None:
    ran = meijin("convert", *words.split())
    assert isinstance(ran.exception, CommandError)
    assert str(ran.exception).startswith(message)
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["all.sgf", "bad.pos"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (
            "all.sgf",
            0,
            (
                "all.sgf, game 1: ok: black wins by five, 9 plies\n"
                "all.sgf, game 2: ok: void: server, 3 plies\n2 games, 0 wrong\n"
            ),
        ),
        (
            "bad.pos all.sgf --quiet",
            1,
            "bad.pos, line 2: WRONG: h8 is occupied\n4 games, 1 wrong\n",
        ),
        (
            "empty.sgf",
            1,
            "empty.sgf, all of it: WRONG: it holds no game\n1 game, 1 wrong\n",
        ),
    ],
)
def test_files_are_verified(meijin: Meijin, words: str, status: int, said: str) -> None:
    Path("empty.sgf").touch()
    ran = meijin("verify", *words.split())
    assert (ran.exit_code, ran.stdout) == (status, said)


def test_a_false_result_is_found(meijin: Meijin) -> None:
    Path("false.sgf").write_text(GAMES.replace("RE[B+]", "RE[W+]"))
    ran = meijin("verify", "false.sgf", "--json")
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["games"], found["wrong"]) == (1, 2, 1)
    (problem,) = found["verdicts"][0]["problems"]
    assert problem == 'it ends "white wins by five", and the board shows a win of black'


def test_control_characters_of_a_file_stay_off_the_screen(meijin: Meijin) -> None:
    Path("evil.sgf").write_text("(;GM[4]RU[\x1b[2J\\]])")
    assert "\x1b" not in meijin("verify", "evil.sgf").stdout
