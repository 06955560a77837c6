"""The brain: a bot as an engine of the Gomocup protocol.

Source: the Piskvork protocol by Petr Laštovička, version 2 (protocl2en).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import BinaryIO

from meijin.bots.bridge.brain_board import (
    Listing,
    Numbers,
    RefusedCommandError,
    answer_opening,
    answer_turn,
    listed_board,
    listed_cell,
    parse_cell,
    parse_point,
)
from meijin.bots.bridge.gomocup import OPENING_COMMANDS, UNLIMITED_MS, point_name, rule_numbered
from meijin.bots.bridge.process import LineBuffer
from meijin.bots.sdk.answer import Analysis, Choice, Resignation
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.searcher import end_game, run_in_thread
from meijin.game import (
    OPENING_RULES,
    Board,
    Color,
    IllegalMoveError,
    OpeningRule,
    TimeControl,
    Variant,
)
from meijin.game.clock import LONGEST

AUTHOR = "The Meijin developers"
DEFAULT_TURN = timedelta(seconds=30)
"""What a move may take where the manager doesn't say, as in Piskvork."""
SHORTEST_TURN = timedelta(milliseconds=50)
"""What a move takes that is to be made as fast as possible."""
OPENINGS = {command: OPENING_RULES[name] for name, command in OPENING_COMMANDS.items()}
"""What each opening command is for."""
MAX_LINE = 1024
"""Characters of a command; a longer one is refused."""

_SIZE = re.compile(r"[0-9]{1,4}")
_NUMBER = re.compile(r"(-?[0-9]{1,15})(?:\.[0-9]*)?")
_MILLISECOND = timedelta(milliseconds=1)


class Brain:
    """Answers a manager's lines; `is_over` when it has been told to end.

    A board is set up when `wait_until_ready` has returned, since clocks may run from then on.
    """

    def __init__(self, bot: Bot, wait_until_ready: Callable[[], object] = lambda: None) -> None:
        self.is_over = False
        self._bot = bot
        self._wait_until_ready = wait_until_ready
        self._board: Board | None = None
        self._size: tuple[int, int] | None = None
        self._rule_number = 0
        self._turn_ms = DEFAULT_TURN // _MILLISECOND
        self._match_ms = 0
        self._left_ms: int | None = None
        self._listing: Listing | None = None  # stones whose DONE hasn't come
        self._games = 0

    def answer(self, line: str) -> Iterator[str]:
        """Obey a line, and yield what to answer."""
        text = line.strip()
        try:
            if self._listing is None:
                yield from self._obey(text)
            elif text.upper() == "DONE":
                listing, self._listing = self._listing, None
                yield from listing.finish()
            elif text:
                self._listing.add(text)
        except (RefusedCommandError, IllegalMoveError) as error:
            yield f"ERROR {error}"

    def _obey(self, text: str) -> Iterator[str]:
        word, _, rest = text[:MAX_LINE].partition(" ")
        command = word.upper()
        handler: Callable[[str], Iterator[str]] | None
        if command in OPENINGS:
            handler = partial(self._opening_command, OPENINGS[command])
        else:
            handler = getattr(self, f"_on_{word.lower()}", None)
        if handler is not None:
            yield from handler(rest.strip())
        elif word:
            yield f"UNKNOWN command {''.join(filter(str.isprintable, word))[:20]}"

    def _on_about(self, _: str) -> Iterator[str]:
        bot = self._bot
        yield f'name="{bot.name}", version="{bot.version}", author="{AUTHOR}", country="-"'

    def _on_start(self, text: str) -> Iterator[str]:
        if _SIZE.fullmatch(text) is None:
            raise RefusedCommandError("START needs a size")
        yield from self._set_up(int(text), int(text))

    def _on_rectstart(self, text: str) -> Iterator[str]:
        size = parse_point(text)
        if size is None:
            raise RefusedCommandError("RECTSTART needs a width and a height")
        yield from self._set_up(*size)

    def _set_up(self, width: int, height: int) -> Iterator[str]:
        can = self._bot.capabilities
        if not (can.min_size <= min(width, height) and max(width, height) <= can.max_size):
            raise RefusedCommandError(
                f"unsupported size: {can.min_size} to {can.max_size} are played"
            )
        self._wait_until_ready()
        self._size = (width, height)
        yield from self._on_restart("")

    def _on_restart(self, _: str) -> Iterator[str]:
        if self._size is None:
            raise RefusedCommandError("no board; START comes first")
        self._leave()
        self._board = None
        self._left_ms = None
        yield "OK"

    def _on_begin(self, _: str) -> Iterator[str]:
        if self._begun_board().moves:
            raise RefusedCommandError("the board is not empty")
        yield from self._move()

    def _on_turn(self, text: str) -> Iterator[str]:
        board = self._begun_board()
        board.play(parse_cell(text, board.variant))
        yield from self._move()

    def _on_play(self, text: str) -> Iterator[str]:
        board = self._begun_board()
        cell = parse_cell(text, board.variant)
        board.play(cell)
        yield point_name(cell, board.variant)

    def _on_takeback(self, text: str) -> Iterator[str]:
        """Take back a stone, of which the last may be one, in whatever order they came."""
        board = self._begun_board()
        cell = parse_cell(text, board.variant)
        if cell not in board.moves:
            raise RefusedCommandError("no stone stands there")
        if board.moves[-1] != cell:
            raise RefusedCommandError("stones are taken back from the last on")
        board.undo()
        yield "OK"

    def _on_board(self, _: str) -> Iterator[str]:
        most = self._begun_board().variant.cells
        self._listing = Listing("x,y,field", most, self._set_board)
        return iter(())

    def _set_board(self, stones: Sequence[Numbers]) -> Iterator[str]:
        self._board = listed_board(stones, self._begun_board().variant)
        yield from self._move()

    def _opening_command(self, rule: OpeningRule, _: str) -> Iterator[str]:
        variant = self._begun_board().variant
        self._listing = Listing("x,y", variant.cells, partial(self._open, rule))
        return iter(())

    def _open(self, rule: OpeningRule, stones: Sequence[Numbers]) -> Iterator[str]:
        if rule not in self._bot.capabilities.opening_rules:
            yield f"UNKNOWN {rule.name} is not played"
            return
        variant = replace(self._begun_board().variant, opening_rule=rule)
        cells = [listed_cell(x, y, variant) for x, y in stones]
        self._board = Board.from_moves(cells, variant)
        found = answer_opening(self._bot, self._position(self._board))
        if found is self._board.side_to_move:
            yield from self._move()
        elif isinstance(found, Color):
            yield "SWAP"
        else:
            for cell in found:
                self._board.play(cell)
            yield " ".join(point_name(cell, variant) for cell in found)

    def _on_info(self, text: str) -> Iterator[str]:
        """Heed what is told; keys that aren't known are none of a brain's business."""
        key, _, told = text.partition(" ")
        if match := _NUMBER.fullmatch(told.strip()):
            value = int(match[1])
            match key.lower():
                case "timeout_turn":
                    self._turn_ms = value
                case "timeout_match":
                    self._match_ms = value
                case "time_left":
                    self._left_ms = None if value >= UNLIMITED_MS else value
                case "rule":
                    self._rule_number = value
        return iter(())

    def _on_end(self, _: str) -> Iterator[str]:
        self._leave()
        self.is_over = True
        return iter(())

    def _leave(self) -> None:
        if self._board is not None:
            run_in_thread(end_game(self._bot, self._game_id, None))
            self._games += 1

    @property
    def _game_id(self) -> str:
        return f"game-{self._games + 1}"

    def _begun_board(self) -> Board:
        """The board, made when the rule is known."""
        if self._size is None:
            raise RefusedCommandError("no board; START comes first")
        rule = rule_numbered(self._rule_number)
        if rule is None or rule not in self._bot.capabilities.rules:
            raise RefusedCommandError(f"rule {self._rule_number} is not played")
        if self._board is None or self._board.variant.rule != rule:
            moves = () if self._board is None else self._board.moves
            self._board = Board.from_moves(moves, Variant(rule, *self._size))
        return self._board

    def _move(self) -> Iterator[str]:
        board = self._begun_board()
        if board.is_over:
            raise RefusedCommandError("the game is over")
        answer = answer_turn(self._bot, self._position(board))
        if isinstance(answer, Choice) and answer.analysis is not None:
            yield _message(answer.analysis, board.variant)
        if isinstance(answer, Resignation):  # the protocol has none: any cell stands for it
            answer = board.legal_cells()[0]
        cell = answer if isinstance(answer, int) else answer.cell
        board.play(cell)
        yield point_name(cell, board.variant)

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


def _message(analysis: Analysis, variant: Variant) -> str:
    pv = " ".join(f"[{point_name(cell, variant)}]" for cell in analysis.pv)
    numbers = {"depth": analysis.depth, "eval": analysis.score, "nodes": analysis.nodes}
    said = [f"{name} {number}" for name, number in numbers.items() if number is not None]
    return " ".join(["MESSAGE", *said, *([f"bestline {pv}"] if pv else [])])


logger = logging.getLogger("meijin.bots")


def obey(brain: Brain, commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer `commands`, each line at once; a search that fails is an ERROR and no end.

    `commands` is unbuffered: a read returns what there is.
    """
    for line in _lines(commands):
        try:
            for answer in brain.answer(line):
                _write(answers, answer)
        except OSError:
            return  # the manager has gone
        except Exception as error:
            logger.exception("failed at %.100r", line)
            _write(answers, f"ERROR {type(error).__name__}")
        if brain.is_over:
            return


def _lines(commands: BinaryIO) -> Iterator[str]:
    buffer = LineBuffer()
    while data := commands.read(1 << 16):
        buffer.feed(data)
        yield from iter(buffer.pop, None)
    if rest := buffer.pop_partial():
        yield rest


def _write(answers: BinaryIO, line: str) -> None:
    answers.write(f"{line}\r\n".encode())
    answers.flush()
