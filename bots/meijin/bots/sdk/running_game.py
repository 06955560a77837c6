"""A running game: its position, the turn that is pending, and the answers to it."""

from __future__ import annotations

import logging
import operator
import time
from collections.abc import Callable, Sequence

from meijin.bots.sdk.answer import (
    RESIGN,
    Answer,
    Choice,
    Failure,
    Unchecked,
    opening_action,
)
from meijin.bots.sdk.bot import Bot, answer_task, settled
from meijin.bots.sdk.errors import failure_of, with_place
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.turn import Charge, Turn
from meijin.bots.sdk.turn_log import log_action, log_turn
from meijin.bots.sdk.wire import Action, ReturningGame
from meijin.game import (
    Board,
    Color,
    IllegalMoveError,
    OpeningAction,
    Placement,
    Task,
    decode_moves,
    encode_moves,
)
from meijin.v1.play_service_pb2 import GameStarted
from meijin.wire.capabilities import move_time
from meijin.wire.values import color_from_proto, time_control_from_proto, variant_from_proto

LOST_SHARE = 0.1
"""A move that loses more of its time than this is warned of."""
LEAST_US = 20_000
"""Less is what a busy processor takes now and then."""
QUIET_SECONDS = 60.0
"""Between two warnings, in however many games."""
_MICROSECONDS = 1_000_000

logger = logging.getLogger("meijin.bots")


class LatencyMonitor:
    """Warns of time lost between the server and the bot: once in a game, once a minute in all.

    That is all which the bot itself does not measure: the network both ways, and turns that
    wait to be read because the bot blocks its event loop.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._warned: set[str] = set()
        self._quiet_until = -1.0

    def note(self, position: Position) -> None:
        """Look at what the last answer has lost, and warn if it was much."""
        lost_us, charge = position.lost_us, position.last_charge
        if lost_us < LEAST_US or charge is None or position.game_id in self._warned:
            return
        usual = move_time(position.time_control).total_seconds()
        if lost_us < usual * LOST_SHARE * _MICROSECONDS or self._clock() < self._quiet_until:
            return
        self._quiet_until = self._clock() + QUIET_SECONDS
        self._warned.add(position.game_id)
        logger.warning(
            "game %s: %.3f s of the %.3f s charged for the last move were lost between the "
            "server and the bot, where a "
            "move has %.3f s (%.3f s more were credited as lag); run the bot nearer to the server, "
            "keep that much back of its time, and don't block its event loop",
            position.game_id,
            lost_us / _MICROSECONDS,
            charge.charged_us / _MICROSECONDS,
            usual,
            charge.lag_us / _MICROSECONDS,
        )

    def forget(self, game_id: str) -> None:
        self._warned.discard(game_id)


_MILLISECOND = 0.001
MAX_CELLS = 1 << 16
"""More than any board has: what the wire can name."""


class RunningGame:
    """A game on one stream; a stream that resumes the game makes another one.

    The event loop notes what the server says, and whoever calls the bot brings the position
    up to date first: a search and the event loop never touch one board at the same time.
    """

    number: int
    """The game's number on the stream."""
    position: Position
    color: Color
    """The bot's side, as the server said last; the position has it from the next turn on."""
    running: bool
    """False once the game has ended or its stream is lost; answers are then dropped."""

    def __init__(
        self,
        started: GameStarted,
        outbox: StreamOutbox,
        clock: Callable[[], float] = time.monotonic,
        *,
        latency: LatencyMonitor | None = None,
        earlier: RunningGame | None = None,
    ) -> None:
        """Begin a game, or go on with that of an `earlier` stream.

        Raises:
            ValueError: there is no such game.
        """
        self.number = started.game
        self.running = True
        self.color = color_from_proto(started.color)
        self.position = Position(
            Board.from_moves(decode_moves(started.moves), variant_from_proto(started.variant)),
            time_control_from_proto(started.time_control),
            color=self.color,
            game_id=started.game_id,
            opponent=started.opponent,
        )
        self._outbox = outbox
        self._clock = clock
        self._latency = latency or LatencyMonitor()
        # The moves of the last turn, and what answered it: of the game's, over all streams.
        self._told: bytes = started.moves if earlier is None else earlier._told  # noqa: SLF001
        self._answer: object = None if earlier is None else earlier._answer  # noqa: SLF001
        self._taken_us = -1  # what the last answer took from read to send; -1 before the first
        self._pending: Turn | None = None  # the turn that waits for an answer
        self._shown = Turn(0, b"", 0, 0, 0.0)  # the turn that the bot was last given

    def begin_turn(self, turn: Turn) -> bool:
        """Begin a turn; False if the bot is searching for it already."""
        if self._pending is not None and self._pending.ply == turn.ply:
            return False
        self._pending = turn
        self._told, self._answer = turn.moves, None
        log_turn(self.position, turn)
        return True

    @property
    def known(self) -> ReturningGame:
        """What the server has told of the game, and what the bot has answered."""
        return ReturningGame(self.position.game_id, self._told, _stones_of(self._answer))

    def turn_position(self) -> Position:
        """The position of the turn, its clocks less the time that the turn has waited.

        Raises:
            ValueError: the server's moves are impossible.
        """
        assert self._pending is not None
        turn = self._shown = self._pending
        self._follow(turn.moves)
        position = self.position
        position.color = self.color
        position.set_clocks(turn.own_ms, turn.opponent_ms)
        waited = self._clock() - turn.read_at
        if waited >= _MILLISECOND:
            position.spend(int(waited / _MILLISECOND))
        if turn.charge is not None:
            self._note_charge(turn.charge)
        return position

    def _note_charge(self, charge: Charge) -> None:
        """Look what of the charge for the last answer was latency."""
        position = self.position
        position.last_charge = charge
        if self._taken_us >= 0:
            position.lost_us = max(charge.charged_us - self._taken_us, 0)
            self._latency.note(position)

    def _follow(self, moves: bytes) -> None:
        """Bring the board to `moves`, from the start where something else stands on it."""
        board = self.position.board
        known = encode_moves(board.moves)
        if known == moves:
            return
        if not moves.startswith(known):
            board = self.position.board = Board(board.variant)
            known = b""
        for cell in decode_moves(moves[len(known) :]):
            board.play(cell)

    @property
    def task(self) -> Task | None:
        """What the opening asks for; ``None`` where a usual move is."""
        return None if self._pending is None else self._pending.task

    async def answer_task(self, bot: Bot) -> Action:
        """Have the bot do what the opening asks for; an impossible answer is a failure."""
        task, position = self.task, self.turn_position()
        assert task is not None
        position.task = task
        try:
            method, answer = answer_task(bot, position, task)
            answer = await settled(answer)
        finally:
            position.task = None
        self._follow(self._shown.moves)
        return self._action(opening_action(answer, task, position.board, method.__name__), method)

    def action_for(self, answer: object, asked: object = None) -> Action:
        """The action for what the bot answered; an impossible answer is a failure.

        Args:
            asked: The method that has answered, whose place a failure tells.
        """
        self._follow(self._shown.moves)  # whatever the bot has left on the board
        board = self.position.board
        if type(answer) is int and board.is_legal(answer):
            return Action(self.number, self._shown.ply, answer, self._shown.read_at)
        if isinstance(answer, Unchecked):
            return self._action(answer.cell, asked)
        return self._action(check_answer(answer, board), asked)

    def _action(self, answer: Answer | OpeningAction | Failure, asked: object) -> Action:
        if isinstance(answer, Failure):
            answer = with_place(answer, asked)
            logger.error("failed in game %s: %s", self.position.game_id, answer.message)
        return Action(self.number, self._shown.ply, answer, self._shown.read_at)

    def failure_action(self, error: BaseException) -> Action:
        """The action for an `error` that came instead of an answer."""
        return Action(self.number, self._shown.ply, failure_of(error))

    def send(self, action: Action) -> None:
        """Answer the turn that `action` is for, if it still waits."""
        if self.running and self._pending is not None and self._pending.ply == action.ply:
            self._taken_us = int((self._clock() - self._pending.read_at) * 1_000_000)
            self._pending, self._answer = None, action.answer
            log_action(self.position, action)
            self._outbox.add_action(action)


def _stones_of(answer: object) -> Sequence[int]:
    """The stones that an answer places; none where it is another one, or impossible."""
    stones: Sequence[int] = ()
    if isinstance(answer, int):
        stones = (answer,)
    elif isinstance(answer, Choice | Unchecked):
        stones = (answer.cell,)
    elif isinstance(answer, Placement):
        stones = answer.cells
    return stones if all(0 <= cell < MAX_CELLS for cell in stones) else ()


def check_answer(answer: object, board: Board) -> Answer | Failure:
    """What a bot has answered in a position, or why that can't be; `Unchecked` is none here."""
    if answer is RESIGN:
        return RESIGN
    cell = answer.cell if isinstance(answer, Choice) else answer
    if isinstance(cell, bool) or not hasattr(cell, "__index__"):
        return Failure(f"choose returned {answer!r}; return a cell, a Choice or RESIGN")
    index = operator.index(cell)
    try:
        board.copy().play(index)
    except IllegalMoveError as error:
        return Failure(f"choose returned {answer!r}: {error}")
    return Choice(index, answer.analysis) if isinstance(answer, Choice) else index
