"""The interface of rules: what wins and what is forbidden; freestyle, standard, caro, of lines alone."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

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

    @property
    def has_forbidden_cells(self) -> bool:
        """Whether there are positions in which it forbids an empty cell."""

    @property
    def needs_five(self) -> bool:
        """Whether it is defined for five in a row alone."""

    def wins(self, board: Stones, cell: int) -> bool:
        """Whether the stone on `cell` stands in a winning line.

        Called once per move, so it looks at the lines through `cell` alone.
        """

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:
        """Whether the rule forbids `color` a stone on the empty `cell`."""

    def foul(self, board: Stones, cell: int) -> str:
        """What the rule calls a forbidden stone on the empty `cell`, such as ``double-three``."""


@dataclass(frozen=True, slots=True)
class LineRule:
    """A line of stones wins, and no empty cell is forbidden."""

    name: str
    overline_wins: bool
    """Whether a line longer than the variant's wins too, be it blocked or not."""
    blocked_wins: bool = True
    """Whether a line of just the variant's length wins with no empty cell at either end."""

    has_forbidden_cells: ClassVar[bool] = False
    needs_five: ClassVar[bool] = False

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
            if steps == line + 1:
                if self.blocked_wins or not (stones[low] and stones[high]):
                    return True
            elif steps > line and self.overline_wins:
                return True
        return False

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:  # noqa: ARG002 - see Rule
        return False

    def foul(self, board: Stones, cell: int) -> str:  # noqa: ARG002 - see Rule
        return ""


FREESTYLE = LineRule("freestyle", overline_wins=True)
STANDARD = LineRule("standard", overline_wins=False)
CARO = LineRule("caro", overline_wins=True, blocked_wins=False)
"""Rule 8 of the Gomocup protocol, as its judge has it: stones and edges block, six always win."""
CARO_EXACT = LineRule("caro-exact", overline_wins=False, blocked_wins=False)
"""Rule 9 of the Gomocup's judge."""
