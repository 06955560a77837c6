"""The Gomocup (Piskvork) protocol: its commands written, its answers read, its dialogues.

Source: the Piskvork protocol by Petr Laštovička, version 2 (protocl2en).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from meijin.bots.bridge.dialogue import (
    Ask,
    Dialogue,
    EngineProtocol,
    EngineTime,
    Kind,
    NewGame,
    Point,
    Reply,
    Turn,
)
from meijin.bots.bridge.errors import EngineRefusedError, EngineSilentError
from meijin.bots.bridge.rules import OPENING_COMMANDS, RULE_NUMBERS
from meijin.game import OPENING_RULES, OpeningRule, Variant

UNLIMITED_MS = 2_147_483_647
"""``INFO time_left`` where the game has no limit."""
BRAIN_OPPONENT = 1
"""``INFO game_type``: the opponent is a program."""
OWN, OPPONENT = 1, 2
"""The third number of a line of BOARD."""
START_PATIENCE = timedelta(seconds=30)
"""What an engine may take to set itself up."""
RESTART_PATIENCE = timedelta(seconds=5)
"""Beyond that it is quicker to start it anew."""
PLAY_PATIENCE = timedelta(seconds=1)
"""What an engine may take to repeat the move that it has suggested."""

_ANSWERS = frozenset({Kind.OK, Kind.UNKNOWN, Kind.ERROR})
_MOVES = frozenset({Kind.MOVE, Kind.SUGGEST, Kind.UNKNOWN, Kind.ERROR})
_SWAPS = frozenset({Kind.MOVE, Kind.SWAP, Kind.UNKNOWN, Kind.ERROR})
_REFUSALS = frozenset({Kind.UNKNOWN, Kind.ERROR})

_POINT = re.compile(r"(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})")
_POINTS = re.compile(rf"{_POINT.pattern}(?:[\s,;]+{_POINT.pattern})*")
_WORD = re.compile(r"(OK|SWAP|SUGGEST|UNKNOWN|ERROR|MESSAGE|DEBUG)\b[\s:]*(.*)", re.IGNORECASE)
_ABOUT = re.compile(r'\b(\w{1,40})\s{0,4}=\s{0,4}"([^"]*)"')
_PROMPT = "> "
_KINDS = {
    "OK": Kind.OK,
    "SWAP": Kind.SWAP,
    "UNKNOWN": Kind.UNKNOWN,
    "ERROR": Kind.ERROR,
    "MESSAGE": Kind.MESSAGE,
    "DEBUG": Kind.MESSAGE,
}


def parse_reply(line: str) -> Reply:
    """Read a line of an engine, which may follow a prompt."""
    line = line.lstrip(_PROMPT)
    if _POINTS.fullmatch(line):
        return Reply(Kind.MOVE, line, parse_points(line))
    if word := _WORD.fullmatch(line):
        name, text = word[1].upper(), word[2]
        if name != "SUGGEST":
            return Reply(_KINDS[name], text)
        points = parse_points(text)
        return Reply(Kind.SUGGEST if points else Kind.NOISE, text, points[:1])
    return Reply(Kind.ABOUT if _ABOUT.search(line) else Kind.NOISE, line)


def parse_points(text: str) -> list[Point]:
    """The points that a line names, as ``x,y``."""
    return [(int(x), int(y)) for x, y in _POINT.findall(text)]


def parse_about(line: str) -> dict[str, str]:
    """What an engine says of itself, such as its name and its version."""
    return {key.lower(): value for key, value in _ABOUT.findall(line)}


def start_command(variant: Variant) -> str:
    """START, or RECTSTART where the board is no square."""
    if variant.width == variant.height:
        return f"START {variant.width}"
    return f"RECTSTART {variant.width},{variant.height}"


def board_lines(moves: Sequence[int], variant: Variant, *, command: str = "BOARD") -> list[str]:
    """The position, in the order played, as the side to move sees it."""
    width = variant.width
    lines = [command]
    for ply, cell in enumerate(moves):
        field = OWN if (len(moves) - ply) % 2 == 0 else OPPONENT
        lines.append(f"{cell % width},{cell // width},{field}")
    return [*lines, "DONE"]


def time_lines(time: EngineTime, told: EngineTime | None = None) -> list[str]:
    """INFO about the time; what `told` says already is left out."""
    lines = []
    if told is None or told.match_ms != time.match_ms:
        lines.append(f"INFO timeout_match {time.match_ms}")
    if told is None or told.turn_ms != time.turn_ms:
        lines.append(f"INFO timeout_turn {time.turn_ms}")
    if told is None or told.left_ms != time.left_ms:
        left = UNLIMITED_MS if time.left_ms is None else time.left_ms
        lines.append(f"INFO time_left {left}")
    return lines


class GomocupProtocol(EngineProtocol):
    """The protocol as nearly every engine speaks it."""

    name = "gomocup"
    rule_numbers: Mapping[str, int] = RULE_NUMBERS

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._variant: Variant | None = None  # of the game that the engine has begun
        self._stones: list[int] = []  # on the engine's board
        self._told: EngineTime | None = None
        self._unsettled = 0  # INFO lines that an UNKNOWN may still come for

    def read(self, line: str) -> Reply:
        """Read a line of the engine."""
        return parse_reply(line)

    def about(self) -> Dialogue[dict[str, str]]:
        """Ask who it is; many never answer."""
        reply = yield Ask(["ABOUT"], frozenset({Kind.ABOUT, *_REFUSALS}), timedelta(seconds=2))
        return parse_about(reply.text) if reply.kind is Kind.ABOUT else {}

    def start(self, variant: Variant) -> Dialogue[None]:
        """Have it set up an empty board.

        Raises:
            EngineRefusedError: it has no such board.
        """
        self._variant = None
        command = start_command(variant)
        reply = yield Ask([command], _ANSWERS, START_PATIENCE)
        _check_ok(command, reply)
        self._begin(variant)

    def set_up(self, variant: Variant) -> Dialogue[None]:
        """Have an empty board: by RESTART where its size stays the same.

        Raises:
            EngineRefusedError: it has no such board, or no RESTART.
        """
        before = self._variant
        if before is None or start_command(before) != start_command(variant):
            yield from self.start(variant)
        elif self._stones:
            self._variant = None
            reply = yield Ask(["RESTART"], _ANSWERS, RESTART_PATIENCE)
            _check_ok("RESTART", reply)
        self._begin(variant)

    def new_game(self, game: NewGame) -> Dialogue[None]:
        """Begin a game: with RESTART where the board stays the same.

        Raises:
            EngineRefusedError: it has no such board, or no RESTART.
        """
        yield from self.set_up(game.variant)
        self._begin(game.variant)
        lines = self._game_lines(game)
        self._unsettled = len(lines)
        yield Ask(lines)

    def choose(self, turn: Turn) -> Dialogue[Point]:
        """Have it choose a move, by BEGIN, TURN or BOARD.

        Raises:
            EngineRefusedError: it can't.
        """
        times = self._time_lines(turn.time)
        lines = self._position_lines(turn.moves)
        reply = yield from self._ask_move(times, lines)
        if reply.kind in _REFUSALS and lines[0] != "BOARD":
            lines = self._board_lines(turn.moves)
            reply = yield from self._ask_move((), lines)
        if reply.kind is not Kind.MOVE:
            raise _refusal(lines[0], reply)
        point = reply.points[0]
        self._note(turn.moves, point)
        return point

    def take_back(self, cell: int) -> Dialogue[None]:
        """Take a stone back off its board.

        Raises:
            EngineRefusedError: it can't.
        """
        command = f"TAKEBACK {self._name(cell)}"
        reply = yield Ask([command], _ANSWERS, RESTART_PATIENCE)
        _check_ok(command, reply)
        self._stones.remove(cell)

    @property
    def opening_rules(self) -> Sequence[OpeningRule]:
        """Swap2; and swap and swap1, which AlphaGomoku has added."""
        return tuple(OPENING_RULES[name] for name in OPENING_COMMANDS)

    def open(self, turn: Turn, rule: OpeningRule) -> Dialogue[Sequence[Point]]:
        """Have it place stones, or choose: SWAP for the other side, a move to stay.

        Raises:
            EngineRefusedError: it can't, or its answer is none to that position.
        """
        task = rule.task(len(turn.moves))
        if task is None or rule.name not in OPENING_COMMANDS:
            raise EngineRefusedError(f"no command is known for {rule.name}")
        times = self._time_lines(turn.time)
        lines = [OPENING_COMMANDS[rule.name], *map(self._name, turn.moves), "DONE"]
        reply = yield from self._ask_settled(times, lines, _SWAPS)
        if reply.kind is not Kind.UNKNOWN:
            self._stones = [-1]  # any may be on its board by now: BOARD or RESTART follows
        if reply.kind is Kind.SWAP and task.may_choose:
            return ()
        counts = {task.stones, 1} - {0} if task.may_choose else {task.stones}
        if reply.kind is not Kind.MOVE or len(reply.points) not in counts:
            raise _refusal(lines[0], reply)
        return reply.points

    def end(self) -> Sequence[str]:
        """END."""
        return ["END"]

    def _begin(self, variant: Variant) -> None:
        self._variant = variant
        self._stones = []
        self._told = None
        self._unsettled = 0

    def _time_lines(self, time: EngineTime | None) -> list[str]:
        if time is None:
            return []
        told, self._told = self._told, time
        return time_lines(time, told)

    def _game_lines(self, game: NewGame) -> list[str]:
        self._told = game.time
        return [
            f"INFO max_memory {game.memory}",
            f"INFO game_type {BRAIN_OPPONENT}",
            f"INFO rule {self.rule_numbers[game.variant.rule.name]}",
            *time_lines(game.time),
            *(f"INFO {key} {value}" for key, value in self.options.items()),
        ]

    def _position_lines(self, moves: Sequence[int]) -> list[str]:
        if not moves and not self._stones:
            return ["BEGIN"]
        if moves and list(moves[:-1]) == self._stones:
            return [f"TURN {self._name(moves[-1])}"]
        return self._board_lines(moves)

    def _board_lines(self, moves: Sequence[int]) -> list[str]:
        assert self._variant is not None
        return board_lines(moves, self._variant)

    def _ask_move(self, times: Sequence[str], lines: Sequence[str]) -> Dialogue[Reply]:
        reply = yield from self._ask_settled(times, lines, _MOVES)
        if reply.kind is Kind.SUGGEST:
            return (yield from self._play(reply))
        return reply

    def _ask_settled(
        self, times: Sequence[str], lines: Sequence[str], expects: frozenset[Kind]
    ) -> Dialogue[Reply]:
        """Ask; an UNKNOWN for each INFO since the last answer is passed over."""
        self._unsettled += len(times)
        reply = yield Ask([*times, *lines], expects)
        passed = 0
        while (
            reply.kind is Kind.UNKNOWN
            and passed < self._unsettled
            and self.answers_hints is not False
        ):
            passed += 1
            reply = yield Ask([], expects)
        if self._unsettled and self.answers_hints is None and reply.kind not in _REFUSALS:
            self.answers_hints = passed > 0
        self._unsettled = 0
        return reply

    def _play(self, suggestion: Reply) -> Dialogue[Reply]:
        """Have it play what it suggests; one that doesn't know PLAY has chosen all the same."""
        ((x, y),) = suggestion.points
        reply = yield Ask([f"PLAY {x},{y}"], _MOVES - {Kind.SUGGEST}, PLAY_PATIENCE)
        if reply.kind is Kind.MOVE:
            return reply
        return Reply(Kind.MOVE, suggestion.text, suggestion.points)

    def _note(self, moves: Iterable[int], point: Point) -> None:
        """Remember what the engine has on its board now."""
        assert self._variant is not None
        x, y = point
        self._stones = [*moves, y * self._variant.width + x]

    def _name(self, cell: int) -> str:
        assert self._variant is not None
        row, column = divmod(cell, self._variant.width)
        return f"{column},{row}"


def _check_ok(command: str, reply: Reply) -> None:
    if reply.kind is not Kind.OK:
        raise _refusal(command, reply)


def _refusal(command: str, reply: Reply) -> EngineRefusedError:
    if reply.kind is Kind.SILENCE:
        return EngineSilentError(f"the engine doesn't answer {command}")
    text = reply.text if reply.kind is Kind.MOVE else f"{reply.kind.name} {reply.text}".rstrip()
    return EngineRefusedError(f"the engine answers {command} with {text}")
