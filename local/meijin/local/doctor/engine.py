"""Checks of an engine by its protocol's commands, each by itself, before any game."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from meijin.bots.bridge.answers import are_stones, cell_of
from meijin.bots.bridge.dialogue import Ask, Dialogue, EngineError, EngineStartError, EngineTime
from meijin.bots.bridge.gomocup import OPENING_COMMANDS, GomocupProtocol
from meijin.bots.bridge.probe import Starter
from meijin.bots.bridge.session import EngineSession
from meijin.bots.bridge.settings import WrapSettings
from meijin.game import SWAP2, Board, OpeningRule, Rule, Variant
from meijin.game.arbiter.moment import nanoseconds
from meijin.local.doctor.check import Check, CheckFailedError, Status

DIALOGUE_LINES = 10
"""The last of the dialogue that are shown."""
TIME = EngineTime(turn_ms=1000, match_ms=0, left_ms=None)
PATIENCE = timedelta(seconds=10)
"""For a move, however little time it was told of."""
END_SECONDS = 1.0
"""What an engine may take to end by itself; the protocol says one second."""
_WANTED = {0: "three moves", 3: "SWAP, a move or two", 5: "SWAP or a move"}
"""By the stones so far."""
_Result = TypeVar("_Result")
_SIDE = 15


@dataclass(frozen=True, slots=True)
class RulePosition:
    """A position in which an engine shows whether it knows a rule."""

    black: str
    white: str
    point: str
    """What wins at once where the rule has it so, and else must not be played."""
    block: str = ""
    """Where white makes five next, if it is not stopped."""

    def moves(self) -> list[int]:
        """All stones in turn; black is to move."""
        pairs = zip(_cells(self.black), _cells(self.white), strict=True)
        return [cell for pair in pairs for cell in pair]


def _cells(points: str) -> list[int]:
    found = (point.split(",") for point in points.split())
    return [int(y) * _SIDE + int(x) for x, y in found]


_FOUR = "11,14 12,14 13,14 14,14"
SIXES = (
    RulePosition("4,7 5,7 6,7 8,7 9,7", f"{_FOUR} 14,0", "7,7", "10,14"),
    RulePosition("7,4 7,5 7,6 7,8 7,9", f"{_FOUR} 14,0", "7,7", "10,14"),
    RulePosition("4,4 5,5 6,6 8,8 9,9", f"{_FOUR} 14,0", "7,7", "10,14"),
)
"""The point makes six in a row."""
BLOCKED_FIVES = (
    RulePosition("4,7 5,7 6,7 7,7 12,12 12,3", f"{_FOUR} 3,7 9,7", "8,7", "10,14"),
    RulePosition("7,4 7,5 7,6 7,7 12,12 3,12", f"{_FOUR} 7,3 7,9", "7,8", "10,14"),
    RulePosition("4,4 5,5 6,6 7,7 12,10 3,12", f"{_FOUR} 3,3 9,9", "8,8", "10,14"),
)
"""The point makes five between two white stones."""
FORBIDDEN = (
    SIXES[0],
    RulePosition("4,7 5,7 6,7 7,4 7,5 7,6", "3,7 7,3 0,0 14,0 0,14 14,14", "7,7"),
    RulePosition("5,7 6,7 7,5 7,6", "0,0 14,0 0,14 14,14", "7,7"),
)
"""The point makes six, two fours, two threes."""
RULE_POSITIONS = {
    "freestyle": SIXES,
    "standard": SIXES,
    "renju": FORBIDDEN,
    "caro": BLOCKED_FIVES,
    "caro-exact": (*BLOCKED_FIVES[:2], SIXES[0]),
}
"""Three for each rule, by its name."""


class EngineExamination:
    """Asks an engine by one command after the other; what fails has a new process for the next."""

    def __init__(self, settings: WrapSettings) -> None:
        self._settings = settings
        self._starter = Starter(settings)
        self._session: EngineSession | None = None
        self._knows_openings = True
        sizes = settings.sizes or (_SIDE, _SIDE)
        self._side = max(sizes[0], min(_SIDE, sizes[1]))

    def checks(self) -> Iterator[tuple[str, Callable[[], Check]]]:
        """Each command by its name, and what looks at it."""
        yield "protocol", self._identify
        if self._starter.protocol is None:
            return
        if not issubclass(self._starter.protocol, GomocupProtocol):
            yield "boardsize", self._start
            yield "genmove", partial(self._move, ())
            yield "play", partial(self._move, (0, 1))
            yield "clear_board", self._restart
            yield "quit", self._end
            return
        yield "START", self._start
        yield "BEGIN", partial(self._move, ())
        yield "TURN", partial(self._move, (0,))
        yield "BOARD", partial(self._move, (0, 1, 16))
        yield "INFO", self._info
        yield "SUGGEST", self._suggest
        yield "RESTART", self._restart
        for count in _WANTED:
            yield f"SWAP2BOARD {count}", partial(self._open, SWAP2, count)
        if self._side == _SIDE:
            for rule in self._settings.rules:
                yield f"knows {rule.name}", partial(self._knows, rule)
        yield "END", self._end

    def close(self) -> None:
        """End the engine."""
        self._drop()

    @property
    def _variant(self) -> Variant:
        return Variant(self._settings.rules[0], self._side, self._side)

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close(timedelta(0))

    def _said(self) -> tuple[str, ...]:
        return tuple(self._session.transcript)[-DIALOGUE_LINES:] if self._session else ()

    def _failed(self, reason: str, fix: str) -> CheckFailedError:
        """A failure with the end of the dialogue; the engine is in no known state after it."""
        said = self._said()
        self._drop()
        return CheckFailedError(reason, fix, said)

    def _hold(self, dialogue: Callable[[EngineSession], Dialogue[_Result]], fix: str) -> _Result:
        """Hold a dialogue with an engine that has an empty board."""
        try:
            if self._session is None:
                self._session = self._starter.launch()
            session = self._session
            session.hold(session.protocol.set_up(self._variant))
            return session.hold(dialogue(session), patience_ns=nanoseconds(PATIENCE))
        except EngineError as error:
            raise self._failed(str(error), fix) from error
        except EngineStartError as error:
            raise self._failed(str(error), "see that the command starts the engine") from error

    def _identify(self) -> Check:
        if self._starter.protocol is None:
            try:
                self._session, _ = self._starter.identify()
            except (EngineError, EngineStartError) as error:
                fix = "answer ABOUT or START (GTP: any command), each line flushed"
                raise self._failed(str(error), fix) from error
        assert self._starter.protocol is not None
        about = self._hold(lambda session: session.protocol.about(), "answer ABOUT")
        name = " ".join(filter(None, (about.get("name"), about.get("version"))))
        self._starter.recognize(about.get("name", ""))
        return Check(f"{self._starter.protocol.name}, {name or 'which tells no name'}")

    def _start(self) -> Check:
        fix = f"answer START {self._side} with OK"
        self._hold(lambda session: session.protocol.start(self._variant), fix)
        return Check(f"a board of {self._variant.size}")

    def _move(self, moves: Sequence[int]) -> Check:
        fix = 'answer with a move, "x,y", column and row from 0, each line flushed'
        point = self._choose(moves, self._variant, fix)
        x, y = point
        cell = cell_of(point, self._variant)
        if cell == self._variant.cells:
            raise self._failed(f"it plays {x},{y}, off the {self._variant.size} board", fix)
        if cell in moves:
            raise self._failed(f"it plays {x},{y}, which is occupied", fix)
        return Check(f"it plays {x},{y}")

    def _choose(self, moves: Sequence[int], variant: Variant, fix: str) -> tuple[int, int]:
        def dialogue(session: EngineSession) -> Dialogue[Any]:
            yield from session.protocol.new_game(self._starter.new_game(variant, TIME))
            return (yield from session.protocol.choose(moves, TIME))

        found = self._hold(dialogue, fix)
        if not isinstance(found, tuple):
            raise self._failed("it resigns", "play before giving up")
        return found

    def _info(self) -> Check:
        """A key that no engine knows is to be passed over."""

        def dialogue(session: EngineSession) -> Dialogue[None]:
            yield Ask(["INFO nothing_known 1"])
            yield from session.protocol.choose((), TIME)

        before = self._session.refusals if self._session else 0
        fix = "pass over what INFO tells that you don't know"
        self._hold(dialogue, fix)
        if self._session is not None and self._session.refusals > before:
            reason = "it complains of an INFO that it doesn't know, and plays on"
            return Check(reason, fix, Status.WARN, self._said())
        return Check("it passes over what it doesn't know")

    def _suggest(self) -> Check:
        knows = self._starter.traits.plays_suggestions
        if knows is None:
            return Check("it answers with moves, not with SUGGEST", status=Status.SKIP)
        if knows:
            return Check("it plays what it suggests when it is told to PLAY")
        fix = "answer PLAY x,y with x,y; until then it is shown the whole board at each turn"
        return Check("it suggests moves, and doesn't know PLAY", fix, Status.WARN)

    def _restart(self) -> Check:
        self._move((0,))
        self._hold(lambda session: session.protocol.set_up(self._variant), "answer with OK")
        if self._starter.traits.restarts is False:
            fix = "answer RESTART with OK; until then START comes again between games"
            return Check("it doesn't know it", fix, Status.WARN)
        return Check("its board is empty for the next game")

    def _open(self, rule: OpeningRule, count: int) -> Check:
        if not self._knows_openings:
            return Check(f"not asked: {rule.name} is not claimed", status=Status.SKIP)
        stones = _cells("7,7 8,7 7,8 6,7 5,7")[:count]
        fix = f"answer {OPENING_COMMANDS[rule.name]} with {_WANTED[count]}; or claim no {rule.name}"
        try:
            points = self._hold(lambda session: session.protocol.open(stones, TIME, rule), fix)
        except CheckFailedError as error:
            if count and not self._starter.traits.numbers_openings:
                return self._open_with_sides(rule, count, error)
            claimed = self._settings.opening_rules
            if claimed is not None and rule in claimed:
                raise
            self._knows_openings = False
            reason = f"{error.check.reason}: {rule.name} is not claimed"
            return Check(reason, status=Status.SKIP, evidence=error.check.evidence)
        placed = [cell_of(point, self._variant) for point in points]
        if not are_stones([*stones, *placed], self._variant):
            raise self._failed("it answers with stones that can't be placed", fix)
        return Check("SWAP" if not points else " ".join(f"{x},{y}" for x, y in points))

    def _open_with_sides(self, rule: OpeningRule, count: int, refused: CheckFailedError) -> Check:
        """Ask again with stones as ``x,y,who``, as some engines read them."""
        self._starter.traits.numbers_openings = True
        found = self._open(rule, count)
        if found.status is not Status.PASS:
            return found
        reason = f"{found.reason}, to stones as x,y,who alone"
        fix = f"read x,y after {OPENING_COMMANDS[rule.name]}: others send that"
        return Check(reason, fix, Status.WARN, refused.check.evidence)

    def _knows(self, rule: Rule) -> Check:
        """Whether it plays as the rule has it, in three positions."""
        variant, shown = Variant(rule, _SIDE, _SIDE), 0
        fix = f"heed INFO rule; or claim no {rule.name} (--rules)"
        for position in RULE_POSITIONS[rule.name]:
            moves = position.moves()
            (point,) = _cells(position.point)
            x, y = self._choose(moves, variant, "answer BOARD with a move")
            is_played = f"{x},{y}" == position.point
            board = Board.from_moves(moves, variant)
            if not board.is_legal(point):
                if is_played:
                    raise self._failed(f"it plays {x},{y}, which {rule.name} forbids", fix)
                shown += 1
                continue
            board.play(point)
            if is_played and not board.is_over:
                raise self._failed(f"it plays {x},{y}, which wins nothing under {rule.name}", fix)
            if f"{x},{y}" == position.block and board.is_over:
                reason = f"it plays {x},{y} where {position.point} wins under {rule.name}"
                return Check(reason, fix, Status.WARN, self._said())
            shown += is_played or f"{x},{y}" == position.block
        return Check(f"{shown} of {len(RULE_POSITIONS[rule.name])} positions show that it does")

    def _end(self) -> Check:
        session, self._session = self._session, None
        if session is None:
            return Check("it doesn't run", status=Status.SKIP)
        session.ask_to_end()
        ended = session.process.has_ended_by(time.monotonic() + END_SECONDS)
        session.close(timedelta(0))
        if not ended:
            fix = "end at END, and at the end of the input"
            return Check(f"it runs on {END_SECONDS:g} s later, and is killed", fix, Status.WARN)
        return Check("it ends")
