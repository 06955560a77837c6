"""Outcomes: how games end, and through whose fault."""

from dataclasses import dataclass
from enum import Enum

from meijin.game.color import Color


class Ending(Enum):
    """Why a game ended."""

    FIVE = "five"
    """A winning line, of five stones in Gomoku."""
    DRAW = "draw"
    """No winning line, and no cell left that may be played on."""
    RESIGN = "resign"
    TIME = "time"
    """A move took longer than the clock allowed."""
    ILLEGAL = "illegal"
    """A move on an occupied cell, or off the board."""
    FORBIDDEN = "forbidden"
    """A move that the rule forbids its side, such as a double-three of black in renju."""
    CRASH = "crash"
    DISCONNECT = "disconnect"
    """A bot stayed away for longer than the grace period."""
    ADJUDICATION = "adjudication"
    """Somebody decided before the board did."""
    VOID = "void"
    """The game doesn't count."""

    @property
    def is_forfeit(self) -> bool:
        """Whether a side lost by breaking off or breaking the rules."""
        return self in _FORFEITS


_WITHOUT_WINNER = frozenset({Ending.DRAW, Ending.VOID})
_FORFEITS = frozenset(
    {Ending.TIME, Ending.ILLEGAL, Ending.FORBIDDEN, Ending.CRASH, Ending.DISCONNECT}
)


class Party(Enum):
    """Who is at fault."""

    NOBODY = "nobody"
    BLACK = "black"
    WHITE = "white"
    SERVER = "server"
    NETWORK = "network"
    OPERATOR = "operator"
    SUPPLIER = "supplier"
    """Whom a bot depends on, such as the host of its model."""

    @classmethod
    def of(cls, color: Color) -> "Party":
        return cls.BLACK if color is Color.BLACK else cls.WHITE

    @property
    def color(self) -> Color | None:
        """The side that the party is, if it is one."""
        return _SIDES.get(self)


_SIDES = {Party.of(color): color for color in Color}


class Result(Enum):
    """The score of a game, as game records write it."""

    BLACK_WINS = "1-0"
    WHITE_WINS = "0-1"
    DRAW = "1/2-1/2"
    NONE = "*"
    """The game has no result: it is void."""

    @classmethod
    def won_by(cls, color: Color) -> "Result":
        """The result of a game that `color` won."""
        return cls.BLACK_WINS if color is Color.BLACK else cls.WHITE_WINS

    @property
    def winner(self) -> Color | None:
        return _WINNERS.get(self)

    @property
    def mirrored(self) -> "Result":
        """The same with the sides exchanged."""
        winner = self.winner
        return self if winner is None else Result.won_by(winner.other)

    def points(self, color: Color) -> float:
        """The points of `color`: 1 for a win, 0.5 for a draw, 0 for a loss.

        Raises:
            ValueError: there is no result.
        """
        if self is Result.NONE:
            raise ValueError("a game without a result gives no points")
        if self is Result.DRAW:
            return 0.5
        return 1.0 if self.winner is color else 0.0


_WINNERS = {Result.won_by(color): color for color in Color}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one game ended."""

    ending: Ending
    winner: Color | None = None
    """The side that won; ``None`` for a draw and for a void game."""
    at_fault: Party = Party.NOBODY
    """The loser of a forfeit; for other endings never a side."""
    detail: str = ""
    """One sentence for people, or nothing."""

    def __post_init__(self) -> None:
        if self.ending in _WITHOUT_WINNER and self.winner is not None:
            raise ValueError(f'"{_name(self.winner)}" can\'t win by "{self.ending.value}"')
        needs_winner = self.ending not in _WITHOUT_WINNER and self.ending is not Ending.ADJUDICATION
        if needs_winner and self.winner is None:
            raise ValueError(f'"{self.ending.value}" needs a winner')
        self._check_fault()

    def _check_fault(self) -> None:
        loser = self.winner.other if self.winner and self.ending.is_forfeit else None
        if self.at_fault.color is not loser:
            raise ValueError(
                f'"{self.at_fault.value}" can\'t be at fault for "{self.result.value}" by '
                f"\"{self.ending.value}\": a forfeit is the loser's fault, no other ending a side's"
            )

    @property
    def result(self) -> Result:
        """The score, which the ending and the winner make."""
        if self.winner is not None:
            return Result.won_by(self.winner)
        return Result.NONE if self.ending is Ending.VOID else Result.DRAW

    def __str__(self) -> str:
        winner = self.winner
        if self.ending is Ending.VOID:
            fault = "" if self.at_fault is Party.NOBODY else f": {self.at_fault.value}"
            return f"void{fault}"
        if winner is None:
            return "draw" if self.ending is Ending.DRAW else f"draw by {self.ending.value}"
        if self.ending.is_forfeit:
            return f"{_name(winner.other)} forfeits: {self.ending.value}"
        if self.ending is Ending.RESIGN:
            return f"{_name(winner.other)} resigns"
        return f"{_name(winner)} wins by {self.ending.value}"


def _name(color: Color) -> str:
    return color.name.lower()
