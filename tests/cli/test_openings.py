"""`meijin openings`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.game import GOMOKU, format_opening, openings_for

BALANCED = format_opening(openings_for(GOMOKU)[0], GOMOKU)
LOPSIDED = "h8 a1 i8 a15 j8 o1"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(f"{BALANCED}\n{LOPSIDED}\n")
    Path("game.sgf").write_text("(;GM[4];B[hh];W[ig];B[jh])")


def test_openings_are_listed_in_one_form() -> None:
    """Whatever form they had, and as few moves of games as are asked for."""
    run = CliRunner().invoke(app, ["openings", "list", "game.sgf", "--plies=2"])
    assert (run.exit_code, run.stdout) == (0, "h8 i9\n")


def test_one_sided_openings_are_thrown_out() -> None:
    """Each with who is ahead; the others are kept."""
    run = CliRunner().invoke(app, ["openings", "vet", "book.txt", "--output=kept.txt"])
    assert run.exit_code == 0
    assert Path("kept.txt").read_text() == f"{BALANCED}\n"
    thrown, count, *_ = run.stderr.splitlines()
    assert thrown.startswith(f"thrown out: {LOPSIDED}: black is ahead by ")
    assert count == "1 of 2 openings kept"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "none.txt"), "can't use none.txt: No such file"),
        (("list", "book.txt", "--variant=9"), "book.txt: line 1: column 10"),
        (("list", "book.txt", "--output=game.sgf"), "game.sgf exists"),
        (("vet", "book.txt", "--variant=big"), '"big" is no variant'),
    ],
)
def test_mistakes(words: tuple[str, ...], message: str) -> None:
    """Are told in one line."""
    run = CliRunner().invoke(app, ["openings", *words])
    assert isinstance(run.exception, CommandError)
    assert str(run.exception).startswith(message)
