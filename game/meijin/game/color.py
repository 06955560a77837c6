"""The two sides, and the two seats of a game: its players, apart from the colours that they have."""

from enum import IntEnum


class Color(IntEnum):
    """A side, and the value of its stones in a board's array."""

    BLACK = 1
    """Moves first."""
    WHITE = 2

    @property
    def other(self) -> "Color":
        return Color.WHITE if self is Color.BLACK else Color.BLACK

    @property
    def symbol(self) -> str:
        """The side's stone in a printed board: ``x`` for black, ``o`` for white."""
        return "x" if self is Color.BLACK else "o"


class Seat(IntEnum):
    """A player of a game; an opening may have the two exchange their colours."""

    FIRST = 1
    """Has the black stones, unless the opening gives them to the other."""
    SECOND = 2

    @property
    def other(self) -> "Seat":
        return Seat.SECOND if self is Seat.FIRST else Seat.FIRST
