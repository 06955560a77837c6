from datetime import timedelta

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.match.options import Clocks, Rules
from meijin.v1 import tournament_service_pb2 as pb


def asked(resign: str | None, draw: str | None) -> pb.TournamentSettings:
    wanted = pb.TournamentSettings()
    Rules(resign, draw).set(wanted)
    return wanted


def test_adjudication_is_asked_for() -> None:
    assert not asked(None, None).HasField("adjudication")
    assert asked("500,3", "20,8,60").adjudication == pb.Adjudication(
        resign=pb.ResignRule(score=500, moves=3),
        draw=pb.DrawRule(score=20, moves=8, from_ply=60),
    )
    expected = pb.Adjudication(draw=pb.DrawRule(score=0, moves=5))
    assert asked(None, "0,5").adjudication == expected


@pytest.mark.parametrize(
    ("resign", "draw"),
    [("500", None), ("a,b", None), ("500,3,1", None), (None, "1,2,3,4"), ("-5,3", None)],
)
def test_other_numbers_are_refused(resign: str | None, draw: str | None) -> None:
    with pytest.raises(CommandError, match="takes numbers such as"):
        asked(resign, draw)
    with pytest.raises(CommandError, match="out of range"):
        asked(f"{10**10},3", None)


def test_each_side_has_its_clock() -> None:
    """The one that is not said has the match's; without any nothing is said of sides."""
    wanted = pb.TournamentSettings()
    Clocks().set(wanted, "5/move")
    assert not wanted.time_controls
    Clocks(None, "60+0.5").set(wanted, "5/move")
    first, second = wanted.time_controls
    assert first.per_move.ToTimedelta() == timedelta(seconds=5)
    assert second.initial.ToTimedelta() == timedelta(minutes=1)
    with pytest.raises(CommandError):
        Clocks("soon").set(wanted, "5/move")
