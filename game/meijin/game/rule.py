"""Rules: what wins and what is forbidden."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from meijin.game.color import Color
from meijin.game.grid import Grid


class Stones(Protocol):
    """The stones of a board, which is what a rule sees of it."""

    @property
    def stones(self) -> bytearray:
        """A flat array: 0 for empty, else a `Color` or the border."""

    @property
    def grid(self) -> Grid:
        """Where each cell lies in `stones`."""

    @property
    def line(self) -> int:
        """Stones in a row that win."""


class Rule(Protocol):
    """Judges single moves; it keeps no state, so one object serves every board."""

    @property
    def name(self) -> str:
        """The rule's name in variants and game records, in lower case."""

    def wins(self, board: Stones, cell: int) -> bool:
        """Whether the stone on `cell` stands in a winning line.

        Called once per move, so it looks at the lines through `cell` alone.
        """

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:
        """Whether the rule forbids `color` a stone on the empty `cell`."""


@dataclass(frozen=True, slots=True)
class LineRule:
    """A line of stones wins, and no empty cell is forbidden."""

    name: str
    overline_wins: bool
    """Whether a line longer than the variant's wins too."""

    def wins(self, board: Stones, cell: int) -> bool:
        """Whether the stone on `cell` stands in a winning line.

        The border of `board.stones` ends each walk without a bounds check.
        """
        stones = board.stones
        grid = board.grid
        at = grid.index[cell]
        color = stones[at]
        for step in grid.steps:
            low, high = at - step, at + step
            if stones[low] != color and stones[high] != color:
                continue  # as most stones are, and a line has two at least
            while stones[low] == color:
                low -= step
            while stones[high] == color:
                high += step
            # `low` and `high` lie outside the run: n stones span n + 1 steps.
            line, steps = board.line, (high - low) // step
            if steps > line and (self.overline_wins or steps == line + 1):
                return True
        return False

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:  # noqa: ARG002 - see Rule
        """Forbid nothing."""
        return False


FREESTYLE = LineRule("freestyle", overline_wins=True)
STANDARD = LineRule("standard", overline_wins=False)

RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in (FREESTYLE, STANDARD)})
"""Every rule, by its name."""


def rule_named(name: str) -> Rule:
    """The rule called `name`.

    Raises:
        ValueError: there is none; the message lists the names there are.
    """
    if name not in RULES:
        raise ValueError(f'no rule "{name}"; the rules are {", ".join(RULES)}')
    return RULES[name]
