"""The interface of rules: what wins and what is forbidden."""

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
