import pytest

from meijin.cli.tournament.bracket import bracket_lines
from meijin.v1.tournament_service_pb2 import Meeting

FIVE = (
    Meeting(round=1, number=1, first="ada", next=5, winner="ada", bye=True),
    Meeting(
        round=1, number=2, first="dan", second="eve", first_points=0.5, second_points=1.5,
        winner="eve", next=5,
    ),
    Meeting(round=1, number=3, first="bob", next=6, winner="bob", bye=True),
    Meeting(round=1, number=4, first="cyd", next=6, winner="cyd", bye=True),
    Meeting(round=2, number=5, first="ada", second="eve", first_points=2, winner="ada", next=7),
    Meeting(round=2, number=6, first="bob", second="cyd", next=7),
    Meeting(round=3, number=7, first="ada"),
)  # fmt: skip

DRAWN = """\
ada ─────┐
         ├ada 2 ───┐
bye ─────┘         │
                   ├ada ─────┐
dan 0.5 ─┐         │         │
         ├eve 0 ───┘         │
eve 1.5 ─┘                   │
                             ├?
bob ─────┐                   │
         ├bob 0 ───┐         │
bye ─────┘         │         │
                   ├? ───────┘
cyd ─────┐         │
         ├cyd 0 ───┘
bye ─────┘"""


def test_the_rounds_stand_beside_each_other() -> None:
    assert "\n".join(bracket_lines(FIVE, 80)) == DRAWN


@pytest.mark.parametrize("width", [80, 60, 48])
def test_it_is_never_wider_than_it_may_be(width: int) -> None:
    long = [
        Meeting(round=each.round, number=each.number, first="a" * 40, second="b" * 40, next=1)
        for each in FIVE
    ]
    lines = bracket_lines(long, width)
    assert max(map(len, lines)) <= width
    assert "…" in lines[0]


def test_where_it_is_too_narrow_the_rounds_are_listed() -> None:
    assert bracket_lines(FIVE, 30) == [
        "round 1",
        "  ada - bye  ada goes on",
        "  dan - eve  0.5 : 1.5  eve goes on",
        "  bob - bye  bob goes on",
        "  cyd - bye  cyd goes on",
        "round 2",
        "  ada - eve  2 : 0  ada goes on",
        "  bob - cyd  0 : 0",
        "round 3",
        "  ada - ?  0 : 0",
    ]
