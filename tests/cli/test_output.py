import json
import sys

import pytest

from meijin.cli.command import Output
from meijin.cli.game.view import print_game
from meijin.cli.ladder.commands import standings_lines
from meijin.cli.output import PlainConsole, print_file, print_json, printable
from meijin.cli.tables import table, text
from meijin.v1 import game_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb

MARKUP = ("[/x]", "1.2 [dev]", "[red]not red[/red]", ":smile: ada", "[link=https://x]y[/link]")
"""Names that others may have chosen."""
CONTROLS = "a\x1b[2Jb\nc\td\x07e\x9bf\u202eg\x7f"
"""What would clear the screen, begin a line, ring, or turn what follows around."""
SHOWN = "a\ufffd[2Jb c d\ufffde\ufffdf\ufffdg\ufffd"


@pytest.mark.parametrize(("name", "shown"), [(CONTROLS, SHOWN), *((each, each) for each in MARKUP)])
def test_text_of_others_is_no_markup_and_steers_no_screen(name: str, shown: str) -> None:
    console = PlainConsole()
    with console.capture() as capture:
        console.print(name, name, sep="\n", style="dim")
        console.print(table(name, [text(name, str)], [name]))
    assert [line.strip() for line in capture.get().splitlines()] == [shown] * 5
    assert printable("αß ±…│") == "αß ±…│"


def test_failures_and_versions_are_shown_as_they_were_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = game_pb2.Outcome(
        winner=game_pb2.COLOR_BLACK,
        ending=game_pb2.ENDING_CRASH,
        at_fault=game_pb2.PARTY_WHITE,
        detail=f"[/x] {CONTROLS}",
    )
    print_game(game_pb2.Game(state=game_pb2.GAME_STATE_FINISHED, outcome=outcome))
    assert f"([/x] {SHOWN})" in capsys.readouterr().out
    labels = ("1 [/x]", "2 [dev]")
    rows = [ladder_pb.Standing(rank=1, bot="ada", version=label, linked=True) for label in labels]
    run = ladder_pb.RatingRun(run_id="[/run]")
    response = ladder_pb.GetStandingsResponse(run=run, standings=rows)
    Output(response, standings_lines(response)).show(as_json=False)
    shown = capsys.readouterr().out
    assert all(f"ada {label}" in shown for label in labels)
    assert "run [/run] of" in shown


def test_json_escapes_what_cannot_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": f"ü {CONTROLS} \U000e0001"}
    print_json(value)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert "ü" in line
    assert json.loads(line) == value


@pytest.mark.parametrize(
    ("is_screen", "shown"),
    [
        (False, f"(;GM[4]\n{CONTROLS})\n"),
        (True, "(;GM[4]\na\ufffd[2Jb\nc d\ufffde\ufffdf\ufffdg\ufffd)\n"),
    ],
)
def test_files_are_left_as_they_are_but_on_a_screen(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_screen: bool,
    shown: str,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_screen)
    print_file(f"(;GM[4]\n{CONTROLS})\n")
    assert capsys.readouterr().out == shown
