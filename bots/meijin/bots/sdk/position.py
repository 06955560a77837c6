"""Position: what a bot sees at its turn, and how much of its time it spends on one move."""

from __future__ import annotations

from datetime import timedelta

from meijin.bots.sdk.turn import Charge
from meijin.game import Board, Color, Task, TimeControl, Variant
from meijin.game.position import allows

_MILLISECOND = timedelta(milliseconds=1)
_NO_CAP = 1 << 62


class Position:
    """A game in which it is the bot's turn; the same object as long as the stream lasts.

    A search may play and undo on `board` as it likes, as long as it leaves it as found,
    or work on `board.copy()`. Durations are kept as whole milliseconds, the wire's unit:
    two `timedelta`s a turn would cost as much as playing the opponent's stone.
    """

    board: Board
    """The stones and every move so far."""
    color: Color
    """The bot's side."""
    time_control: TimeControl
    game_id: str
    """Names the game on its server, for good."""
    opponent: str
    """The other bot's name."""
    clock_ms: int
    """`clock_left` in milliseconds."""
    move_ms: int
    """`time_left` in milliseconds."""
    opponent_clock_ms: int
    """`opponent_time_left` in milliseconds."""
    last_charge: Charge | None
    """What the bot's last answer in this game was charged; ``None`` before the first."""
    task: Task | None
    """What the opening asks for; ``None`` for a usual move."""
    max_nodes: int
    """The most positions that a search is to visit; 0 for any number, as in every game."""
    lost_us: int
    """Of that, what the bot did not take itself: microseconds that the network and waiting cost its clock."""

    def __init__(
        self,
        board: Board,
        time_control: TimeControl,
        *,
        color: Color | None = None,
        game_id: str = "",
        opponent: str = "",
        max_nodes: int = 0,
    ) -> None:
        self.board = board
        self.time_control = time_control
        self.color = color or board.side_to_move
        self.game_id = game_id
        self.opponent = opponent
        self.last_charge = None
        self.task = None
        self.lost_us = 0
        self.max_nodes = max_nodes
        cap = time_control.per_move
        self._cap_ms = _NO_CAP if cap is None else cap // _MILLISECOND
        initial = time_control.initial
        start = self._cap_ms if initial is None else initial // _MILLISECOND
        self.set_clocks(start, start)

    def set_clocks(self, own_ms: int, opponent_ms: int) -> None:
        """Both clocks as the server shows them, in milliseconds."""
        self.clock_ms = own_ms
        self.move_ms = min(own_ms, self._cap_ms)
        self.opponent_clock_ms = opponent_ms

    def spend(self, elapsed_ms: int) -> None:
        """Take the milliseconds since the clocks were set off the bot's."""
        self.clock_ms = max(0, self.clock_ms - elapsed_ms)
        self.move_ms = max(0, self.move_ms - elapsed_ms)

    @property
    def variant(self) -> Variant:
        """What is played."""
        return self.board.variant

    @property
    def time_left(self) -> timedelta:
        """The most that this move may take, counted from when the bot was asked."""
        return timedelta(milliseconds=self.move_ms)

    @property
    def clock_left(self) -> timedelta:
        """Left on the bot's clock; with only a cap per move, the same as `time_left`."""
        return timedelta(milliseconds=self.clock_ms)

    @property
    def opponent_time_left(self) -> timedelta:
        """Left on the opponent's clock; with only a cap per move, the cap."""
        return timedelta(milliseconds=self.opponent_clock_ms)

    @property
    def last_move(self) -> int | None:
        """The cell of the last stone, if there is one."""
        moves = self.board.moves
        return moves[-1] if moves else None

    def legal_cells(self) -> list[int]:
        """List the cells that the bot may play on, ascending."""
        return self.board.legal_cells()

    def opening_cells(self, stone: int = 0) -> list[int]:
        """List the cells that the opening allows for a stone of its task, by its number from 0."""
        task, cells = self.task, self.board.legal_cells()
        if task is None:
            return cells
        return [cell for cell in cells if allows(task, stone, cell, self.variant)]

    def _repr_svg_(self) -> str:
        """The picture of the board, which notebooks show."""
        return self.board.svg(forbidden=True)

    def __repr__(self) -> str:
        return f"<Position {self.game_id} against {self.opponent}, {self.board!r}>"


RESERVE = timedelta(milliseconds=100)
"""Kept back for the way to the server and for the last step of a search."""
RESERVED_SHARE = 0.2
"""The reserve where less than half a second is left."""
MOVES_TO_GO = 20
"""The clock is to last for as many more moves."""


def thinking_time(position: Position, limit: timedelta | None = None) -> timedelta:
    """Time for one move: most of a cap per move, or a share of the clock with the increment.

    It is never more than `limit`, and always leaves a reserve of what may be spent.
    """
    left = position.time_left
    time = left - min(RESERVE, left * RESERVED_SHARE)
    control = position.time_control
    if control.initial is not None:
        time = min(time, position.clock_left / MOVES_TO_GO + control.increment * 0.8)
    return time if limit is None else min(time, limit)
