"""What a ladder's name says."""

import pytest

from meijin.web.pages.ladders.names import LadderName


@pytest.mark.parametrize(
    ("name", "variant", "rule", "time_class"),
    [
        ("freestyle-15x15-blitz", "freestyle 15x15", "freestyle", "blitz"),
        ("renju-15x15-swap2-blitz", "renju 15x15 swap2", "renju", "blitz"),
        ("renju-15x15-draw-at-200-rapid", "renju 15x15 draw at 200", "renju", "rapid"),
        ("freestyle-3x3-line-3-bullet", "freestyle 3x3 line 3", "freestyle", "bullet"),
        ("exactly-five-19x19-blitz", "exactly five 19x19", "exactly-five", "blitz"),
        ("freestyle-15x15", "freestyle 15x15", "freestyle", ""),
        ("freestyle-15x15-swap2", "freestyle 15x15 swap2", "freestyle", ""),
        ("caro", "caro", "", ""),
    ],
)
def test_parts_of_a_name(name: str, variant: str, rule: str, time_class: str) -> None:
    """A variant, its rule and a class, as far as the name has them."""
    assert LadderName.parse(name) == LadderName(name, variant, rule, time_class)


def test_neighbours() -> None:
    """Other variants of the same class, and other classes of the same variant."""
    ladder = LadderName.parse("freestyle-15x15-blitz")
    names = ["freestyle-15x15-blitz", "freestyle-15x15-rapid", "renju-15x15-blitz"]
    found = ladder.neighbours(names)
    assert [each.name for each in found["variants"]] == [names[0], names[2]]
    assert [each.name for each in found["time_classes"]] == names[:2]
