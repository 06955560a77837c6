"""Lines of a ladder: their marks, and as CSV."""

import csv
import io

import pytest

from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import added, games_of, standings_csv, verify_line


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_text_is_a_formula(text: str) -> None:
    """Owners choose what versions and hardware are called, and others open the file."""
    row = pb.Standing(bot="ada", version=text, hardware=text, elo=-12.5)
    (read,) = csv.DictReader(io.StringIO(standings_csv([row])))
    assert (read["version"], read["hardware"]) == (f"'{text}", f"'{text}")
    assert (read["bot"], read["elo"]) == ("ada", "-12.5")


def test_scores_are_added() -> None:
    """Wins, draws and losses, each."""
    both = added(pb.Score(wins=1, draws=2, losses=3), pb.Score(wins=4, draws=5, losses=6))
    assert both == pb.Score(wins=5, draws=7, losses=9)
    assert games_of(both) == 21


def test_the_line_to_verify_names_the_run() -> None:
    """It is to be copied as it is."""
    assert verify_line("renju-15x15-blitz", "7") == "meijin ladder verify renju-15x15-blitz --run 7"
