"""A person's game, as its stream has told of it, and what the person may do in it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from meijin.game import Board, Color, IllegalMoveError, Outcome, Variant, cell_name, winning_lines
from meijin.game.board.forbidden import forbidden_cells
from meijin.v1 import play_service_pb2 as pb
from meijin.web.refusals import bad_request
from meijin.web.wording import text


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """What the person is asked for."""

    ply: int
    """The stones on the board; the answer repeats it."""
    stones: int
    """How many it places at once; 0 where a choice is asked for and nothing else."""
    may_choose: bool
    """It may choose the side that it plays."""
    is_opening: bool = False
    """An opening rule asks for it."""

    @classmethod
    def of(cls, message: pb.TurnRequested) -> "AskedTurn":
        """What a turn of the stream asks for."""
        if not message.HasField("task"):
            return cls(message.ply, stones=1, may_choose=False)
        task = message.task
        return cls(message.ply, task.stones, task.may_choose, is_opening=True)


@dataclass(frozen=True, slots=True)
class BoardClocks:
    """What is left to both sides, as of an instant."""

    own: timedelta
    opponent: timedelta
    since: float
    """When that was, by a monotonic clock; seconds."""


@dataclass(slots=True)
class PersonGame:
    """One game of a person."""

    number: int
    """Names it on the stream."""
    game_id: str
    variant: Variant
    opponent: str
    color: Color
    """The person's; where sides are still to be chosen, the first player has black."""
    moves: tuple[int, ...]
    turn: AskedTurn | None = None
    """What the person is asked for; ``None`` while the opponent is."""
    clocks: BoardClocks | None = None
    """As the last turn told; ``None`` before the first."""
    outcome: Outcome | None = None
    """``None`` while it runs."""
    forbidden: tuple[int, ...] = ()
    """Where the person may not place a stone, though it is empty."""
    version: int = 0
    """Grows with every change."""
    notice: str = ""
    """Why the last answer had no effect."""
    before: tuple[AskedTurn, tuple[int, ...]] | None = field(default=None, repr=False)
    """What was asked for, and the board, before the last answer."""

    def ask(self, message: pb.TurnRequested, moves: tuple[int, ...]) -> None:
        self.moves, self.turn = moves, AskedTurn.of(message)
        self.clocks = BoardClocks(
            timedelta(milliseconds=message.own_clock_ms),
            timedelta(milliseconds=message.opponent_clock_ms),
            time.monotonic(),
        )
        is_one = self.turn.stones == 1  # else no rule forbids what is placed
        self.forbidden = forbidden_cells(self.board) if is_one else ()
        self.version += 1

    def place(self, cells: Sequence[int]) -> AskedTurn:
        """Put the person's stones on the board; what that answers.

        Raises:
            Refusal: it isn't what is asked for, or the rule does not allow it.
        """
        turn = self._asked()
        if len(cells) != turn.stones:
            raise bad_request(text("play.wrong_number", asked=turn.stones))
        board = self.board
        try:
            for cell in cells:
                board.play(cell)
        except IllegalMoveError as error:
            raise bad_request(text("play.not_there", reason=str(error))) from None
        self._answered(turn, (*self.moves, *cells))
        return turn

    def choose(self, color: Color) -> AskedTurn:
        """Let the person have a side; what that answers.

        Raises:
            Refusal: no choice is asked for.
        """
        turn = self._asked()
        if not turn.may_choose:
            raise bad_request(text("play.no_choice"))
        self._answered(turn, self.moves)
        self.color = color
        return turn

    def give_up(self) -> None:
        """The person asks for nothing more: its resignation is under way."""
        self.turn, self.forbidden = None, ()
        self.version += 1

    def take_notice(self, detail: str) -> None:
        """The last answer had no effect: things are as before it."""
        if self.before is not None and self.outcome is None:
            self.turn, self.moves = self.before
            self.before = None
        self.notice = detail
        self.version += 1

    def end(self, outcome: Outcome, moves: tuple[int, ...]) -> None:
        self.moves, self.outcome, self.turn, self.forbidden = moves, outcome, None, ()
        self.version += 1

    @property
    def board(self) -> Board:
        return Board.from_moves(self.moves, self.variant)

    @property
    def winning(self) -> tuple[tuple[int, ...], ...]:
        """The lines that have won."""
        return winning_lines(self.board)

    @property
    def last_own_ply(self) -> int | None:
        """The number of stones that lay there before the person's last one; ``None`` for none."""
        own = 0 if self.color is Color.BLACK else 1
        plies = range(own, len(self.moves), 2)
        return plies[-1] if plies else None

    def name(self, cell: int) -> str:
        return cell_name(cell, self.variant)

    def _asked(self) -> AskedTurn:
        if self.outcome is not None:
            raise bad_request(text("play.is_over"))
        if self.turn is None:
            raise bad_request(text("play.not_your_turn"))
        return self.turn

    def _answered(self, turn: AskedTurn, moves: tuple[int, ...]) -> None:
        self.before = turn, self.moves
        self.moves, self.turn, self.forbidden, self.notice = moves, None, (), ""
        if self.clocks is not None:
            now = time.monotonic()
            spent = timedelta(seconds=now - self.clocks.since)
            own = max(timedelta(0), self.clocks.own - spent)
            self.clocks = BoardClocks(own, self.clocks.opponent, now)
        self.version += 1
