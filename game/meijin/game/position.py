"""The position of a game between two seats: who is to act, and who has which colour."""

from meijin.game.board import Board
from meijin.game.color import Color
from meijin.game.seat import Seat


class GamePosition:
    """A game in progress: its board, and the seats of its two players."""

    __slots__ = ("board", "turns")

    board: Board
    turns: tuple[Seat, Seat]
    """Who is to act at an even and at an odd ply: for hot loops, to be read alone."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.turns = (Seat.FIRST, Seat.SECOND)

    @property
    def seat_to_act(self) -> Seat:
        """Who is to act."""
        return self.turns[len(self.board.moves) & 1]

    def color_of(self, seat: Seat) -> Color:
        """The colour that a seat has."""
        return Color.BLACK if seat is self.turns[0] else Color.WHITE

    def seat_of(self, color: Color) -> Seat:
        """The seat that has a colour."""
        return self.turns[color - Color.BLACK]
