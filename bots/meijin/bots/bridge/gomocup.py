"""The Gomocup (Piskvork) protocol: its commands written, its answers read, its dialogues.

Source: the Piskvork protocol by Petr Laštovička, version 2 (protocl2en): rules are a sum of bits, 1
exactly five, 4 renju, 8 caro; the Gomocup's judge for rule 9; for swap and swap1 AlphaGomoku's
extension. Yixin's, the protocol of Yixin-Board, adds commands that begin with ``yx``, and limits and
resources as INFO, which are given as the engine's options.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

from meijin.bots.bridge.dialogue import (
    ANSWERS,
    SILENCE,
    Ask,
    Dialogue,
    EngineProtocol,
    EngineRefusedError,
    EngineReply,
    EngineTime,
    EngineTraits,
    NewGame,
    Point,
    ReplyKind,
)
from meijin.game import (
    OPENING_RULES,
    RULES,
    Board,
    GamePosition,
    OpeningRule,
    Rule,
    Variant,
)

RULE_NUMBERS: Mapping[str, int] = MappingProxyType(
    {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8, "caro-exact": 9}
)
"""By the name of the rule."""

OPENING_COMMANDS: Mapping[str, str] = MappingProxyType(
    {"swap2": "SWAP2BOARD", "swap": "SWAPBOARD", "swap1": "SWAP1STBOARD"}
)
"""By the name of the opening rule."""


def rule_numbered(number: int) -> Rule | None:
    """The rule that ``INFO rule`` names, if there is one."""
    return next((RULES[name] for name, known in RULE_NUMBERS.items() if known == number), None)


UNLIMITED_MS = 2_147_483_647
"""``INFO time_left`` where the game has no limit."""
BRAIN_OPPONENT = 1
"""``INFO game_type``: the opponent is a program."""
OWN, OPPONENT = 1, 2
"""The third number of a line of BOARD."""
START_PATIENCE = timedelta(seconds=90)
"""What an engine may take to set itself up; some load for a minute."""
RESTART_PATIENCE = timedelta(seconds=5)
"""What an engine may take to empty its board, before it is told to START again."""
CLEAR_PATIENCE = timedelta(milliseconds=500)
"""The same on a game's clock, before a BOARD."""
PLAY_PATIENCE = timedelta(milliseconds=200)
"""What an engine may take to repeat the move that it has suggested."""

_MOVES = frozenset({ReplyKind.MOVE, ReplyKind.SUGGEST, ReplyKind.UNKNOWN, ReplyKind.ERROR})
_SWAPS = frozenset({ReplyKind.MOVE, ReplyKind.SWAP, ReplyKind.UNKNOWN, ReplyKind.ERROR})
_REFUSALS = frozenset({ReplyKind.UNKNOWN, ReplyKind.ERROR})
_UNKNOWN_OPTION = re.compile(
    r"\b(un(known|supported|recogni[sz]ed)|invalid|no such|not)\b", re.IGNORECASE
)
_UNKNOWN = [-1]
"""Stones that may be any: the whole position is shown next."""

logger = logging.getLogger("meijin.bots.engine")

_POINT = re.compile(r"(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})")
_POINTS = re.compile(rf"{_POINT.pattern}(?:[\s,;]+{_POINT.pattern})*")
_WORD = re.compile(r"(OK|SWAP|SUGGEST|UNKNOWN|ERROR|MESSAGE|DEBUG|INFO)\b[\s:]*(.*)", re.IGNORECASE)
_ABOUT = re.compile(r'\b(\w{1,40})\s{0,4}=\s{0,4}"([^"]*)"')
_PROMPT = "> "
_KINDS = {
    "OK": ReplyKind.OK,
    "SWAP": ReplyKind.SWAP,
    "UNKNOWN": ReplyKind.UNKNOWN,
    "ERROR": ReplyKind.ERROR,
    "MESSAGE": ReplyKind.MESSAGE,
    "DEBUG": ReplyKind.MESSAGE,
    "INFO": ReplyKind.MESSAGE,
}


def parse_reply(line: str) -> EngineReply:
    """Read a line of an engine, which may follow a prompt."""
    line = line.lstrip(_PROMPT)
    if match := _POINT.fullmatch(line):
        return EngineReply(ReplyKind.MOVE, line, [(int(match[1]), int(match[2]))])
    if _POINTS.fullmatch(line):
        return EngineReply(ReplyKind.MOVE, line, parse_points(line))
    if word := _WORD.fullmatch(line):
        name, text = word[1].upper(), word[2]
        if name != "SUGGEST":
            return EngineReply(_KINDS[name], text)
        points = parse_points(text)
        return EngineReply(ReplyKind.SUGGEST if points else ReplyKind.NOISE, text, points[:1])
    return EngineReply(ReplyKind.ABOUT if _ABOUT.search(line) else ReplyKind.NOISE, line)


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


def point_name(cell: int, variant: Variant) -> str:
    row, column = divmod(cell, variant.width)
    return f"{column},{row}"


def board_lines(moves: Sequence[int], variant: Variant) -> list[str]:
    """BOARD with the position, in the order played, as the side to move sees it."""
    lines = ["BOARD"]
    for ply, cell in enumerate(moves):
        field = OWN if (len(moves) - ply) % 2 == 0 else OPPONENT
        lines.append(f"{point_name(cell, variant)},{field}")
    return [*lines, "DONE"]


def time_lines(time: EngineTime, told: EngineTime | None = None) -> list[str]:
    """INFO about the time: what `told` says already is left out, and so is the game's constant."""
    if time == told:
        return []
    left = UNLIMITED_MS if time.left_ms is None else time.left_ms
    values = {"timeout_match": time.match_ms, "timeout_turn": time.turn_ms, "time_left": left}
    if told is not None:
        del values["timeout_match"]
        if time.turn_ms == told.turn_ms:
            del values["timeout_turn"]
        if time.left_ms == told.left_ms:
            del values["time_left"]
    return [f"INFO {key} {value}" for key, value in values.items()]


class GomocupProtocol(EngineProtocol):
    """The protocol as nearly every engine speaks it."""

    name = "gomocup"
    farewell = "END"
    opening_rules = tuple(OPENING_RULES[name] for name in OPENING_COMMANDS)
    rule_numbers: Mapping[str, int] = RULE_NUMBERS

    def __init__(self, options: Mapping[str, str], traits: EngineTraits | None = None) -> None:
        super().__init__(options, traits)
        self._hints: Sequence[str] = ()  # INFO of the game
        self._told: EngineTime | None = None
        self._unsettled = 0  # INFO lines that an UNKNOWN may still come for

    def read(self, line: str) -> EngineReply:
        return parse_reply(line)

    def about(self) -> Dialogue[dict[str, str]]:
        reply = yield Ask(["ABOUT"], frozenset({ReplyKind.ABOUT, *_REFUSALS}), timedelta(seconds=2))
        return parse_about(reply.text) if reply.kind is ReplyKind.ABOUT else {}

    def start(self, variant: Variant, patience: timedelta | None = None) -> Dialogue[None]:
        self._variant = None
        yield from self._order(start_command(variant), patience or START_PATIENCE)
        self._variant, self._stones = variant, []
        self._told, self._unsettled = None, 0

    def set_up(self, variant: Variant) -> Dialogue[None]:
        """Have an empty board: by RESTART where its size stays the same, and it knows that."""
        before = self._variant
        if before is None or start_command(before) != start_command(variant):
            yield from self.start(variant)
        elif self._stones:
            yield from self._clear(variant, RESTART_PATIENCE)
        self._variant = variant

    def new_game(self, game: NewGame) -> Dialogue[None]:
        """Begin a game: with RESTART where the board stays the same."""
        yield from self.set_up(game.variant)
        self._told = game.time
        resources = {
            "max_memory": game.memory if self.traits.hears_memory else 0,
            "folder": game.folder,
        }
        self._hints = [
            *(f"INFO {key} {value}" for key, value in resources.items() if value),
            f"INFO game_type {BRAIN_OPPONENT}",
            f"INFO rule {self.rule_numbers[game.variant.rule.name]}",
            *time_lines(game.time),
            *(f"INFO {key} {value}" for key, value in self.options.items()),
        ]
        self._unsettled = len(self._hints)
        yield Ask(self._hints)

    def find_refused(self, variant: Variant) -> Dialogue[Mapping[str, str]]:
        """Tell each option before a START: what the engine says before its OK is about that one.

        An UNKNOWN says nothing of an engine that answers so to an INFO which all have to know.
        """
        usual = yield from self._said_of(f"INFO game_type {BRAIN_OPPONENT}", variant)
        passed = {reply.text for reply in usual}
        refused: dict[str, str] = {}
        for key, value in self.options.items():
            for reply in (yield from self._said_of(f"INFO {key} {value}", variant)):
                is_named = key.casefold() in reply.text.casefold()
                if reply.text not in passed and (
                    reply.kind is not ReplyKind.MESSAGE
                    or (is_named and _UNKNOWN_OPTION.search(reply.text))
                ):
                    refused.setdefault(key, f"{reply.kind.name} {reply.text}".rstrip())
        return refused

    def _said_of(self, line: str, variant: Variant) -> Dialogue[list[EngineReply]]:
        """What an engine says of a line before it sets up the board."""
        expects = ANSWERS | {ReplyKind.MESSAGE}
        said = []
        reply = yield Ask([line, start_command(variant)], expects, START_PATIENCE)
        while reply.kind not in {ReplyKind.OK, ReplyKind.SILENCE}:
            said.append(reply)
            reply = yield Ask([], expects, START_PATIENCE)
        return said

    def choose(self, moves: Sequence[int], time: EngineTime) -> Dialogue[Point]:
        """Have it choose a move, by BEGIN, TURN or BOARD.

        What is refused is asked again with the whole position, unless a move comes all the same.
        """
        line, is_refused = self._next_line(moves), False
        reading_ms = time.turn_ms
        reply = SILENCE
        if line:
            reading_ms //= 2
            reply = yield from self._ask(time, [line], _MOVES, reading_ms)
            is_refused = reply.kind in _REFUSALS
        if is_refused or not line:
            line = "BOARD"
            if self._stones or (is_refused and moves):
                yield from self._clear(self._begun, CLEAR_PATIENCE)
            board = board_lines(moves, self._begun)
            reply = yield from self._ask(time, board, _MOVES, reading_ms)
        is_played = True
        if reply.kind is ReplyKind.SUGGEST:
            reply, is_played = yield from self._play(reply)
        if reply.kind is not ReplyKind.MOVE:
            raise self._refusal(line.split()[0], reply)
        if moves and self.traits.takes_turns is None and (is_refused or line != "BOARD"):
            self.traits.takes_turns = not is_refused
        self._note(moves, reply.points[0])
        if not is_played:
            self._stones = _UNKNOWN
        return reply.points[0]

    def open(
        self, moves: Sequence[int], time: EngineTime, rule: OpeningRule
    ) -> Dialogue[Sequence[Point]]:
        """Have it place stones, or choose: SWAP for the other side, a move to stay."""
        variant = replace(self._begun, opening_rule=rule)
        task = GamePosition(Board.from_moves(moves, variant)).task
        assert task is not None
        names = [point_name(cell, variant) for cell in moves]
        if self.traits.numbers_openings:
            names = [f"{name},{1 + ply % 2}" for ply, name in enumerate(names)]
        lines = [OPENING_COMMANDS[rule.name], *names, "DONE"]
        reply = yield from self._ask(time, lines, _SWAPS, time.turn_ms)
        if reply.kind is not ReplyKind.UNKNOWN:
            self._stones = _UNKNOWN
        if reply.kind is ReplyKind.SWAP and task.may_choose:
            return ()
        counts = {task.stones, 1} - {0} if task.may_choose else {task.stones}
        if reply.kind is not ReplyKind.MOVE or len(reply.points) not in counts:
            raise self._refusal(lines[0], reply)
        return reply.points

    def _quote(self, reply: EngineReply) -> str:
        return reply.text if reply.kind is ReplyKind.MOVE else f"{reply.kind.name} {reply.text}"

    def _next_line(self, moves: Sequence[int]) -> str:
        """BEGIN or TURN; empty where the engine must be shown the whole position."""
        if not moves:
            return "" if self._stones else "BEGIN"
        if list(moves[:-1]) != self._stones or self.traits.takes_turns is False:
            return ""
        return f"TURN {point_name(moves[-1], self._begun)}"

    def _clear(self, variant: Variant, patience: timedelta) -> Dialogue[None]:
        """Have the board emptied: by RESTART, or by START where the engine doesn't do that."""
        told = self._told
        if self.traits.restarts is False:
            patience = START_PATIENCE
        else:
            is_known = self.traits.restarts is not None
            self.traits.restarts = is_known  # one that dies of it is not asked again
            reply = yield Ask(["RESTART"], ANSWERS, patience)
            if reply.kind is ReplyKind.OK:
                self.traits.restarts, self._stones = True, []
                return
            if not is_known:
                logger.info("the engine knows no RESTART; it is told to START again")
        yield from self.start(variant, patience)
        self._told, self._unsettled = told, len(self._hints)
        yield Ask(self._hints)

    def _ask(
        self,
        time: EngineTime,
        lines: Sequence[str],
        expects: frozenset[ReplyKind],
        reading_ms: int,
    ) -> Dialogue[EngineReply]:
        """Ask, and tell the time; after a refusal go on reading for so long since the question.

        An UNKNOWN for each INFO since the last answer is passed over, and an ERROR that names one.
        """
        times = time_lines(time, self._told)
        self._told = time
        self._unsettled += len(times)
        reply = yield Ask([*times, *lines], expects)
        refusal, passed = None, 0
        while reply.kind in _REFUSALS:
            if self._is_for_a_hint(reply, times, passed):
                passed += 1
            else:
                refusal = refusal or reply
            reply = yield Ask([], expects, timedelta(milliseconds=reading_ms) if refusal else None)
        is_refused = reply.kind is ReplyKind.SILENCE and refusal is not None
        if self._unsettled and self.traits.answers_hints is None and not is_refused:
            self.traits.answers_hints = passed > 0
        self._unsettled = 0
        return refusal if is_refused and refusal else reply

    def _is_for_a_hint(self, reply: EngineReply, times: Sequence[str], passed: int) -> bool:
        """Whether a refusal is of an INFO, not of the question."""
        if reply.kind is ReplyKind.UNKNOWN:
            return passed < self._unsettled and self.traits.answers_hints is not False
        said = reply.text.upper().split()
        return any(word.upper() in said for line in times for word in line.split()[1:])

    def _play(self, suggestion: EngineReply) -> Dialogue[tuple[EngineReply, bool]]:
        """Have it play what it suggests, which is its move all the same; also whether it has."""
        if self.traits.plays_suggestions is not False:
            ((x, y),) = suggestion.points
            reply = yield Ask([f"PLAY {x},{y}"], _MOVES - {ReplyKind.SUGGEST}, PLAY_PATIENCE)
            self.traits.plays_suggestions = reply.kind is ReplyKind.MOVE
            if reply.kind is ReplyKind.MOVE:
                return reply, True
        return EngineReply(ReplyKind.MOVE, suggestion.text, suggestion.points), False


STOP_PATIENCE = timedelta(seconds=1)
"""What an engine may take to answer when it is told to stop."""


class YixinProtocol(GomocupProtocol):
    """The Gomocup protocol, with a search that can be stopped."""

    name = "yixin"
    rule_numbers: Mapping[str, int] = MappingProxyType({**RULE_NUMBERS, "renju": 2})
    """Its text counts renju as 2."""

    def stop(self) -> Dialogue[None]:
        """Have the engine end its search: it answers with the move that it has, which is dropped."""
        self._stones = _UNKNOWN
        reply = yield Ask(["yxstop"], frozenset({ReplyKind.MOVE}), STOP_PATIENCE)
        if reply.kind is ReplyKind.SILENCE:
            raise EngineRefusedError("the engine doesn't answer yxstop")
