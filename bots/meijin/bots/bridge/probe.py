"""Probing: what can be found out about an engine by asking it, before any game.

All is asked of one process, as far as it bears it, which then plays the first game.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from meijin.bots.bridge.answers import cell_of, is_legal
from meijin.bots.bridge.dialogue import (
    ANSWERS,
    EngineDiedError,
    EngineError,
    EngineProtocol,
    EngineRefusedError,
    EngineSilentError,
    EngineStartError,
    EngineTime,
    NewGame,
    ReplyKind,
)
from meijin.bots.bridge.gomocup import (
    START_PATIENCE,
    GomocupProtocol,
    YixinProtocol,
    parse_about,
    parse_reply,
)
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import SETTLING, WHOLE_PART, EngineSession
from meijin.bots.bridge.settings import WrapSettings
from meijin.game import OpeningRule, Variant
from meijin.game.rules.variant import MAX_SIDE, MIN_GOMOKU_SIDE

PROTOCOLS: dict[str, type[EngineProtocol]] = {
    protocol.name: protocol for protocol in (GomocupProtocol, YixinProtocol, GtpProtocol)
}
"""By their names."""
ABOUT_PATIENCE = timedelta(seconds=2)
_GTP_ANSWER = re.compile(r"[=?][0-9]*(\s|$)")


def identify(process: EngineProcess) -> tuple[type[EngineProtocol], Mapping[str, str]]:
    """Find out which protocol an engine speaks: it is asked with ABOUT, then with START.

    It may also have told its ``name`` and its ``version``.

    Raises:
        EngineStartError: it answers neither.
    """
    try:
        for command, patience in (("ABOUT", ABOUT_PATIENCE), ("START 15", START_PATIENCE)):
            process.write(f"{command}\r\n")
            left = partial(_left, time.monotonic() + patience.total_seconds())
            while line := process.read_line(left):
                if protocol := _protocol_of(line):
                    return protocol, parse_about(line)
    except EngineDiedError as error:
        raise EngineStartError(f"{error}; its protocol is unknown") from error
    raise EngineStartError(
        "the engine answers neither ABOUT nor START; say what it speaks with --protocol"
    )


def _left(deadline: float, part: str) -> float:
    """Seconds until then; a part that is an answer is taken for whole sooner."""
    if part and _protocol_of(part):
        return WHOLE_PART.total_seconds()
    return max(0.0, deadline - time.monotonic())


def _protocol_of(line: str) -> type[EngineProtocol] | None:
    """The protocol that a line belongs to, if it tells."""
    if _GTP_ANSWER.match(line):
        return GtpProtocol
    kind = parse_reply(line).kind
    if kind is ReplyKind.ABOUT and "yixin" in parse_about(line).get("name", "").lower():
        return YixinProtocol
    return GomocupProtocol if kind is ReplyKind.ABOUT or kind in ANSWERS else None


class Starter:
    """Starts engines with all that is known of them so far."""

    def __init__(self, settings: WrapSettings) -> None:
        self.pause = settings.pause or timedelta(0)
        """Between an engine's answer and the next command."""
        self.answers_hints: bool | None = None
        """See `EngineProtocol.answers_hints`."""
        self.protocol = PROTOCOLS[settings.protocol] if settings.protocol is not None else None
        self._settings = settings

    def launch(self, seat: int = 0, pause: timedelta = timedelta(0)) -> EngineSession:
        """Start an engine for a seat, with that pause at least."""
        return self._session(self._start(seat), max(pause, self.pause))

    def identify(self) -> tuple[EngineSession, Mapping[str, str] | None]:
        """Learn the protocol of an engine that is started; also, what it has told of itself by that.

        Raises:
            EngineStartError: it speaks none that is known.
        """
        process = self._start(seat=0)
        try:
            self.protocol, about = identify(process)
        except BaseException:
            process.close()
            raise
        session = self._session(process, self.pause)
        return session, None if self.protocol is GtpProtocol else about

    def _start(self, seat: int) -> EngineProcess:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
        core = cores[seat % len(cores)]
        return EngineProcess(self._settings.command, self._settings.limits, core=core)

    def _session(self, process: EngineProcess, pause: timedelta) -> EngineSession:
        assert self.protocol is not None
        protocol = self.protocol(self._settings.options)
        protocol.answers_hints = self.answers_hints
        is_suspended = self._settings.limits.is_suspended
        return EngineSession(process, protocol, pause=pause, is_suspended=is_suspended)


SIZES_PATIENCE = timedelta(seconds=60)
"""For all sizes together; what isn't known by then is not claimed."""
TRIAL_TIME = EngineTime(turn_ms=200, match_ms=0, left_ms=None)
TRIAL_PATIENCE = timedelta(seconds=5)
"""For a move of the trial game."""
OPENING_PATIENCE = timedelta(seconds=2)
"""For the stones of an opening; an engine that is silent is taken to know no openings."""
_USUAL_SIZES = (15, 20, 19)

logger = logging.getLogger("meijin.bots.engine")


class Probe:
    """Asks one process, which is started anew when it must be."""

    def __init__(self, starter: Starter, session: EngineSession | None = None) -> None:
        """Ask `session`, if there is one."""
        self._starter = starter
        self._session = session
        self._pause = timedelta(0)
        self._size: int | None = None  # the last one that was set up
        self._refusal = ""

    @property
    def session(self) -> EngineSession:
        """The engine, started if it doesn't run."""
        if self._session is None:
            self._session = self._starter.launch(pause=self._pause)
        return self._session

    def drop(self) -> None:
        """End the engine: nobody knows what it makes of the next command."""
        session, self._session = self._session, None
        if session is not None:
            session.close(timedelta(0))

    def take(self, variant: Variant) -> EngineSession:
        """The engine with an empty board, for a game; it is asked no more.

        Raises:
            EngineError: it can't set one up.
        """
        session, self._session = self._ready(variant), None
        return session

    def find_about(self) -> Mapping[str, str]:
        try:
            return self.session.hold(self.session.protocol.about())
        except EngineError:
            self.drop()
            return {}

    def find_sizes(self) -> tuple[int, int]:
        """The shortest and the longest side of the square boards that an engine sets up.

        Every size between them was set up: it is asked one by one, until it refuses.

        Raises:
            EngineStartError: it has none of the usual sizes.
        """
        deadline = time.monotonic() + SIZES_PATIENCE.total_seconds()
        for usual in _USUAL_SIZES:
            if self._has_size(usual):
                lowest = self._last_size(range(usual, MIN_GOMOKU_SIDE - 1, -1), deadline)
                return lowest, self._last_size(range(usual, MAX_SIDE + 1), deadline)
        tried = ", ".join(map(str, _USUAL_SIZES))
        raise EngineStartError(
            f"the engine sets up no board of {tried}: {self._refusal}; give --sizes if it has others"
        )

    def find_pause(self, variant: Variant) -> timedelta:
        """How long an engine must be left alone after its move, by a trial game's first moves.

        Most need no pause. `SETTLING` is for one that doesn't answer a move that comes at once, but
        does when it comes later, and for one that says more than its move.
        """
        for self._pause in (timedelta(0), SETTLING):
            try:
                before = self.session.strays
                if _answers_twice(self.session, variant):
                    self.session.process.sleep(SETTLING.total_seconds())
                    self.session.drop_strays()
                    return self._pause if self.session.strays == before else SETTLING
            except EngineError as error:
                logger.warning("in a trial game, %s", error)
                self.drop()
                break
            self.drop()
        return timedelta(0)

    def find_opening_rules(self, variant: Variant) -> Sequence[OpeningRule]:
        """The opening rules whose first stones an engine places.

        One that doesn't place those of the first, which most know of all, is asked for no other.
        """
        found: list[OpeningRule] = []
        for rule in self.session.protocol.opening_rules:
            if not self._places(rule, variant):
                break
            found.append(rule)
        return found

    def _ready(self, variant: Variant) -> EngineSession:
        """The engine with an empty board, started anew where it refuses one."""
        if self._session is not None:
            try:
                self._session.hold(self._session.protocol.set_up(variant))
            except EngineError as error:
                logger.debug("started anew: %s", error)
                self.drop()
            else:
                return self._session
        self.session.hold(self.session.protocol.set_up(variant))
        return self.session

    def _has_size(self, size: int) -> bool:
        """Whether it sets up a board of `size`; after a refusal it must still do so of another."""
        if self._sets_up(size):
            self._size = size
            return True
        if self._size is None or not self._sets_up(self._size):
            self.drop()
        return False

    def _last_size(self, sizes: range, deadline: float) -> int:
        """The last size it has of those which begin with one that it has."""
        last, *others = sizes
        for size in others:
            if time.monotonic() >= deadline or not self._has_size(size):
                break
            last = size
        return last

    def _sets_up(self, size: int) -> bool:
        try:
            variant = Variant(width=size, height=size)
            self.session.hold(self.session.protocol.start(variant))
        except EngineError as error:
            self._refusal = str(error)
            return False
        return True

    def _places(self, rule: OpeningRule, variant: Variant) -> bool:
        try:
            session = self._ready(variant)
            dialogue = session.protocol.open((), None, rule)
            points = session.hold(dialogue, patience=OPENING_PATIENCE)
        except EngineError as error:
            logger.debug("%s is not claimed: %s", rule.name, error)
            if isinstance(error, EngineRefusedError):
                self.session.process.sleep(SETTLING.total_seconds())
                self.session.process.stale_lines()  # it may refuse each line
            if isinstance(error, EngineSilentError) or not isinstance(error, EngineRefusedError):
                self.drop()
            return False
        return is_legal(points, rule, variant)


def _answers_twice(session: EngineSession, variant: Variant) -> bool:
    """Whether it answers a move that follows its own at once.

    Raises:
        EngineError: it doesn't answer the first either, or dies.
    """
    session.hold(session.protocol.new_game(NewGame(variant, TRIAL_TIME)))
    point = session.hold(session.protocol.choose((), TRIAL_TIME), patience=TRIAL_PATIENCE)
    if not isinstance(point, tuple):
        return True
    cell = cell_of(point, variant)
    if cell == variant.cells:
        x, y = point
        raise EngineError(f"the engine plays {x},{y}, off the {variant.size} board")
    second = session.protocol.choose((cell, 0 if cell else 1), TRIAL_TIME)
    try:
        session.hold(second, patience=TRIAL_PATIENCE)
    except EngineDiedError:
        raise
    except EngineError:
        return False
    return True
