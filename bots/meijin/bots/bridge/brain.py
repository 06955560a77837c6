"""The brain: a bot as an engine of the Gomocup protocol, without input or output.

Source: the Piskvork protocol by Petr Laštovička, version 2 (protocl2en).
"""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import timedelta
from typing import cast

from meijin.bots.bridge.gomocup import OPPONENT, OWN, UNLIMITED_MS
from meijin.bots.bridge.rules import rule_numbered
from meijin.bots.sdk.answer import Analysis, Answer, Choice, Resignation
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.position import Position
from meijin.game import FREESTYLE, Board, IllegalMoveError, Rule, TimeControl, Variant, cell_at
from meijin.game.clock import LONGEST

AUTHOR = "The Meijin developers"
DEFAULT_TURN = timedelta(seconds=30)
"""What a move may take where the manager doesn't say, as in Piskvork."""
SHORTEST_TURN = timedelta(milliseconds=50)
"""What a move takes that is to be made as fast as possible."""
MAX_LINE = 1024
"""Characters of a command; a longer one is refused."""

_POINT = re.compile(r"\s*(-?[0-9]{1,4})\s*,\s*(-?[0-9]{1,4})\s*")
_STONE = re.compile(r"\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*,\s*([0-9])\s*")
_SIZE = re.compile(r"[0-9]{1,4}")
_NUMBER = re.compile(r"(-?[0-9]{1,15})(?:\.[0-9]*)?")
_MILLISECOND = timedelta(milliseconds=1)


class CommandError(Exception):
    """A command that can't be obeyed; the manager is told why."""


class Brain:
    """Answers a manager's lines; `is_over` when it has been told to end."""

    def __init__(self, bot: Bot, now: Callable[[], float] = time.monotonic) -> None:
        self.is_over = False
        self._bot = bot
        self._now = now
        self._board: Board | None = None
        self._size: tuple[int, int] | None = None
        self._rule: Rule | None = FREESTYLE
        self._rule_number = 0
        self._turn_ms = DEFAULT_TURN // _MILLISECOND
        self._match_ms = 0
        self._left_ms: int | None = None
        self._stones: list[tuple[int, int, int]] | None = None  # of a BOARD that isn't done
        self._games = 0

    def answer(self, line: str) -> Iterator[str]:
        """Obey a line, and yield what to answer."""
        text = line.strip()
        if not text:
            return
        try:
            if self._stones is not None:
                yield from self._add_stone(text)
            else:
                yield from self._obey(text)
        except (CommandError, IllegalMoveError) as error:
            yield f"ERROR {error}"

    def _obey(self, text: str) -> Iterator[str]:
        word, _, rest = text[:MAX_LINE].partition(" ")
        handlers: dict[str, Callable[[str], Iterator[str]]] = {
            "ABOUT": self._about,
            "START": self._start,
            "RECTSTART": self._rect_start,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "PLAY": self._play,
            "TAKEBACK": self._take_back,
            "BOARD": self._begin_board,
            "INFO": self._info,
            "END": self._end,
        }
        handler = handlers.get(word.upper())
        if handler is None:
            yield f"UNKNOWN command {_printable(word)}"
        else:
            yield from handler(rest.strip())

    def _about(self, _: str) -> Iterator[str]:
        bot = self._bot
        yield f'name="{bot.name}", version="{bot.version}", author="{AUTHOR}", country="-"'

    def _start(self, text: str) -> Iterator[str]:
        if _SIZE.fullmatch(text) is None:
            raise CommandError("START needs a size")
        yield from self._set_up(int(text), int(text))

    def _rect_start(self, text: str) -> Iterator[str]:
        match = _POINT.fullmatch(text)
        if match is None:
            raise CommandError("RECTSTART needs a width and a height")
        yield from self._set_up(int(match[1]), int(match[2]))

    def _set_up(self, width: int, height: int) -> Iterator[str]:
        can = self._bot.capabilities
        if not (can.min_size <= min(width, height) and max(width, height) <= can.max_size):
            raise CommandError(f"unsupported size: {can.min_size} to {can.max_size} are played")
        self._size = (width, height)
        yield from self._restart("")

    def _restart(self, _: str) -> Iterator[str]:
        if self._size is None:
            raise CommandError("no board; START comes first")
        self._leave()
        self._board = None
        self._left_ms = None
        yield "OK"

    def _begin(self, _: str) -> Iterator[str]:
        if self._begun_board().moves:
            raise CommandError("the board is not empty")
        yield from self._move()

    def _turn(self, text: str) -> Iterator[str]:
        board = self._begun_board()
        board.play(_cell(text, board.variant))
        yield from self._move()

    def _play(self, text: str) -> Iterator[str]:
        board = self._begun_board()
        cell = _cell(text, board.variant)
        board.play(cell)
        yield _name(cell, board.variant)

    def _take_back(self, text: str) -> Iterator[str]:
        """Take back a stone, of which the last may be one, in whatever order they came."""
        board = self._begun_board()
        cell = _cell(text, board.variant)
        if cell not in board.moves:
            raise CommandError("no stone stands there")
        if board.moves[-1] != cell:
            raise CommandError("stones are taken back from the last on")
        board.undo()
        yield "OK"

    def _begin_board(self, _: str) -> Iterator[str]:
        self._begun_board()
        self._stones = []
        return iter(())

    def _add_stone(self, text: str) -> Iterator[str]:
        assert self._stones is not None
        if text.upper() == "DONE":
            stones, self._stones = self._stones, None
            self._board = _board_of(stones, self._begun_board().variant)
            yield from self._move()
            return
        match = _STONE.fullmatch(text)
        if match is None or len(self._stones) > self._begun_board().variant.cells:
            self._stones = None
            raise CommandError("BOARD needs lines x,y,field and DONE")
        self._stones.append((int(match[1]), int(match[2]), int(match[3])))

    def _info(self, text: str) -> Iterator[str]:
        key, _, value = text.partition(" ")
        if match := _NUMBER.fullmatch(value.strip()):
            self._know(key.lower(), int(match[1]))
        return iter(())

    def _know(self, key: str, value: int) -> None:
        """Heed what is told; keys that aren't known are none of a brain's business."""
        if key == "timeout_turn":
            self._turn_ms = value
        elif key == "timeout_match":
            self._match_ms = value
        elif key == "time_left":
            self._left_ms = None if value >= UNLIMITED_MS else value
        elif key == "rule":
            self._rule_number = value
            self._rule = rule_numbered(value)

    def _end(self, _: str) -> Iterator[str]:
        self._leave()
        self.is_over = True
        return iter(())

    def _leave(self) -> None:
        if self._board is not None:
            self._bot.game_ended(self._game_id, None)
            self._games += 1

    @property
    def _game_id(self) -> str:
        return f"game-{self._games + 1}"

    def _begun_board(self) -> Board:
        """The board, made when the rule is known."""
        if self._size is None:
            raise CommandError("no board; START comes first")
        if self._rule is None or self._rule not in self._bot.capabilities.rules:
            raise CommandError(f"rule {self._rule_number} is not played")
        if self._board is None or self._board.variant.rule != self._rule:
            width, height = self._size
            moves = () if self._board is None else self._board.moves
            self._board = Board.from_moves(moves, Variant(self._rule, width, height))
        return self._board

    def _move(self) -> Iterator[str]:
        board = self._begun_board()
        if board.is_over:
            raise CommandError("the game is over")
        answer = self._choose(self._position(board))
        analysis = answer.analysis if isinstance(answer, Choice) else None
        if analysis is not None:
            yield _message(analysis, board.variant)
        cell = _cell_of(answer, board)
        board.play(cell)
        yield _name(cell, board.variant)

    def _position(self, board: Board) -> Position:
        turn = timedelta(milliseconds=self._turn_ms)
        initial = timedelta(milliseconds=self._match_ms) if self._match_ms > 0 else None
        control = TimeControl(
            initial=None if initial is None else min(initial, LONGEST),
            per_move=min(max(turn, SHORTEST_TURN), LONGEST),
        )
        position = Position(board.copy(), control, game_id=self._game_id, opponent="opponent")
        if self._left_ms is not None and initial is not None:
            left = max(self._left_ms, SHORTEST_TURN // _MILLISECOND)
            position.set_clocks(left, left)
        return position

    def _choose(self, position: Position) -> Answer:
        bot = self._bot
        if type(bot).choose is Bot.choose:
            found = bot.choose_many([position])
            return cast("Sequence[Answer]", _result(found))[0]
        return cast("Answer", _result(bot.choose(position)))


def _result(found: object) -> object:
    """What a method returned, or what comes of it where it is ``async``."""
    if inspect.isawaitable(found):
        return asyncio.run(cast("Coroutine[object, object, object]", found))
    return found


def _cell_of(answer: Answer, board: Board) -> int:
    """The cell of an answer; the protocol has no resignation, so that any cell stands for one."""
    if isinstance(answer, Resignation):
        return board.legal_cells()[0]
    return answer if isinstance(answer, int) else answer.cell


def _board_of(stones: Sequence[tuple[int, int, int]], variant: Variant) -> Board:
    """The position of a BOARD: each side's stones in their order, black's first.

    The side to move is black where both have as many stones.
    """
    own = [_stone(x, y, variant) for x, y, field in stones if field == OWN]
    others = [_stone(x, y, variant) for x, y, field in stones if field == OPPONENT]
    if len(own) + len(others) < len(stones):
        raise CommandError("fields other than 1 and 2 are not known")
    if len(others) - len(own) not in (0, 1):
        raise CommandError(f"no game has {len(own)} stones of its own and {len(others)} others")
    first, second = (own, others) if len(own) == len(others) else (others, own)
    moves = [cell for pair in zip(first, second, strict=False) for cell in pair]
    return Board.from_moves([*moves, *first[len(second) :]], variant)


def _stone(x: int, y: int, variant: Variant) -> int:
    try:
        return cell_at(x, y, variant)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _cell(text: str, variant: Variant) -> int:
    match = _POINT.fullmatch(text)
    if match is None:
        raise CommandError("a move is written x,y")
    return _stone(int(match[1]), int(match[2]), variant)


def _name(cell: int, variant: Variant) -> str:
    row, column = divmod(cell, variant.width)
    return f"{column},{row}"


def _message(analysis: Analysis, variant: Variant) -> str:
    pv = " ".join(f"[{_name(cell, variant)}]" for cell in analysis.pv)
    found = f"depth {analysis.depth} eval {analysis.score} nodes {analysis.nodes}"
    return f"MESSAGE {found} bestline {pv}".removesuffix(" bestline ")


def _printable(word: str) -> str:
    return "".join(filter(str.isprintable, word))[:20]
