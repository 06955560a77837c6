import pytest
from tests.cli.shown import cells, printed, titles

from meijin.cli.ladder.compare import head_to_head_table
from meijin.cli.ladder.standings import final_lines, ladder_table, matrix_table, notes
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.run_notes import foretold_note, width_note


def standing(rank: int, bot: str, version: str = "", **changes: object) -> pb.Standing:
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


def standings(*rows: pb.Standing, **changes: object) -> pb.GetStandingsResponse:
    run = pb.RatingRun(run_id="7", games=123, checksum="0123456789abcdef", advantage=12.4)
    run.score_at_100 = 0.6346
    run.MergeFrom(pb.RatingRun(**changes))  # type: ignore[arg-type]
    ladder = pb.Ladder(name="freestyle-15x15-blitz", games=130)
    return pb.GetStandingsResponse(
        ladder=ladder, run=run, standings=rows or [standing(1, "ada"), standing(2, "bob")]
    )


PLAIN = notes(standings())


def test_a_wide_terminal_has_every_column_that_says_something() -> None:
    made = ladder_table(standings(), 200)
    assert made.title == "Ladder freestyle-15x15-blitz"
    shown = "#|bot|Elo|±|games|W-D-L|score|LOS|faults|black|white|draws|opponents|classic"
    assert titles(made) == shown
    best = "1|ada|1550|33|20|7-1-12|37.5%|91.2%|0|55.0%|20.0%|5.0%|1488|1500"
    assert cells(made)[0] == best
    rows = (standing(1, "ada", preview_elo=1555.5), standing(2, "bob", anchor=True))
    assert {"now", "marks"} <= set(titles(ladder_table(standings(*rows), 200)).split("|"))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_table_fits_its_terminal(width: int) -> None:
    rows = [standing(rank, f"bot-{rank}", anchor=True, preview_elo=1500) for rank in (1, 2)]
    lines = printed(ladder_table(standings(*rows), width), width=width)
    assert len(lines) == 4
    assert {"#", "bot", "Elo", "±", "games", "score", "marks"} <= set(lines[1].split())


def test_machines_are_shown_where_somebody_told_of_them_and_there_is_room() -> None:
    response = standings()
    response.standings[0].nodes_per_second = 1_234_567
    response.standings[0].hardware = "AMD EPYC 7B13, 2 cores"
    made = ladder_table(response, 200)
    assert titles(made).endswith("|nodes/s|hardware")
    assert cells(made)[0].endswith("|1.23M|AMD EPYC 7B13, 2 cores")
    assert "hardware" not in titles(ladder_table(response, 100))


def test_what_all_run_on_is_told_once() -> None:
    """Below the table, and in no column of it."""
    response = standings()
    for row in response.standings:
        row.hardware = "AMD EPYC 7B13, 2 cores"
    assert "hardware" not in titles(ladder_table(response, 200))
    assert notes(response) == [*PLAIN, "all ran on AMD EPYC 7B13, 2 cores, as they say"]


def test_options_are_shown_where_a_line_has_some_and_there_is_room() -> None:
    response = standings(standing(1, "ada", configuration=["depth=4", "nodes=9"]), standing(2, "b"))
    assert [row.split("|")[-1] for row in cells(ladder_table(response, 200))] == [
        "depth=4 nodes=9",
        "",
    ]
    assert "options" not in titles(ladder_table(response, 100))


def test_several_versions_are_told_apart_and_the_best_may_stand_alone() -> None:
    rows = (standing(1, "ada", "1.0"), standing(2, "ada", "1.1"), standing(3, "bob", "7"))
    names = [row.split("|")[1] for row in cells(ladder_table(standings(*rows), 120))]
    assert names == ["ada 1.0", "ada 1.1", "bob"]
    assert len(cells(ladder_table(standings(*rows), 120, top=2))) == 2


def test_a_note_tells_how_wide_intervals_are() -> None:
    wide = pb.Overdispersion(factor=1.3)
    assert notes(standings(overdispersion=wide)) == [*PLAIN, width_note(wide)]


def test_a_note_tells_how_often_chances_came_true() -> None:
    response = standings()
    response.foretold.games = 100
    assert notes(response) == [*PLAIN, foretold_note(response.foretold)]


def test_notes_say_how_to_cite_and_to_read() -> None:
    """The run, its games and checksum, what intervals are relative to, and the marks in use."""
    rows = (standing(1, "ada", anchor=True), standing(2, "bob", provisional=True))
    cited, interval, first_move, scale, legend = notes(standings(*rows, repeats=4))
    assert cited.startswith("run 7 of 1970-01-01 00:00 UTC from 123 games, 4 repeats left out")
    assert cited.endswith("checksum 0123456789ab")
    assert "relative to the anchors" in interval
    assert first_move == "moving first is worth +12 Elo"
    assert scale == "100 Elo more score 63.5%"
    assert legend == (
        "A anchor: the anchors' mean is 1500; ? provisional: few games, or all won or all lost"
    )
    assert len(PLAIN) == 4
    assert "mean of the established" in PLAIN[1]
    assert "mean of all" in notes(standings(standing(1, "ada", provisional=True)))[1]


def test_notes_tell_the_widths_of_priors() -> None:
    """That of lineage, where a run has it, and that of openings where it is sure."""
    lineage = {"lineage_deviation": 63.0, "opening_deviation": 140.0}
    assert notes(standings(**lineage))[2] == (
        "moving first is worth +12 Elo; versions deviate from their parents by 63"
    )
    both = lineage | {"opening_is_sure": True}
    assert "+12 Elo, give or take 140 with the opening; versions" in notes(standings(**both))[2]


def test_a_final_run_says_whose_it_is_and_how_to_prove_it() -> None:
    assert not any("final" in note for note in PLAIN)
    response = standings(final_of="9")
    assert "the final run of tournament 9, which settled the ladder" in notes(response)
    settled = "the final run of tournament 9, which settled the ladder: 8 games were enough"
    assert settled in notes(response, "8 games were enough")
    assert final_lines(response) == [
        "final run 7 of freestyle-15x15-blitz from 123 games; checksum 0123456789abcdef",
        "meijin ladder verify freestyle-15x15-blitz --run 7",
    ]


def test_without_a_run_the_note_says_what_brings_one() -> None:
    empty = pb.GetStandingsResponse(ladder=pb.Ladder(name="freestyle-15x15-blitz"))
    said = "freestyle-15x15-blitz: no ratings yet; the first rated games bring them"
    assert notes(empty) == [said]


def test_a_matrix_has_a_chance_for_each_two() -> None:
    chances = (("ada", (0.5, 0.875)), ("bob", (0.125, 0.5)))
    rows = [
        pb.MatrixRow(
            standing=standing(rank, bot), cells=[pb.MatrixCell(superiority=each) for each in shares]
        )
        for rank, (bot, shares) in enumerate(chances, start=1)
    ]
    made = matrix_table(pb.GetMatrixResponse(rows=rows))
    assert titles(made) == "#|bot|Elo|1|2"
    assert cells(made) == ["1|ada|1550|·|88", "2|bob|1500|12|·"]


def test_head_to_head_is_by_colours() -> None:
    response = pb.GetHeadToHeadResponse(as_black=pb.Score(wins=3, losses=1))
    made = head_to_head_table("ada", "bob", response)
    assert made.title == "ada against bob"
    assert cells(made)[:2] == ["black|4|3-0-1|75.0%|", "white|0|0-0-0|-|"]
    response.expectation.score_as_black = 0.7
    assert cells(head_to_head_table("ada", "bob", response))[0] == "black|4|3-0-1|75.0%|70.0%"
