"""Opening rules: how the first stones are placed, and who gets which colour."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for in one action, beyond the usual stone; of several things, one."""

    stones: int = 0
    """How many stones it may place, black and white in turn; 0 for none."""
    may_choose: bool = False
    """It may choose the side that it plays."""
    squares: tuple[int, ...] = ()
    """Of each stone in turn, the side of the central square that it must lie in; none: anywhere."""
    offers: int = 0
    """How many cells for the next stone it may offer, no two the same up to symmetry; 0 for none."""
    most_offers: int = 0
    """It declares a number from 1 to this of cells that are to be offered; 0 for none."""
    among: tuple[int, ...] = ()
    """The offered cells, of which the one stone takes one; none where nothing was offered."""
    declared: int = 0
    """How many cells are to be offered later, as was declared; 0 before that."""

    def __str__(self) -> str:
        words = ["choose a side"] if self.may_choose else []
        if self.among:
            words.append("take one of the offered cells")
        elif self.stones:
            words.append(f"place {self.stones} stones" if self.stones > 1 else "place a stone")
            if self.squares:
                squares = ", ".join(f"{side}x{side}" for side in self.squares)
                words[-1] += f" within the central {squares}"
        if self.offers:
            words.append(f"offer {self.offers} cells")
        if self.most_offers:
            words.append(f"declare from 1 to {self.most_offers} offers")
        return ", or ".join(words)


class By(enum.Enum):
    """Who acts."""

    FIRST = enum.auto()
    SECOND = enum.auto()
    MOVER = enum.auto()
    """Who has the colour of the next stone."""
    OTHER = enum.auto()
    """Who has the other colour."""


class Does(enum.Enum):
    """What is done."""

    PLACE = enum.auto()
    CHOOSE = enum.auto()
    DECLARE = enum.auto()
    OFFER = enum.auto()
    TAKE = enum.auto()


@dataclass(frozen=True, slots=True)
class Step:
    """One action of an opening."""

    by: By
    does: Does
    count: int = 1
    """Stones that are placed, cells that are offered, or the highest number to be declared; 0
    offers are as many as were declared."""
    squares: tuple[int, ...] = ()
    """As those of a `Task`."""
    instead: "Steps" = ()
    """What may be done instead of this step and all that follow it; by the same player."""


Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class OpeningRule:
    """The actions of the players, one after the other, before stones go one by one."""

    name: str
    """In variants and game records, in lower case."""
    steps: Steps = ()

    @property
    def most_stones(self) -> int:
        """The most that lie on the board before the opening is over."""
        return _most_stones(self.steps)

    @property
    def least_side(self) -> int:
        """The shortest side of a board with room for it; 0 for any."""
        return OFFER_SIDE if any(step.squares for step in self.steps) else 0


def _most_stones(steps: Steps) -> int:
    if not steps:
        return 0
    head, *rest = steps
    own = head.count if head.does is Does.PLACE else int(head.does is Does.TAKE)
    return max(own + _most_stones(tuple(rest)), _most_stones(head.instead))


OFFER_SIDE = 9
"""Side of the largest central square; smaller boards may have no ten different fifths either."""

MOST_OFFERS = 12
"""Fifths that Yamaguchi's rule lets a player declare; its text has no bound."""


def _place(by: By, *squares: int, count: int = 1) -> Step:
    return Step(by, Does.PLACE, len(squares) or count, squares)


def _choose(by: By, *instead: Step) -> Step:
    return Step(by, Does.CHOOSE, instead=instead)


_TAKE = Step(By.OTHER, Does.TAKE)
_OFFER_DECLARED = Step(By.MOVER, Does.OFFER, 0)
_MAY_SWAP = _choose(By.MOVER)

FREE = OpeningRule("free")
"""No opening phase: stones are placed one by one, and the first player has black."""
SWAP1 = OpeningRule("swap1", (_place(By.FIRST), _choose(By.SECOND)))
"""The pie rule: one stone, then the second player chooses its side."""
SWAP = OpeningRule("swap", (_place(By.FIRST, count=3), _choose(By.SECOND)))
"""Three stones, then the second player chooses its side."""
SWAP2 = OpeningRule(
    "swap2",
    (
        _place(By.FIRST, count=3),
        _choose(By.SECOND, _place(By.SECOND, count=2), _choose(By.FIRST)),
    ),
)
"""Three stones, then the second player chooses its side, or places two more and lets the first."""
YAMAGUCHI = OpeningRule(
    "yamaguchi",
    (
        _place(By.FIRST, 1, 3, 5),
        Step(By.FIRST, Does.DECLARE, MOST_OFFERS),
        _choose(By.SECOND),
        _place(By.MOVER),
        _OFFER_DECLARED,
        _TAKE,
    ),
)
"""One of the 26 openings and a number of fifths, a swap, a fourth; then the fifths, of which white
takes one. RIF, https://www.renju.net/rule/5/."""
SOOSYRV8 = OpeningRule(
    "soosyrv8",
    (
        _place(By.FIRST, 1, 3, 5),
        _choose(By.SECOND),
        _place(By.MOVER),
        Step(By.OTHER, Does.DECLARE, 8),
        _choose(By.MOVER),
        _OFFER_DECLARED,
        _TAKE,
    ),
)
"""One of the 26 openings, a swap, a fourth with a number of fifths up to eight, a swap; then the
fifths, of which white takes one. RIF's rule of world championships since 2017,
https://en.wikipedia.org/wiki/Soosõrv_opening_rule."""
TARAGUCHI10 = OpeningRule(
    "taraguchi10",
    (
        _place(By.MOVER, 1),
        _MAY_SWAP,
        _place(By.MOVER, 3),
        _MAY_SWAP,
        _place(By.MOVER, 5),
        _MAY_SWAP,
        _place(By.MOVER, 7),
        _choose(By.MOVER, Step(By.MOVER, Does.OFFER, 10), _TAKE),
        _place(By.MOVER, 9),
        _MAY_SWAP,
    ),
)
"""A swap after each of five stones, in ever larger squares; or in place of the last two swaps and
the fifth, ten fifths, of which white takes one. RIF,
https://en.wikipedia.org/wiki/Taraguchi_opening_rule."""

OPENING_RULES: Mapping[str, OpeningRule] = MappingProxyType(
    {rule.name: rule for rule in (FREE, SWAP1, SWAP, SWAP2, SOOSYRV8, TARAGUCHI10, YAMAGUCHI)}
)


def opening_rule_named(name: str) -> OpeningRule:
    """The opening rule called `name`.

    Raises:
        ValueError: there is none; the message lists the names there are.
    """
    if name not in OPENING_RULES:
        names = ", ".join(OPENING_RULES)
        raise ValueError(f'no opening rule "{name}"; the opening rules are {names}')
    return OPENING_RULES[name]
