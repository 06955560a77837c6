"""What commands print."""

import json
import sys

import pytest
from rich.console import Console

from meijin.cli.commands.ladders import _show_standings
from meijin.cli.game_view import print_game
from meijin.cli.output import (
    PlainConsole,
    crosstable,
    games_text,
    print_file,
    print_json,
    printable,
    standings_table,
    table,
)
from meijin.v1 import game_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import tournament_service_pb2 as pb

MARKUP = ("[/x]", "1.2 [dev]", "[red]not red[/red]", ":smile: ada", "[link=https://x]y[/link]")
"""Names that others may have chosen."""
CONTROLS = "a\x1b[2Jb\nc\td\x07e\x9bf\u202eg\x7f"
"""What would clear the screen, begin a line, ring, or turn what follows around."""
SHOWN = "a\ufffd[2Jb c d\ufffde\ufffdf\ufffdg\ufffd"


@pytest.mark.parametrize(
    ("may_end_early", "planned", "words"),
    [
        (False, 60, "12 of 60 games"),
        (True, 400, "12 of at most 400 games"),
        (True, 0, "12 games"),
    ],
)
def test_how_far_a_tournament_is(*, may_end_early: bool, planned: int, words: str) -> None:
    """By its schedule, by what bounds it, or by neither."""
    tournament = pb.Tournament(
        may_end_early=may_end_early, planned_games=planned, finished_games=12
    )
    assert games_text(tournament) == words


def test_crosstable() -> None:
    """In the order of the standings, with their tie-breaks, and a dot where two have not met."""
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(
            tournament_id="7", settings=pb.TournamentSettings(bots=["ada", "bob", "cyd"])
        ),
        crosstable=[
            pb.CrosstableCell(bot="bob", opponent="ada", wins=3, draws=1),
            pb.CrosstableCell(bot="ada", opponent="bob", losses=3, draws=1),
            pb.CrosstableCell(bot="cyd", opponent="bob"),
            pb.CrosstableCell(bot="bob", opponent="cyd"),
        ],
        standings=[
            pb.TournamentStanding(
                rank=rank, bot=bot, tie_breaks=[pb.TieBreak(name="Sonneborn-Berger", value=value)]
            )
            for rank, bot, value in ((1, "bob", 1.75), (2, "ada", 1.5), (3, "cyd", 0))
        ],
        faults=[pb.FaultCount(bot="ada", faults=2)],
    )
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(crosstable(response))
    _, columns, *rows = (line.split() for line in capture.get().splitlines())
    assert columns == ["#", "bot", "1", "2", "3", "points", "SB", "W-D-L", "faults"]
    assert rows == [
        ["1", "bob", "·", "3.5", "0", "3.5", "1.75", "3-1-0", "0"],
        ["2", "ada", "0.5", "·", "·", "0.5", "1.5", "0-1-3", "2"],
        ["3", "cyd", "0", "·", "·", "0", "0", "0-0-0", "0"],
    ]


def test_standings_have_a_column_for_each_tie_break() -> None:
    """And say what is noted of a bot, within 80 characters."""
    standings = [
        pb.TournamentStanding(
            rank=rank,
            bot=bot,
            points=points,
            games=4,
            wins=int(points),
            losses=4 - int(points),
            tie_breaks=[
                pb.TieBreak(name="Buchholz", value=4.5),
                pb.TieBreak(name="Sonneborn-Berger", value=2),
            ],
            note=note,
        )
        for rank, bot, points, note in ((1, "ada", 4, ""), (2, "bob", 2, "bye"))
    ]
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(tournament_id="7"),
        faults=[pb.FaultCount(bot="bob", faults=1)],
        standings=standings,
    )
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(standings_table(response))
    title, columns, *rows = (line.split() for line in capture.get().splitlines())
    assert title == ["Tournament", "7"]
    assert columns[:5] == ["#", "bot", "points", "Buchholz", "Sonneborn-Berger"]
    assert rows == [
        ["1", "ada", "4", "4.5", "2", "4", "4", "0", "0", "0"],
        ["2", "bob", "2", "4.5", "2", "4", "2", "0", "2", "1", "bye"],
    ]


@pytest.mark.parametrize("text", MARKUP)
def test_text_of_others_is_no_markup(text: str) -> None:
    """It is shown as it was written: in lines, in cells and in titles."""
    console = PlainConsole()
    made = table(f"Title {text}", (f"column {text}",))
    made.add_row(f"cell {text}")
    with console.capture() as capture:
        console.print(f"line {text}", style="dim")
        console.print(made)
    for place in ("line", "Title", "column", "cell"):
        assert f"{place} {text}" in capture.get()


def test_control_characters_of_others_are_replaced() -> None:
    """In lines, in cells and in titles; each string stays in its line."""
    console = PlainConsole()
    made = table(CONTROLS, (CONTROLS,))
    made.add_row(CONTROLS)
    with console.capture() as capture:
        console.print(CONTROLS, CONTROLS, sep="\n")
        console.print(made)
    assert [line.strip() for line in capture.get().splitlines()] == [SHOWN] * 5
    assert printable("αß ±…│") == "αß ±…│"


def test_failures_are_shown_as_they_were_told(capsys: pytest.CaptureFixture[str]) -> None:
    """What a bot said as it failed is one line, whatever is in it."""
    outcome = game_pb2.Outcome(
        winner=game_pb2.COLOR_BLACK,
        ending=game_pb2.ENDING_CRASH,
        at_fault=game_pb2.PARTY_WHITE,
        detail=f"[/x] {CONTROLS}",
    )
    print_game(game_pb2.Game(state=game_pb2.GAME_STATE_FINISHED, outcome=outcome))
    assert f"([/x] {SHOWN})" in capsys.readouterr().out


def test_versions_are_shown_as_they_are_called(capsys: pytest.CaptureFixture[str]) -> None:
    """A label ends no ladder with an error, and loses nothing."""
    labels = ("1 [/x]", "2 [dev]")
    rows = [ladder_pb.Standing(rank=1, bot="ada", version=label, linked=True) for label in labels]
    run = ladder_pb.RatingRun(run_id="[/run]")
    response = ladder_pb.GetStandingsResponse(run=run, standings=rows)
    _show_standings(response, 0, is_csv=False, as_json=False)
    shown = capsys.readouterr().out
    assert all(f"ada {label}" in shown for label in labels)
    assert "run [/run] of" in shown


def test_json_escapes_what_cannot_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """It says the same, in one line without control characters."""
    value = {"name": f"ü {CONTROLS} \U000e0001"}
    print_json(value)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert "ü" in line
    assert json.loads(line) == value


@pytest.mark.parametrize("is_screen", [False, True])
def test_files_are_left_as_they_are(
    *, is_screen: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe; on a screen their lines are made printable."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_screen)
    print_file(f"(;GM[4]\n{CONTROLS})\n")
    shown = "(;GM[4]\na\ufffd[2Jb\nc d\ufffde\ufffdf\ufffdg\ufffd)\n"
    assert capsys.readouterr().out == (shown if is_screen else f"(;GM[4]\n{CONTROLS})\n")
