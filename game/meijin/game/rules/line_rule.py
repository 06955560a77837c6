"""Rules of lines: freestyle, standard and caro, which forbid no cell."""

from dataclasses import dataclass
from typing import ClassVar

from meijin.game.color import Color
from meijin.game.rules.rule import Stones


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
        """Forbid nothing."""
        return False

    def foul(self, board: Stones, cell: int) -> str:  # noqa: ARG002 - see Rule
        """There are no fouls."""
        return ""


FREESTYLE = LineRule("freestyle", overline_wins=True)
STANDARD = LineRule("standard", overline_wins=False)
CARO = LineRule("caro", overline_wins=True, blocked_wins=False)
"""Rule 8 of the Gomocup protocol, as its judge has it: stones and edges block, six always win."""
CARO_EXACT = LineRule("caro-exact", overline_wins=False, blocked_wins=False)
"""Rule 9 of the Gomocup's judge."""
