"""The two seats of a game: its players, apart from the colours that they have."""

from enum import IntEnum


class Seat(IntEnum):
    """A player of a game; an opening may have the two exchange their colours."""

    FIRST = 1
    """Has the black stones, unless the opening gives them to the other."""
    SECOND = 2

    @property
    def other(self) -> "Seat":
        """The opponent."""
        return Seat.SECOND if self is Seat.FIRST else Seat.FIRST
