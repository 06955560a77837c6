"""Balanced openings of each rule, from lists that ship: an opening a line.

A board takes its rule's list of the size nearest to its own, about its centre. In each list a line
after a ``#`` is the command that made what follows it, a run of ``meijin openings vet``; the first
forty for freestyle on 15x15 are by a much stronger engine, which calls each even, given 0.25 s.
Random openings are one-sided (9 % of them pass), which hides differences in strength.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from meijin.game.openings.opening import Opening, distinct, parse_opening
from meijin.game.rules.renju import RENJU
from meijin.game.rules.rule import CARO, CARO_EXACT, FREESTYLE, STANDARD, Rule
from meijin.game.rules.variant import GOMOKU_LINE, Variant

SIDES: dict[Rule, tuple[int, ...]] = {
    FREESTYLE: (15, 20),
    STANDARD: (15, 20),
    RENJU: (15,),
    CARO: (15,),
    CARO_EXACT: (15,),
}
"""Of the square boards that a rule has lists for."""

FIRST = 40
"""Openings at the start of a list that were searched longest, and are dealt before the others."""

MIN_BALANCED_SIDE = 9
"""The shortest side that leaves room around the balanced openings, which span 7x7."""


def has_balanced_openings(variant: Variant) -> bool:
    """Whether openings are given, the line is five, and both sides have room around the middle."""
    has_room = min(variant.width, variant.height) >= MIN_BALANCED_SIDE
    return variant.line == GOMOKU_LINE and has_room and not variant.opening_rule.steps


def openings_for(variant: Variant) -> tuple[Opening, ...]:
    """The openings that games of a variant start from, in a fixed order.

    The balanced ones where the line is five and both sides have room; otherwise, and where the
    players place the first stones by an opening rule, the empty opening alone.
    """
    return balanced_openings(variant)[:FIRST] if has_balanced_openings(variant) else ((),)


@lru_cache(maxsize=64)
def balanced_openings(variant: Variant) -> tuple[Opening, ...]:
    """The whole list of a variant's rule, on a board with room for it."""
    shorter = min(variant.width, variant.height)
    side = min(SIDES[variant.rule], key=lambda side: abs(side - shorter))
    listed = Variant(variant.rule, side, side)
    down, right = variant.height // 2 - side // 2, variant.width // 2 - side // 2
    return tuple(
        tuple((cell // side + down) * variant.width + cell % side + right for cell in opening)
        for opening in _listed(listed)
    )


def _listed(variant: Variant) -> Iterator[Opening]:
    name = f"{variant.rule.name}-{variant.size}.txt"
    text = files(__package__).joinpath("lists", name).read_text()
    lines = (line.partition("#")[0] for line in text.splitlines())
    openings = (parse_opening(line, variant) for line in lines if line)
    return distinct(openings, variant, set())
