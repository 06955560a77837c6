"""The brain: a bot as an engine of the Gomocup protocol, without input or output.

Source: the Piskvork protocol by Petr Laštovička, version 2 (protocl2en).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from meijin.bots.bridge.brain_board import (
    CommandError,
    Listing,
    Numbers,
    listed_board,
    listed_cell,
    parse_cell,
    parse_point,
    point_name,
)
from meijin.bots.bridge.brain_bot import answer_opening, answer_turn
from meijin.bots.bridge.gomocup import UNLIMITED_MS
from meijin.bots.bridge.rules import OPENING_COMMANDS, rule_numbered
from meijin.bots.sdk.answer import Analysis, Answer, Choice, Resignation
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.position import Position
from meijin.game import (
    FREESTYLE,
    OPENING_RULES,
    Board,
    Color,
    IllegalMoveError,
    OpeningRule,
    Rule,
    TimeControl,
    Variant,
)
from meijin.game.clock import LONGEST

AUTHOR = "The Meijin developers"
DEFAULT_TURN = timedelta(seconds=30)
"""What a move may take where the manager doesn't say, as in Piskvork."""
SHORTEST_TURN = timedelta(milliseconds=50)
"""What a move takes that is to be made as fast as possible."""
MAX_LINE = 1024
"""Characters of a command; a longer one is refused."""

_SIZE = re.compile(r"[0-9]{1,4}")
_NUMBER = re.compile(r"(-?[0-9]{1,15})(?:\.[0-9]*)?")
_MILLISECOND = timedelta(milliseconds=1)


class Brain:
    """Answers a manager's lines; `is_over` when it has been told to end."""

    def __init__(self, bot: Bot) -> None:
        self.is_over = False
        self._bot = bot
        self._board: Board | None = None
        self._size: tuple[int, int] | None = None
        self._rule: Rule | None = FREESTYLE
        self._rule_number = 0
        self._turn_ms = DEFAULT_TURN // _MILLISECOND
        self._match_ms = 0
        self._left_ms: int | None = None
        self._listing: Listing | None = None  # stones whose DONE hasn't come
        self._games = 0

    def answer(self, line: str) -> Iterator[str]:
        """Obey a line, and yield what to answer."""
        text = line.strip()
        if not text:
            return
        try:
            if self._listing is not None:
                yield from self._list(self._listing, text)
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
            "BOARD": self._board_command,
            **{
                command: partial(self._opening_command, OPENING_RULES[name])
                for name, command in OPENING_COMMANDS.items()
            },
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
        size = parse_point(text)
        if size is None:
            raise CommandError("RECTSTART needs a width and a height")
        yield from self._set_up(*size)

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
        board.play(parse_cell(text, board.variant))
        yield from self._move()

    def _play(self, text: str) -> Iterator[str]:
        board = self._begun_board()
        cell = parse_cell(text, board.variant)
        board.play(cell)
        yield point_name(cell, board.variant)

    def _take_back(self, text: str) -> Iterator[str]:
        """Take back a stone, of which the last may be one, in whatever order they came."""
        board = self._begun_board()
        cell = parse_cell(text, board.variant)
        if cell not in board.moves:
            raise CommandError("no stone stands there")
        if board.moves[-1] != cell:
            raise CommandError("stones are taken back from the last on")
        board.undo()
        yield "OK"

    def _board_command(self, _: str) -> Iterator[str]:
        """Begin the list of a position's stones."""
        most = self._begun_board().variant.cells
        self._listing = Listing("x,y,field", most, self._set_board)
        return iter(())

    def _set_board(self, stones: Sequence[Numbers]) -> Iterator[str]:
        self._board = listed_board(stones, self._begun_board().variant)
        yield from self._move()

    def _opening_command(self, rule: OpeningRule, _: str) -> Iterator[str]:
        """Begin the list of an opening's stones, in the order played."""
        variant = self._begun_board().variant
        self._listing = Listing("x,y", variant.cells, partial(self._open, rule))
        return iter(())

    def _open(self, rule: OpeningRule, stones: Sequence[Numbers]) -> Iterator[str]:
        """Do what an opening rule asks for after so many stones."""
        if rule not in self._bot.capabilities.opening_rules:
            yield f"UNKNOWN {rule.name} is not played"
            return
        variant = replace(self._begun_board().variant, opening_rule=rule)
        cells = [listed_cell(x, y, variant) for x, y in stones]
        self._board = Board.from_moves(cells, variant)
        found = answer_opening(self._bot, self._position(self._board))
        if isinstance(found, Color):
            if found is self._board.side_to_move:
                yield from self._move()
            else:
                yield "SWAP"
            return
        for cell in found:
            self._board.play(cell)
        yield " ".join(point_name(cell, variant) for cell in found)

    def _list(self, listing: Listing, text: str) -> Iterator[str]:
        if text.upper() != "DONE":
            listing.add(text)
            return
        self._listing = None
        yield from listing.finish()

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
        answer = answer_turn(self._bot, self._position(board))
        analysis = answer.analysis if isinstance(answer, Choice) else None
        if analysis is not None:
            yield _message(analysis, board.variant)
        cell = _cell_of(answer, board)
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


def _cell_of(answer: Answer, board: Board) -> int:
    """The cell of an answer; the protocol has no resignation, so that any cell stands for one."""
    if isinstance(answer, Resignation):
        return board.legal_cells()[0]
    return answer if isinstance(answer, int) else answer.cell


def _message(analysis: Analysis, variant: Variant) -> str:
    pv = " ".join(f"[{point_name(cell, variant)}]" for cell in analysis.pv)
    found = f"depth {analysis.depth} eval {analysis.score} nodes {analysis.nodes}"
    return f"MESSAGE {found} bestline {pv}".removesuffix(" bestline ")


def _printable(word: str) -> str:
    return "".join(filter(str.isprintable, word))[:20]
