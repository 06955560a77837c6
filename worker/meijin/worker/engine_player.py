"""Engine players: existing engines, asked over their pipes in the protocol that they speak."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from meijin.bots.bridge.answers import cell_of, placement, read_analysis, side_and_move
from meijin.bots.bridge.dialogue import (
    EngineDiedError,
    EngineError,
    EngineSilentError,
    EngineTime,
    Point,
    last_words,
)
from meijin.bots.bridge.probe import Starter
from meijin.bots.bridge.session import EngineSession
from meijin.bots.bridge.settings import LEAST_MS, TURN_SHARE
from meijin.bots.sdk.answer import Failure, Resignation
from meijin.game import Action, Choose, Outcome, TimeControl
from meijin.wire.contract import MAX_TRACEBACK
from meijin.worker.players import GameStart, Player, PlayerError, Thought, Turn

_NS_PER_MS = 1_000_000
_MILLISECOND = timedelta(milliseconds=1)
END_GRACE = timedelta(milliseconds=200)
"""What an engine that is not needed any more may take to end by itself."""


def told_time(control: TimeControl, left_ms: int, margin_ms: int = 0) -> EngineTime:
    """What an engine is told of its clock.

    All of a limit per move; where the clock alone limits it a share, since most engines spend what
    they are told of for one move.
    """
    kept_ms = margin_ms
    if control.initial is None:
        return EngineTime(max(LEAST_MS, left_ms - kept_ms), 0, None)
    turn_ms = left_ms // TURN_SHARE + control.increment // _MILLISECOND
    if control.per_move is not None:
        turn_ms = min(control.per_move // _MILLISECOND, left_ms)
    turn_ms = min(turn_ms, left_ms) - kept_ms
    match_ms = control.initial // _MILLISECOND
    return EngineTime(max(LEAST_MS, turn_ms), match_ms, max(LEAST_MS, left_ms - kept_ms))


class EnginePlayer(Player):
    """One process of an engine, replaced when it has ended or must be."""

    def __init__(self, name: str, starter: Starter, *, slot: int, margin_ms: int = 0) -> None:
        self._name = name
        self._starter = starter
        self._slot = slot
        self._margin_ms = margin_ms
        self._session: EngineSession | None = None
        self._game: GameStart | None = None
        self._plan: tuple[list[int], int] | None = None
        """A move that it has made with its choice of a side, and the moves before it."""
        self._is_usable = True

    def get_ready(self, game: GameStart) -> None:
        """Have an empty board by RESTART or START, or a new process that has made a trial move."""
        self._game, self._plan = game, None
        control = game.time_control
        start = control.initial if control.initial is not None else control.per_move
        assert start is not None
        time_told = told_time(control, start // _MILLISECOND, self._margin_ms)
        new = self._starter.new_game(game.variant, time_told)
        if self._session is not None:
            try:
                self._session.hold(self._session.protocol.new_game(new))
            except EngineError:
                self._drop()
            else:
                return
        try:
            self._session = self._starter.ready(game.variant, self._slot)
            self._session.hold(self._session.protocol.new_game(new))
        except EngineError as error:
            self._drop()
            raise PlayerError(f"{self._name} can't begin a game: {error}") from error

    def think(self, turn: Turn) -> Thought:
        assert self._session is not None
        moves = list(turn.board.moves)
        if self._plan is not None and self._plan[0] == moves:
            now_ns = time.monotonic_ns()
            return Thought(now_ns, now_ns, self._plan[1])
        session, protocol, variant = self._session, self._session.protocol, turn.board.variant
        assert self._game is not None
        told = told_time(self._game.time_control, turn.own_ns // _NS_PER_MS, self._margin_ms)
        asked_ns = time.monotonic_ns()
        try:
            if turn.task is not None:
                opened = protocol.open(moves, told, variant.opening_rule)
                points = session.hold(opened, patience_ns=turn.limit_ns)
                action = self._opened(points, turn)
                return Thought(session.asked_ns, session.answered_ns, action)
            found = session.hold(protocol.choose(moves, told), patience_ns=turn.limit_ns)
        except EngineSilentError as error:
            self._is_usable = False
            now_ns, evidence = time.monotonic_ns(), _evidence(error)
            words = last_words(error.dialogue)
            asked_ns = session.asked_ns or asked_ns
            return Thought(asked_ns, now_ns, None, evidence=evidence, words=words)
        except EngineError as error:
            self._is_usable = False
            return self._failure(error, asked_ns)
        if isinstance(found, Resignation):
            return Thought(session.asked_ns, session.answered_ns, found)
        cell = cell_of(found, variant)
        patterns = self._starter.messages
        said = session.messages
        analysis = read_analysis(said, variant, cell, patterns) if said else None
        words = "the engine plays {},{}".format(*found) if cell == variant.cells else ""
        return Thought(session.asked_ns, session.answered_ns, cell, analysis, words=words)

    def _opened(self, points: Sequence[Point], turn: Turn) -> Action:
        """What an engine has done in an opening; the move that it adds is remembered."""
        if turn.task is not None and turn.task.may_choose:
            chosen = side_and_move(points, turn.board)
            if chosen is not None:
                side, point = chosen
                if point is not None:
                    cell = cell_of(point, turn.board.variant)
                    self._plan = list(turn.board.moves), cell
                return Choose(side)
        return placement(points, turn.board.variant)

    def _failure(self, error: EngineError, asked_ns: int) -> Thought:
        failure, said = Failure(str(error)), _evidence(error)
        return Thought(asked_ns, time.monotonic_ns(), failure, evidence=said)

    def end(self, outcome: Outcome | None) -> None:  # noqa: ARG002 - no protocol tells of it
        if not self._is_usable:
            self._drop()

    def close(self) -> None:
        if self._session is not None:
            self._session.close(END_GRACE)
            self._session = None

    def _drop(self) -> None:
        """End the process: nobody knows what it makes of the next command."""
        session, self._session, self._is_usable = self._session, None, True
        if session is not None:
            session.close(timedelta(0))


def _evidence(error: EngineError) -> dict[str, object]:
    """The end of the dialogue and of the standard error of an engine that has failed."""
    evidence: dict[str, object] = {"traceback": "\n".join(error.dialogue)[-MAX_TRACEBACK:]}
    if isinstance(error, EngineDiedError) and error.errors:
        evidence["stderr"] = list(error.errors)
    return evidence
