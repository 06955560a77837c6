"""Lines of a ladder: their columns and marks, and as CSV."""

import csv
import io

import pytest

from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import (
    COLUMNS,
    added,
    chance_text,
    games_of,
    marks,
    standings_csv,
    version_names,
)

LINE = pb.Standing(
    rank=2,
    bot="ada",
    elo=1550.4,
    margin=33.4,
    superiority=0.912,
    classic_elo=1500,
    opponents_elo=1488,
    as_black=pb.Score(wins=5, draws=1, losses=4),
    as_white=pb.Score(wins=2, losses=8),
    faults=5,
    linked=True,
    nodes_per_second=1_234_567,
)


def read_csv(*rows: pb.Standing) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(standings_csv(rows))))


@pytest.mark.parametrize(
    ("name", "cell", "empty"),
    [
        ("rank", "2", "0"),
        ("bot", "ada", ""),
        ("elo", "1550", "0"),
        ("margin", "33", "0"),
        ("preview", "", ""),
        ("form", "", ""),
        ("changed", "", ""),
        ("games", "20", "0"),
        ("results", "7-1-12", "0-0-0"),
        ("score", "37.5%", ""),
        ("superiority", "91.2%", ""),
        ("faults", "5 (25%)", "0"),
        ("black", "55.0%", ""),
        ("white", "20.0%", ""),
        ("draws", "5.0%", ""),
        ("opponents", "1488", "0"),
        ("classic", "1500", "0"),
        ("speed", "1.23M", ""),
        ("hardware", "", ""),
    ],
)
def test_a_column_says(name: str, cell: str, empty: str) -> None:
    """Of a line, and of one that nothing is known of; it orders the lines that it says much of."""
    column = COLUMNS[name]
    assert (column.cell(LINE), column.cell(pb.Standing())) == (cell, empty)
    assert (column.key(LINE) is None) == (not cell)


@pytest.mark.parametrize(
    ("score", "cell"), [(pb.Score(wins=64), "> 1960"), (pb.Score(losses=64), "< 1960")]
)
def test_a_perfect_score_has_a_bound(score: pb.Score, cell: str) -> None:
    """In place of a rating and an interval; it stands where the rating is."""
    row = pb.Standing(elo=2433.4, margin=534, bound=1960.2, as_white=score)
    assert (COLUMNS["elo"].cell(row), COLUMNS["margin"].cell(row)) == (cell, "")
    assert COLUMNS["elo"].key(row) == 2433.4


def test_form_has_its_interval_and_its_games() -> None:
    row = pb.Standing(form=1650.4, form_margin=70.4, form_games=100)
    row.as_white.draws = 100
    assert (COLUMNS["form"].cell(row), COLUMNS["form"].key(row)) == ("1650 ±70 (100)", 1650.4)
    row.as_white.CopyFrom(pb.Score(wins=100))
    assert (COLUMNS["form"].cell(row), COLUMNS["form"].key(row)) == ("", None)


@pytest.mark.parametrize(
    ("row", "letters"),
    [
        (pb.Standing(linked=True), ""),
        (pb.Standing(anchor=True, provisional=True), "A?~"),
        (pb.Standing(linked=True, paused=True), "P"),
        (pb.Standing(linked=True, depends_on_opponents=True), "V"),
        (pb.Standing(linked=True, changes_over_time=True), "C"),
    ],
)
def test_marks(row: pb.Standing, letters: str) -> None:
    """A letter for each flag that one has to know of."""
    assert marks(row) == letters


def test_csv_has_every_field_in_full() -> None:
    """One line a version, under the names of the fields; what was not told is empty."""
    known, unknown = read_csv(LINE, pb.Standing(bot="bob, the last"))
    assert (known["elo"], known["superiority"], known["linked"]) == ("1550.4", "0.912", "1")
    assert (known["wins_as_black"], known["losses_as_white"]) == ("5", "8")
    assert (known["anchor"], known["nodes_per_second"]) == ("0", "1234567")
    assert unknown["bot"] == "bob, the last"
    assert {unknown[name] for name in ("superiority", "preview_elo", "nodes_per_second")} == {""}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_text_is_a_formula(text: str) -> None:
    """Owners choose what versions and hardware are called, and others open the file."""
    (read,) = read_csv(pb.Standing(bot="ada", version=text, hardware=text, elo=-12.5))
    assert (read["version"], read["hardware"]) == (f"'{text}", f"'{text}")
    assert (read["bot"], read["elo"]) == ("ada", "-12.5")


def test_scores_are_added() -> None:
    """Wins, draws and losses, each."""
    both = added(pb.Score(wins=1, draws=2, losses=3), pb.Score(wins=4, draws=5, losses=6))
    assert both == pb.Score(wins=5, draws=7, losses=9)
    assert games_of(both) == 21


def test_versions_of_a_bot_are_told_apart() -> None:
    rows = [
        pb.Standing(bot=bot, version=label) for bot, label in (("a", "1"), ("a", ""), ("b", "2"))
    ]
    assert version_names(rows) == ["a 1", "a", "b"]


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0.0, "0"), (0.001, "<1"), (0.01, "1"), (0.5, "50"), (0.995, ">99"), (1.0, "100")],
)
def test_per_cent_claims_no_certainty(chance: float, text: str) -> None:
    assert chance_text(chance) == text
