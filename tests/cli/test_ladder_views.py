"""Ladders as tables and files."""

import csv
import io

import pytest
from rich.console import Console
from rich.table import Table

from meijin.cli.ladder_views import (
    final_lines,
    head_to_head_table,
    ladder_table,
    matrix_table,
    notes,
    percent,
)
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import marks, standings_csv


def standing(rank: int, bot: str, version: str = "", **changes: object) -> pb.Standing:
    """A line of a table."""
    row = pb.Standing(
        rank=rank,
        bot=bot,
        version=version,
        elo=1600.4 - 50 * rank,
        margin=33.4,
        superiority=0.912,
        classic_elo=1500,
        opponents_elo=1488,
        as_black=pb.Score(wins=5, draws=1, losses=4),
        as_white=pb.Score(wins=2, draws=0, losses=8),
        linked=True,
    )
    row.MergeFrom(pb.Standing(**changes))  # type: ignore[arg-type]
    return row


def standings(*rows: pb.Standing) -> pb.GetStandingsResponse:
    """A table with a run."""
    run = pb.RatingRun(run_id="7", games=123, checksum="0123456789abcdef", advantage=12.4)
    run.score_at_100 = 0.6346
    ladder = pb.Ladder(name="freestyle-15x15-blitz", games=130)
    return pb.GetStandingsResponse(ladder=ladder, run=run, standings=rows)


def printed(table: Table, width: int = 200) -> list[str]:
    """The lines of a table."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_wide_terminal_has_every_column_that_says_something() -> None:
    """Marks and previews come when somebody has one."""
    table = ladder_table(standings(standing(1, "ada"), standing(2, "bob")), 200)
    title, header, best, _ = printed(table)
    assert title == "Ladder freestyle-15x15-blitz"
    assert header.split() == (
        [
            "#",
            "bot",
            "Elo",
            "±",
            "games",
            "W-D-L",
            "score",
            "opponents",
            "draws",
            "black",
            "white",
            "LOS",
            "classic",
            "faults",
        ]
    )
    assert best.split() == (
        [
            "1",
            "ada",
            "1550",
            "33",
            "20",
            "7-1-12",
            "37.5%",
            "1488",
            "5.0%",
            "55.0%",
            "20.0%",
            "91.2%",
            "1500",
            "0",
        ]
    )
    rows = (standing(1, "ada", preview_elo=1555.5), standing(2, "bob", anchor=True))
    header = printed(ladder_table(standings(*rows), 200))[1]
    assert {"now", "marks"} <= set(header.split())


def test_a_note_tells_why_intervals_are_wide() -> None:
    """As wide as for dice, nothing is said; else how much wider, and what for."""
    response = standings(standing(1, "ada"))
    plain = notes(response)
    response.run.overdispersion.MergeFrom(pb.Overdispersion(factor=1.04, correlation=0.3))
    assert notes(response) == plain
    response.run.overdispersion.MergeFrom(pb.Overdispersion(factor=1.3, pair_deviation=71.6))
    (told,) = set(notes(response)) - set(plain)
    assert told == (
        "intervals are 1.30 times as wide as if games were independent: results of one opening hang"
        " together (correlation 0.30) and results depend on who meets whom (by 72 Elo)"
    )
    response.run.overdispersion.MergeFrom(pb.Overdispersion(correlation=0.001, pair_deviation=1))
    assert notes(response)[-1].endswith("independent")
    response.run.overdispersion.MergeFrom(pb.Overdispersion(walk_deviation=1.94))
    assert notes(response)[-1].endswith("independent: strengths may wander (by 1.9 Elo a game)")


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_table_fits_its_terminal(width: int) -> None:
    """The least important columns go; rank, bot, Elo and its interval stay."""
    rows = [standing(rank, f"bot-{rank}", anchor=True, preview_elo=1500) for rank in (1, 2)]
    lines = printed(ladder_table(standings(*rows), width), width=width)
    assert len(lines) == 4
    assert {"#", "bot", "Elo", "±", "games", "score", "marks"} <= set(lines[1].split())


def test_several_versions_are_told_apart() -> None:
    """A bot's name alone is enough where it has one version."""
    rows = (standing(1, "ada", "1.0"), standing(2, "ada", "1.1"), standing(3, "bob", "7"))
    lines = printed(ladder_table(standings(*rows), 120))
    assert [line.split()[1:3] for line in lines[2:4]] == [["ada", "1.0"], ["ada", "1.1"]]
    assert lines[4].split()[1:3] == ["bob", "1450"]


def test_the_best_alone() -> None:
    """`--top` leaves the others out."""
    rows = [standing(rank, f"bot-{rank}") for rank in range(1, 6)]
    assert len(printed(ladder_table(standings(*rows), 120, top=2))) == 4


def test_marks() -> None:
    """Anchor, provisional, and not linked."""
    assert marks(pb.Standing(anchor=True, provisional=True)) == "A?~"
    assert marks(pb.Standing(linked=True)) == ""


def test_ratings_that_are_less_sure_than_they_say_are_marked() -> None:
    """With what that means for the interval."""
    rows = (
        standing(1, "ada", depends_on_opponents=True),
        standing(2, "bob", changes_over_time=True),
    )
    response = standings(*rows)
    assert [marks(row) for row in rows] == ["V", "C"]
    legend = notes(response)[-1]
    assert "V results vary with whom it meets, which ± allows for over all opponents" in legend
    assert "C ± too narrow" in legend
    assert len(notes(response)) == 5
    response.run.fit.rejected = True
    assert notes(response)[4].endswith("which ± allows for; see --diagnose")


def test_notes_say_how_to_cite_and_to_read() -> None:
    """The run, its games and checksum, what intervals are relative to, and the marks in use."""
    response = standings(standing(1, "ada", anchor=True), standing(2, "bob", provisional=True))
    response.run.repeats = 4
    cited, interval, first_move, scale, legend = notes(response)
    assert cited.startswith("run 7 of 1970-01-01 00:00 UTC from 123 games, 4 repeats left out")
    assert cited.endswith("checksum 0123456789ab")
    assert "relative to the anchors" in interval
    assert first_move == "moving first is worth +12 Elo"
    assert scale == "100 Elo more score 63.5%"
    assert legend == "A anchor, ? few games, or all won or all lost"
    plain = notes(standings(standing(1, "ada")))
    assert len(plain) == 4
    assert "mean of the established" in plain[1]
    assert "mean of all" in notes(standings(standing(1, "ada", provisional=True)))[1]


def test_notes_tell_the_widths_of_priors() -> None:
    """Those of lineage and openings, where a run has them; an older run has neither."""
    response = standings(standing(1, "ada"))
    assert notes(response)[2] == "moving first is worth +12 Elo"
    response.run.lineage_deviation, response.run.opening_deviation = 63.0, 0.0
    assert notes(response)[2].endswith("+12 Elo; versions deviate from their parents by 63")
    response.run.opening_deviation = 140.0
    assert "+12 Elo, give or take 140 with the opening; versions" in notes(response)[2]


def test_a_final_run_says_whose_it_is_and_how_to_prove_it() -> None:
    """With the whole checksum, and a command to copy."""
    response = standings(standing(1, "ada"))
    assert not any("final" in note for note in notes(response))
    response.run.final_of = "9"
    assert "the final run of tournament 9, which settled the ladder" in notes(response)
    cited, command = final_lines(response)
    assert cited.startswith(
        "final run 7 of freestyle-15x15-blitz from 123 games; checksum 0123456789ab"
    )
    assert cited.endswith(response.run.checksum)
    assert command == "meijin ladder verify freestyle-15x15-blitz --run 7"


def test_without_a_run_the_note_says_what_brings_one() -> None:
    """There is nothing to cite yet."""
    empty = pb.GetStandingsResponse(ladder=pb.Ladder(name="freestyle-15x15-blitz"))
    assert notes(empty) == [
        "freestyle-15x15-blitz: no ratings yet; the first rated games bring them"
    ]


def test_csv_has_every_number_in_full() -> None:
    """One line a version, under a header."""
    response = standings(standing(1, "ada, the first"), standing(2, "bob"))
    response.standings[1].ClearField("superiority")
    first, last = csv.DictReader(io.StringIO(standings_csv(response.standings)))
    assert first["bot"] == "ada, the first"
    assert float(first["elo"]) == 1550.4
    assert (first["wins_as_black"], first["losses_as_white"]) == ("5", "8")
    assert (first["superiority"], last["superiority"]) == ("0.912", "")
    assert (first["linked"], first["anchor"]) == ("1", "0")


def test_a_matrix_has_a_chance_for_each_two() -> None:
    """Its columns are named by the ranks."""
    cells = [pb.MatrixCell(superiority=share) for share in (0.5, 0.875)]
    turned = [pb.MatrixCell(superiority=share) for share in (0.125, 0.5)]
    response = pb.GetMatrixResponse(
        rows=[
            pb.MatrixRow(standing=standing(1, "ada"), cells=cells),
            pb.MatrixRow(standing=standing(2, "bob"), cells=turned),
        ]
    )
    lines = printed(matrix_table(response))[1:]
    assert [line.split() for line in lines] == [
        ["#", "bot", "Elo", "1", "2"],
        ["1", "ada", "1550", "·", "88"],
        ["2", "bob", "1500", "12", "·"],
    ]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0"), (0.001, "<1"), (0.01, "1"), (0.5, "50"), (0.995, ">99"), (1.0, "100")],
)
def test_per_cent_claims_no_certainty(share: float, text: str) -> None:
    """Nearly certain is not certain."""
    assert percent(share) == text


def test_head_to_head_is_by_colours() -> None:
    """What was expected stands beside it, if anything was."""
    response = pb.GetHeadToHeadResponse(as_black=pb.Score(wins=3, losses=1))
    lines = printed(head_to_head_table("ada", "bob", response))
    assert lines[0] == "ada against bob"
    assert lines[2].split() == ["black", "4", "3-0-1", "75.0%"]
    assert lines[3].split() == ["white", "0", "0-0-0", "-"]
    response.expectation.score_as_black = 0.7
    assert printed(head_to_head_table("ada", "bob", response))[2].split()[-1] == "70.0%"


def test_the_speed_of_machines_is_shown_where_somebody_told_it() -> None:
    """In three digits; whole in the CSV, and empty where it was not told."""
    response = standings(standing(1, "ada"), standing(2, "bob"))
    assert "nodes/s" not in printed(ladder_table(response, 200))[1]
    response.standings[0].nodes_per_second = 1_234_567
    lines = printed(ladder_table(response, 200))
    assert "nodes/s" in lines[1]
    assert "1.23M" in lines[2]
    first, second = csv.DictReader(io.StringIO(standings_csv(response.standings)))
    assert (first["nodes_per_second"], second["nodes_per_second"]) == ("1234567", "")


def test_hardware_is_shown_where_there_is_room() -> None:
    """It is the first column to go on a narrow screen; the CSV has it always."""
    response = standings(standing(1, "ada"), standing(2, "bob"))
    response.standings[0].hardware = "AMD EPYC 7B13, 2 cores"
    response.standings[0].digest = "d1"
    wide, narrow = (printed(ladder_table(response, width)) for width in (200, 100))
    assert wide[1].split()[-1] == "hardware"
    assert "AMD EPYC 7B13, 2 cores" in wide[2]
    assert "hardware" not in narrow[1]
    first, second = csv.DictReader(io.StringIO(standings_csv(response.standings)))
    assert (first["hardware"], first["digest"]) == ("AMD EPYC 7B13, 2 cores", "d1")
    assert (second["hardware"], second["digest"]) == ("", "")
