"""Options that matches of two alone have."""

from datetime import timedelta

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.match_options import adjudication, set_clocks
from meijin.v1 import tournament_service_pb2 as pb


def test_adjudication_is_asked_for() -> None:
    """Each rule by its numbers; without any games are played to their end."""
    assert adjudication(None, None) is None
    assert adjudication("500,3", "20,8,60") == pb.Adjudication(
        resign=pb.ResignRule(score=500, moves=3),
        draw=pb.DrawRule(score=20, moves=8, from_ply=60),
    )
    assert adjudication(None, "0,5") == pb.Adjudication(draw=pb.DrawRule(score=0, moves=5))


@pytest.mark.parametrize(
    ("resign", "draw"),
    [("500", None), ("a,b", None), ("500,3,1", None), (None, "1,2,3,4"), ("-5,3", None)],
)
def test_other_numbers_are_refused(resign: str | None, draw: str | None) -> None:
    """With an example."""
    with pytest.raises(CommandError, match="takes numbers such as"):
        adjudication(resign, draw)


def test_numbers_that_cannot_travel_are_refused() -> None:
    """The contract holds no more."""
    with pytest.raises(CommandError, match="out of range"):
        adjudication(f"{10**10},3", None)


def test_each_side_has_its_clock() -> None:
    """The one that is not said has the match's; without any nothing is said of sides."""
    wanted = pb.TournamentSettings()
    set_clocks(wanted, "5/move", None, None)
    assert not wanted.time_controls
    set_clocks(wanted, "5/move", None, "60+0.5")
    first, second = wanted.time_controls
    assert first.per_move.ToTimedelta() == timedelta(seconds=5)
    assert second.initial.ToTimedelta() == timedelta(minutes=1)
    with pytest.raises(CommandError):
        set_clocks(wanted, "5/move", "soon", None)
