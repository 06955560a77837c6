"""Game records."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from meijin.game.board import Board
from meijin.game.clock import TimeControl
from meijin.game.outcome import Outcome
from meijin.game.position import SideChoice
from meijin.game.variant import Variant


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
    opening_plies: int = 0
    """How many of the moves were given to both sides."""
    time_control: TimeControl | None = None
    outcome: Outcome | None = None
    """``None`` while the game is running."""
    start_time: datetime | None = None
    """Aware of its time zone."""
    event: str = ""
    game_id: str = ""
    choice: SideChoice | None = None
    """The choice of a side in the opening; `black` and `white` are who had which in the end."""

    def __post_init__(self) -> None:
        if self.times and len(self.times) != len(self.moves):
            raise ValueError(f"{len(self.times)} times don't fit {len(self.moves)} moves")
        if any(time < timedelta(0) for time in self.times):
            raise ValueError(f"a move can't take {min(self.times)}")
        if not 0 <= self.opening_plies <= len(self.moves):
            raise ValueError(
                f"an opening of {self.opening_plies} plies doesn't fit {len(self.moves)} moves"
            )
        if self.choice is not None and self.choice.ply > len(self.moves):
            raise ValueError(
                f"a choice at ply {self.choice.ply} doesn't fit {len(self.moves)} moves"
            )
        if self.start_time is not None and self.start_time.utcoffset() is None:
            raise ValueError(f"start time {self.start_time} needs a time zone")

    def board(self) -> Board:
        """The board after the last move.

        Raises:
            IllegalMoveError: the moves are no game of the variant.
        """
        return Board.from_moves(self.moves, self.variant)
