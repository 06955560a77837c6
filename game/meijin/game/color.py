"""The two sides."""

from enum import IntEnum


class Color(IntEnum):
    """A side, and the value of its stones in a board's array."""

    BLACK = 1
    """Moves first."""
    WHITE = 2

    @property
    def other(self) -> "Color":
        """The opponent."""
        return Color.WHITE if self is Color.BLACK else Color.BLACK

    @property
    def symbol(self) -> str:
        """The side's stone in a printed board: ``x`` for black, ``o`` for white."""
        return "x" if self is Color.BLACK else "o"
