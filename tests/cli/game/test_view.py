import pytest
from tests.cli.made_games import RUNNING, WON, game

from meijin.cli.game import view as game_view
from meijin.cli.game.stepping import split_keys, stepped
from meijin.cli.game.view import board_text, move_line, move_lines, ply_text, print_game
from meijin.cli.output import PlainConsole
from meijin.v1 import game_pb2

PLAIN = game(1)
PLAIN.moves[2].ClearField("analysis")


def rows(shown: game_pb2.Game, ply: int | None = None) -> dict[str, str]:
    lines = board_text(shown, ply).plain.splitlines()
    return {line[:2].strip(): line[2:] for line in lines}


def test_the_winning_line_is_in_capitals_and_the_last_move_in_parentheses() -> None:
    board = rows(WON)
    assert board["8"] == " · · · · · · · X o · · · · · · "
    assert board["5"] == " · · · · · · ·(X)· · · · · · · "
    assert board["9"] == " · · · · · · · X o · · · · · · "
    assert board[""] == " a b c d e f g h i j k l m n o"
    assert rows(WON, 2)["9"] == " · · · · · · · ·(o)· · · · · · "
    assert rows(WON, 2)["8"] == " · · · · · · · x · · · · · · · "
    assert "x" not in board_text(WON, 0).plain
    assert rows(game(1, "h8i9a1"), 3)["1"].startswith("(x)·")
    assert rows(game(1, "h8i9o1"), 3)["1"].endswith("·(x)")


def test_moves_with_what_was_thought_of_them() -> None:
    """A line each once a bot has told of its search; those of the opening have no time."""
    lines = list(move_lines(WON, 6))
    assert len(lines) == 9
    assert lines[0] == "  1. h8"
    assert lines[2] == ("  3. h9  1.000  score     -7  depth  3  nodes 18.4E  pv h9 i8")
    assert lines[3] == "  4. i8  1.000"
    assert move_line(WON, 2) == lines[2]


def test_moves_without_analysis_share_lines() -> None:
    assert next(move_lines(PLAIN, 6)).count(". ") == 6
    assert [len(list(move_lines(PLAIN, most))) for most in (6, 2)] == [2, 5]


def test_which_position_it_is() -> None:
    assert ply_text(WON, 0) == "ply 0 of 9  the empty board"
    assert ply_text(WON, 4) == "ply 4 of 9    4. i8  1.000"


def test_a_game_says_what_played_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The side that introduced itself, and the game's place."""
    print_game(WON)
    _, side, place, *_ = capsys.readouterr().out.splitlines()
    assert side == (
        "ada: version 1.0, options depth=4 nodes=3000, digest ab12, on EPYC, 2 cores, threads 2, memory 1,048,576 MB"
    )
    assert place == "round 5, pair 3, seed 7, Meijin 0.1.0"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_screen(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    screen = PlainConsole()
    monkeypatch.setattr(game_view, "console", screen)
    screen._force_terminal, screen.width, screen.no_color = True, width, True
    with screen.capture() as captured:
        print_game(WON)
        print_game(PLAIN)
    lines = [line for line in captured.get().splitlines() if not line.startswith("\x1b")]
    assert max(map(len, lines)) <= width
    assert "pv h9" in captured.get() or width == 40


@pytest.mark.parametrize(
    ("key", "ply"),
    [
        *(("l", 6), (" ", 6), ("\x1b[C", 6), ("\xe0M", 6)),
        *(("h", 4), ("\x1b[D", 4), ("j", 9), ("k", 0), ("g", 0), ("G", 9), ("x", 5)),
    ],
)
def test_keys(key: str, ply: int) -> None:
    assert stepped(key, 5, 9) == ply


def test_keys_that_come_together_are_told_apart() -> None:
    assert split_keys("l\x1b[C\x1bOAG\x1b[6~q") == ["l", "\x1b[C", "\x1bOA", "G", "\x1b[6~", "q"]


def test_a_running_game_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_game(RUNNING)
    assert capsys.readouterr().out.endswith("\nrunning\n")
