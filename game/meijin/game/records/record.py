"""Game records."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from meijin.game.board.board import Board
from meijin.game.clock import Clock, TimeControl
from meijin.game.color import Color
from meijin.game.outcome import Outcome
from meijin.game.position import GamePosition, SideChoice
from meijin.game.records.analysis import Analysis
from meijin.game.rules.variant import Variant
from meijin.game.seat import Seat


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game from its first move to its outcome, enough to replay it."""

    variant: Variant
    black: str
    """The name of the player of the black stones."""
    white: str
    moves: tuple[int, ...]
    """The cells in the order played."""
    times: tuple[timedelta, ...] = ()
    """The time charged for each move, zero in the opening; empty where it is unknown."""
    raw_times: tuple[timedelta, ...] = ()
    """The time from each request to its answer, before credits; empty where it is unknown."""
    analysis: tuple[Analysis | None, ...] = ()
    """What the bots thought of each move; empty where they said nothing."""
    opening_plies: int = 0
    """How many of the moves were given to both sides."""
    time_control: TimeControl | None = None
    outcome: Outcome | None = None
    """``None`` while the game is running."""
    start_time: datetime | None = None
    """Aware of its time zone."""
    end_time: datetime | None = None
    """Aware of its time zone."""
    event: str = ""
    game_id: str = ""
    choice: SideChoice | None = None
    """The choice of a side in the opening; `black` and `white` are who had which in the end."""
    black_version: str = ""
    """The label of the player's version."""
    white_version: str = ""
    white_time_control: TimeControl | None = None
    """``None`` where it is black's, the `time_control`."""

    def __post_init__(self) -> None:
        for times in (self.times, self.raw_times):
            if times and len(times) != len(self.moves):
                raise ValueError(f"{len(times)} times don't fit {len(self.moves)} moves")
            if times and min(times) < timedelta(0):
                raise ValueError(f"a move can't take {min(times)}")
        if self.analysis and len(self.analysis) != len(self.moves):
            raise ValueError(f"{len(self.analysis)} analyses don't fit {len(self.moves)} moves")
        if not any(self.analysis):
            object.__setattr__(self, "analysis", ())  # frozen: as if nothing had been given
        if not 0 <= self.opening_plies <= len(self.moves):
            raise ValueError(
                f"an opening of {self.opening_plies} plies doesn't fit {len(self.moves)} moves"
            )
        if self.choice is not None and self.choice.ply > len(self.moves):
            raise ValueError(
                f"a choice at ply {self.choice.ply} doesn't fit {len(self.moves)} moves"
            )
        for name, time in (("start", self.start_time), ("end", self.end_time)):
            if time is not None and time.utcoffset() is None:
                raise ValueError(f"{name} time {time} needs a time zone")

    def control_of(self, color: Color) -> TimeControl | None:
        """What a side got on its clock; ``None`` where it is unknown."""
        own = self.white_time_control if color is Color.WHITE else None
        return own or self.time_control

    def clock(self) -> Clock:
        """The clock of both seats at the game's beginning.

        Raises:
            ValueError: nobody knows the time control.
        """
        if self.time_control is None:
            raise ValueError("the record has no time control, so nobody knows the clocks")
        position = GamePosition(Board(self.variant), self.choice)
        first, second = (self.control_of(position.color_of(seat)) for seat in Seat)
        return Clock.of(first or self.time_control, second or self.time_control)

    def board(self) -> Board:
        """The board after the last move.

        Raises:
            IllegalMoveError: the moves are no game of the variant.
        """
        return Board.from_moves(self.moves, self.variant)

    def _repr_svg_(self) -> str:
        """The picture of the last board, which notebooks show."""
        return self.board().svg()
