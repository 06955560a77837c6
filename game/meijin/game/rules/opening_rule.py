"""Opening rules: how the first stones are placed, and who gets which colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from meijin.game.color import Seat


@dataclass(frozen=True, slots=True)
class Task:
    """What a seat is asked for in one action, beyond the usual stone."""

    seat: Seat
    stones: int
    """How many stones it may place, black and white in turn; 0 for none."""
    may_choose: bool
    """It may choose the side that it plays; where it may place stones too, one of the two."""

    def __str__(self) -> str:
        stones = f"place {self.stones} stones" if self.stones > 1 else "place a stone"
        if not self.may_choose:
            return stones
        return f"choose a side, or {stones}" if self.stones else "choose a side"


@dataclass(frozen=True, slots=True)
class OpeningRule:
    """Stones are placed by one player, and the other chooses its side."""

    name: str
    """In variants and game records, in lower case."""
    stones: int = 0
    """What the first player places, black and white in turn, before the second one chooses."""
    more: int = 0
    """What the second player may place instead of choosing: then the first one chooses."""

    @property
    def most_stones(self) -> int:
        """The most that lie on the board before the sides are settled."""
        return self.stones + self.more

    def task(self, ply: int) -> Task | None:
        """What is asked for while no side is chosen; ``None`` for stones one by one."""
        if not self.stones:
            return None
        if ply < self.stones:
            return Task(Seat.FIRST, self.stones - ply, may_choose=False)
        if ply == self.stones:
            return Task(Seat.SECOND, self.more, may_choose=True)
        if ply < self.most_stones:
            return Task(Seat.SECOND, self.most_stones - ply, may_choose=False)
        return Task(Seat.FIRST, 0, may_choose=True)

    def chooser(self, ply: int) -> Seat:
        """Who chooses a side with `ply` stones on the board."""
        return Seat.SECOND if ply == self.stones else Seat.FIRST


FREE = OpeningRule("free")
"""No opening phase: stones are placed one by one, and the first player has black."""
SWAP1 = OpeningRule("swap1", stones=1)
"""The pie rule: one stone, then the second player chooses its side."""
SWAP = OpeningRule("swap", stones=3)
"""Three stones, then the second player chooses its side."""
SWAP2 = OpeningRule("swap2", stones=3, more=2)
"""Three stones, then the second player chooses its side, or places two more and lets the first."""

OPENING_RULES: Mapping[str, OpeningRule] = MappingProxyType(
    {rule.name: rule for rule in (FREE, SWAP1, SWAP, SWAP2)}
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
