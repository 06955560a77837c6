"""A running game: its position, the turn that is pending, and the answers to it."""

from __future__ import annotations

import inspect
import logging
import operator
import time
from collections.abc import Callable, Sequence

from meijin.bots.sdk.answer import RESIGN, Answer, Choice, Failure, Unchecked
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.events import Charge, GameStarted, OpeningTask, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.road import Road
from meijin.bots.sdk.tracebacks import failure_of, with_place
from meijin.bots.sdk.turn_log import log_action, log_turn
from meijin.bots.sdk.wire import Action, KnownGame
from meijin.game import (
    Board,
    Choose,
    Color,
    IllegalMoveError,
    OpeningAction,
    Placement,
    decode_moves,
    encode_moves,
)

_MILLISECOND = 0.001
MAX_CELLS = 1 << 16
"""More than any board has: what the wire can name."""

logger = logging.getLogger("meijin.bots")


class RunningGame:
    """A game on one stream; a stream that resumes the game makes another one.

    The event loop notes what the server says, and whoever calls the bot brings the position
    up to date first: a search and the event loop never touch one board at the same time.
    """

    __slots__ = (
        "_answer",
        "_clock",
        "_outbox",
        "_pending",
        "_road",
        "_shown",
        "_taken_us",
        "_told",
        "color",
        "number",
        "position",
        "running",
    )

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
        outbox: Outbox,
        clock: Callable[[], float] = time.monotonic,
        *,
        road: Road | None = None,
        earlier: RunningGame | None = None,
    ) -> None:
        """Begin a game, or go on with that of an `earlier` stream."""
        self.number = started.number
        self.running = True
        self.position = Position(
            Board.from_moves(decode_moves(started.moves), started.variant),
            started.time_control,
            color=started.color,
            game_id=started.game_id,
            opponent=started.opponent,
        )
        self.color = started.color
        self._outbox = outbox
        self._clock = clock
        self._road = road or Road()
        # The moves of the last turn, and what answered it: of the game's, over all streams.
        self._told: bytes = started.moves if earlier is None else earlier._told  # noqa: SLF001
        self._answer: object = None if earlier is None else earlier._answer  # noqa: SLF001
        self._taken_us = -1  # what the last answer took from read to send; -1 before the first
        self._pending: Turn | None = None  # the turn that waits for an answer
        self._shown = Turn(self.number, 0, b"", 0, 0, 0.0)  # the turn that the bot was last given

    def begin_turn(self, turn: Turn) -> bool:
        """Begin a turn; False if the bot is searching for it already."""
        if self._pending is not None and self._pending.ply == turn.ply:
            return False
        self._pending = turn
        self._told, self._answer = turn.moves, None
        log_turn(self.position, turn)
        return True

    @property
    def known(self) -> KnownGame:
        """What the server has told of the game, and what the bot has answered."""
        return KnownGame(self.position.game_id, self._told, _stones_of(self._answer))

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
        """Look what of the charge for the last answer was the road."""
        position = self.position
        position.last_charge = charge
        if self._taken_us >= 0:
            position.lost_us = max(charge.charged_us - self._taken_us, 0)
            self._road.note(position)

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
    def task(self) -> OpeningTask | None:
        """What the opening asks for; ``None`` where a usual move is."""
        return None if self._pending is None else self._pending.task

    def answer_task(self, bot: Bot, task: OpeningTask) -> Action:
        """Have the bot do what the opening asks for; an impossible answer is a failure."""
        return self._task_action(bot, self._ask(bot, task), task)

    async def await_task(self, bot: Bot, task: OpeningTask) -> Action:
        """As `answer_task`, with methods that may be ``async``."""
        answer = self._ask(bot, task)
        if inspect.isawaitable(answer):
            answer = await answer
        return self._task_action(bot, answer, task)

    def _ask(self, bot: Bot, task: OpeningTask) -> object:
        position = self.turn_position()
        if task.may_choose:
            return bot.choose_side(position, task.stones)
        return bot.place_opening(position, task.stones)

    def _task_action(self, bot: Bot, answer: object, task: OpeningTask) -> Action:
        turn, position = self._shown, self.position
        self._follow(turn.moves)
        action = _check_opening(answer, task, position.board)
        if isinstance(action, Failure):
            action = with_place(action, bot.choose_side if task.may_choose else bot.place_opening)
            logger.error("failed in game %s: %s", position.game_id, action.message)
        return Action(self.number, turn.ply, action, turn.read_at)

    def action_for(self, answer: object, asked: object = None) -> Action:
        """The action for what the bot answered; an impossible answer is a failure.

        Args:
            asked: The method that has answered, whose place a failure tells.
        """
        turn = self._shown
        self._follow(turn.moves)  # whatever the bot has left on the board
        board = self.position.board
        if type(answer) is int and board.is_legal(answer):
            return Action(self.number, turn.ply, answer, turn.read_at)
        if isinstance(answer, Unchecked):
            return Action(self.number, turn.ply, answer.cell, turn.read_at)
        checked = check_answer(answer, board)
        if isinstance(checked, Failure):
            checked = with_place(checked, asked)
            logger.error("failed in game %s: %s", self.position.game_id, checked.message)
        return Action(self.number, turn.ply, checked, turn.read_at)

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


def _check_opening(answer: object, task: OpeningTask, board: Board) -> OpeningAction | Failure:
    name = "choose_side" if task.may_choose else "place_opening"
    if isinstance(answer, Color) and task.may_choose:
        return Choose(answer)
    if isinstance(answer, Placement):
        return answer
    try:
        cells = tuple(map(operator.index, answer))  # type: ignore[call-overload]
        copy = board.copy()
        for cell in cells:
            copy.play(cell)
    except (TypeError, ValueError) as error:
        return Failure(f"{name} returned {answer!r}: {error}")
    if len(cells) != task.stones:
        return Failure(f"{name} returned {answer!r}: {task.stones} stones are asked for")
    return Placement(cells)


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
