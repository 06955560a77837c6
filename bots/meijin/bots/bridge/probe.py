"""Probing: what can be found out about an engine by asking it, before any game.

All is asked of one process, as far as it bears it, which then plays the first game.
"""

from __future__ import annotations

import logging
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from threading import Timer
from weakref import WeakSet

from meijin.bots.bridge.answers import USUAL_MESSAGES, MessagePatterns, are_stones, cell_of
from meijin.bots.bridge.dialogue import (
    ANSWERS,
    EngineDiedError,
    EngineError,
    EngineInterruptedError,
    EngineProtocol,
    EngineRefusedError,
    EngineSilentError,
    EngineStartError,
    EngineTime,
    EngineTraits,
    NewGame,
    Point,
    ReplyKind,
    last_words,
)
from meijin.bots.bridge.gomocup import (
    START_PATIENCE,
    GomocupProtocol,
    YixinProtocol,
    parse_about,
    parse_reply,
)
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.known import KnownEngine, known_engine
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import SETTLING, USUAL_PAUSE, EngineSession
from meijin.bots.bridge.settings import WrapSettings
from meijin.game import OpeningRule, Variant
from meijin.game.arbiter.moment import nanoseconds
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
    protocol: type[EngineProtocol] | None = None
    about: Mapping[str, str] = {}
    try:
        for command, patience in (("ABOUT", ABOUT_PATIENCE), ("START 15", START_PATIENCE)):
            process.write(f"{command}\r\n")
            deadline_ns = time.monotonic_ns() + nanoseconds(patience)
            with _telling(command):
                while line := process.read_line(deadline_ns, _protocol_of):
                    found, is_about = _protocol_of(line), parse_reply(line).kind is ReplyKind.ABOUT
                    protocol, about = protocol or found, about or parse_about(line)
                    if found and (command == "ABOUT" or not is_about):
                        return found, about
    except EngineDiedError as error:
        raise EngineStartError(f"{error}; its protocol is unknown") from error
    if protocol is not None:
        return protocol, about
    raise EngineStartError(
        "the engine answers neither ABOUT nor START; say what it speaks with --protocol"
    )


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
        self.pause = USUAL_PAUSE if settings.pause is None else settings.pause
        """Between an engine's answer and the next command."""
        self.traits = EngineTraits()
        """What the engines that ran have shown."""
        self.known: KnownEngine | None = None
        self.protocol = PROTOCOLS[settings.protocol] if settings.protocol is not None else None
        self._settings = settings
        self.tries_moves = settings.limits.cpu is None  # a move would use some of it up
        """A process makes a trial move before its first game, until one has failed to."""
        self._sessions: WeakSet[EngineSession] = WeakSet()
        self._is_closed = False

    def with_options(self, options: Mapping[str, str]) -> Starter:
        """One of the same engine with other options, and with what is known of it."""
        other = Starter(replace(self._settings, options=options))
        other.pause, other.traits = self.pause, self.traits
        other.known, other.protocol = self.known, self.protocol
        return other

    @property
    def messages(self) -> MessagePatterns:
        """How the engine writes what it thinks."""
        return self.known.messages if self.known is not None else USUAL_MESSAGES

    def recognize(self, *names: str) -> None:
        """Take over what is known of an engine of one of these names.

        Raises:
            EngineStartError: the user's table can't be read.
        """
        self.known = known_engine(*names)
        if self.known is not None:
            self.known.tell(self.traits)
            if self.known.pause is not None and self._settings.pause is None:
                self.pause = self.known.pause

    def new_game(self, variant: Variant, time: EngineTime) -> NewGame:
        """A game, with what its engine may use."""
        folder = self._settings.folder
        memory = self._settings.limits.memory or 0
        return NewGame(variant, time, memory, "" if folder is None else str(folder.absolute()))

    def launch(self, seat: int = 0, pause: timedelta | None = None) -> EngineSession:
        """Start an engine for a seat.

        Raises:
            EngineStartError: it can't be, or no more are to be started.
        """
        return self._session(self._start(seat), self.pause if pause is None else pause)

    def ready(self, variant: Variant, seat: int = 0) -> EngineSession:
        """Start an engine that has made a trial move, and has an empty board again.

        The first move is the one that loads networks and lays out tables.

        Raises:
            EngineError: it can't set the board up, or dies.
            EngineStartError: it can't be started.
        """
        session = self._set_up(variant, seat)
        return session if self.warm(session, variant) else self._set_up(variant, seat)

    def warm(self, session: EngineSession, variant: Variant) -> bool:
        """Have an engine make a move of no game; one that fails is ended, and no other asked to."""
        if self.tries_moves:
            try:
                self._try_move(session, variant)
            except EngineError as error:
                logger.warning("in a trial move, %s", error)
                self.tries_moves = False
                session.close(timedelta(0))
                return False
        return True

    def _try_move(self, session: EngineSession, variant: Variant) -> None:
        protocol = session.protocol
        session.hold(protocol.new_game(self.new_game(variant, TRIAL_TIME)))
        try:
            with _telling("BEGIN"):
                session.hold(
                    protocol.choose((), TRIAL_TIME), patience_ns=nanoseconds(LOAD_PATIENCE)
                )
        except EngineSilentError:
            if (stop := protocol.stop()) is None:
                raise
            session.hold(stop)
        session.hold(protocol.set_up(variant))

    def close(self) -> None:
        """Start no more, and interrupt whoever waits for one."""
        self._is_closed = True
        for session in list(self._sessions):
            session.interrupt()

    def _set_up(self, variant: Variant, seat: int) -> EngineSession:
        session = self.launch(seat)
        try:
            with _telling("START"):
                session.hold(session.protocol.start(variant))
        except EngineError:
            session.close(timedelta(0))
            raise
        return session

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
        if self._is_closed:
            raise EngineStartError("the bot is to end")
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
        core = cores[seat % len(cores)]
        return EngineProcess(self._settings.command, self._settings.limits, core=core)

    def _session(self, process: EngineProcess, pause: timedelta) -> EngineSession:
        assert self.protocol is not None
        protocol = self.protocol(self._settings.options, self.traits)
        is_suspended = self._settings.limits.is_suspended
        session = EngineSession(process, protocol, pause=pause, is_suspended=is_suspended)
        self._sessions.add(session)
        if self._is_closed:
            session.interrupt()
        return session


SIZES_PATIENCE = timedelta(seconds=60)
"""For all sizes together; what isn't known by then is not claimed."""
TRIAL_TIME = EngineTime(turn_ms=200, match_ms=0, left_ms=None)
TRIAL_PATIENCE = timedelta(seconds=5)
"""For a move of a trial game."""
LOAD_PATIENCE = START_PATIENCE
"""For the first move of a process: some load with it."""
PAUSE_GAMES, PAUSE_MOVES = 5, 4
"""Trial games and the engine's moves in each: after every one of them something follows at once."""
PAUSE_PATIENCE = timedelta(seconds=10)
"""For these games; an engine that isn't through by then is left alone as usual."""
PAUSE_MS = 30
"""What it is told that a move of them may take."""
_PAUSES = (timedelta(0), USUAL_PAUSE, SETTLING)
OPENING_PATIENCE = timedelta(seconds=2)
"""For the stones of an opening; an engine that is silent is taken to know no openings. One that
has placed them may take longer to choose."""
_USUAL_SIZES = (15, 20, 19)
_SLOW = 2.0
"""Seconds for a START after which not every size is asked for."""
_LONG = 5
"""Seconds after which it is said that an engine is waited for."""

logger = logging.getLogger("meijin.bots.engine")


class Probe:
    """Asks one process, which is started anew when it must be."""

    def __init__(self, starter: Starter, session: EngineSession | None = None) -> None:
        """Ask `session`, if there is one."""
        self._starter = starter
        self._session = session
        self._pause: timedelta | None = None  # while one is looked for
        self._size: int | None = None  # the last one that was set up
        self._refusal = ""
        self._start_seconds = 0.0  # of the last START

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
        session = self._ready(variant)
        if not self._starter.warm(session, variant):
            self._session = None
            session = self._ready(variant)
        self._session = None
        return session

    def find_about(self) -> Mapping[str, str]:
        try:
            return self.session.hold(self.session.protocol.about())
        except EngineError:
            self.drop()
            return {}

    def find_sizes(self) -> tuple[int, int]:
        """The shortest and the longest side of the square boards that an engine sets up.

        Every size between them was set up: it is asked one by one, until it refuses. One that
        loads at each START has one size: a game of another would begin with that, on its clock.

        Raises:
            EngineStartError: it has none of the usual sizes.
        """
        deadline = time.monotonic() + SIZES_PATIENCE.total_seconds()
        for usual in _USUAL_SIZES:
            if self._has_size(usual):
                if self._is_slow(usual):
                    words = (
                        "each START takes %.0f s: only boards of %d are claimed; --sizes has others"
                    )
                    logger.info(words, self._start_seconds, usual)
                    return usual, usual
                lowest = self._last_size(range(usual, MIN_GOMOKU_SIDE - 1, -1), deadline)
                return lowest, self._last_size(range(usual, MAX_SIDE + 1), deadline)
        tried = ", ".join(map(str, _USUAL_SIZES))
        raise EngineStartError(
            f"the engine sets up no board of {tried}: {self._refusal}; give --sizes if it has others"
        )

    def check_board(self, variant: Variant) -> None:
        """Have it set up the board of a variant.

        Raises:
            EngineStartError: it doesn't.
        """
        if not self._sets_up(variant):
            raise EngineStartError(f"the engine sets up no {variant.size} board: {self._refusal}")

    def find_pause(self, variant: Variant) -> timedelta:
        """How long an engine must be left alone after its move, by the first moves of trial games.

        Most need no pause: they hear twenty commands that follow a move at once, or the end of a
        game. Others miss some of them, refuse half of one, or say more than they are asked for.
        """
        refusals: dict[timedelta, int] = {}
        for self._pause in _PAUSES:
            session = self.session
            session.pause = self._pause
            before = session.strays
            try:
                refused = self._missed(variant)
            except EngineInterruptedError:
                raise
            except EngineError as error:
                logger.warning("in a trial game, %s", error)
                self._starter.tries_moves &= not isinstance(error, EngineSilentError)
                self.drop()
                return USUAL_PAUSE
            if session.strays != before:
                return SETTLING
            if refused == 0:
                return self._pause
            if refused is not None:
                refusals[self._pause] = refused
        # What it refuses however late it comes has nothing to do with the pause.
        return min(refusals, key=lambda pause: (refusals[pause], pause), default=SETTLING)

    def _missed(self, variant: Variant) -> int | None:
        """How many lines an engine refuses in trial games; ``None`` where it misses a whole one.

        Raises:
            EngineError: it answers nothing at all, dies, or plays where no move can be.
        """
        deadline = math.inf
        session, before = self.session, self.session.refusals
        for number in range(PAUSE_GAMES):
            told = EngineTime(PAUSE_MS, match_ms=60_000, left_ms=60_000)
            session.hold(session.protocol.new_game(self._starter.new_game(variant, told)))
            moves: list[int] = []
            for _ in range(PAUSE_MOVES):
                told = told._replace(left_ms=60_000 - len(moves))
                is_first = not moves and not number
                patience = LOAD_PATIENCE if is_first else TRIAL_PATIENCE
                try:
                    with _telling("BEGIN"):
                        point = session.hold(
                            session.protocol.choose(moves, told),
                            patience_ns=nanoseconds(patience),
                        )
                except EngineSilentError:
                    if is_first:
                        raise
                    self.drop()
                    return None
                if not isinstance(point, tuple):
                    break
                if is_first:
                    deadline = time.monotonic() + PAUSE_PATIENCE.total_seconds()
                moves += _reply_to(moves, point, variant)
            if time.monotonic() > deadline:
                raise EngineError("the engine is too slow to be tried whether it needs a pause")
        session.process.sleep(SETTLING.total_seconds())
        session.drop_strays()
        return session.refusals - before

    def find_opening_rules(
        self, variant: Variant, rules: Sequence[OpeningRule]
    ) -> Sequence[OpeningRule]:
        """The opening rules of these whose stones an engine places.

        One that doesn't place those of the first, which most know of all, is asked for no other.
        """
        found: list[OpeningRule] = []
        for rule in rules:
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
        if self._sets_up(_square(size)):
            self._size = size
            return True
        if self._size is None or not self._sets_up(_square(self._size)):
            self.drop()
        return False

    def _is_slow(self, size: int) -> bool:
        """Whether each START takes long, not the first one alone."""
        return (
            self._start_seconds > _SLOW
            and self._sets_up(_square(size))
            and self._start_seconds > _SLOW
        )

    def _last_size(self, sizes: range, deadline: float) -> int:
        """The last size it has of those which begin with one that it has."""
        last, *others = sizes
        for size in others:
            if time.monotonic() >= deadline or not self._has_size(size):
                break
            last = size
        return last

    def _sets_up(self, variant: Variant) -> bool:
        session, started = self.session, time.monotonic()
        try:
            with _telling("START"):
                session.hold(session.protocol.start(variant))
        except EngineSilentError as error:
            if self._size is None:
                words = f"{error} for {START_PATIENCE.seconds} s; {last_words(error.dialogue)}"
                raise EngineStartError(words) from error
            self._refusal = str(error)
            return False
        except EngineError as error:
            self._refusal = str(error)
            return False
        finally:
            self._start_seconds = time.monotonic() - started
        return True

    def _places(self, rule: OpeningRule, variant: Variant) -> bool:
        """Whether an engine does what an opening asks for, in all of its stages."""
        if not self._does(rule, (), variant):
            return False
        center = variant.cells // 2
        stones = (center, center + 1, center + variant.width, center - 1, center - 2)
        for count in sorted({rule.steps[0].count, rule.most_stones}):
            if not self._does(rule, stones[:count], variant):
                if self._starter.traits.numbers_openings:
                    return False
                self._starter.traits.numbers_openings = True
                if not self._does(rule, stones[:count], variant):
                    self._starter.traits.numbers_openings = False
                    return False
                logger.info("the engine reads the stones of an opening with their sides")
        return True

    def _does(self, rule: OpeningRule, moves: Sequence[int], variant: Variant) -> bool:
        """Whether an engine answers one stage of an opening."""
        try:
            session = self._ready(variant)
            dialogue = session.protocol.open(moves, TRIAL_TIME, rule)
            patience = TRIAL_PATIENCE if moves else OPENING_PATIENCE
            points = session.hold(dialogue, patience_ns=nanoseconds(patience))
        except EngineInterruptedError:
            raise
        except EngineError as error:
            if moves or isinstance(error, EngineDiedError):
                logger.info("%s is left out: after %d stones, %s", rule.name, len(moves), error)
            if isinstance(error, EngineSilentError) or not isinstance(error, EngineRefusedError):
                self.drop()
            else:
                self.session.process.sleep(SETTLING.total_seconds())
                self.session.process.stale_lines()  # it may refuse each line
            return False
        cells = [cell_of(point, variant) for point in points]
        return are_stones((*moves, *cells), variant)


def _square(size: int) -> Variant:
    return Variant(width=size, height=size)


@contextmanager
def _telling(command: str) -> Iterator[None]:
    """Say that an engine is waited for, if it takes long."""
    words = "the engine hasn't answered %s for %d s; it is waited for %d s"
    timer = Timer(_LONG, logger.info, (words, command, _LONG, START_PATIENCE.seconds))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _reply_to(moves: Sequence[int], point: Point, variant: Variant) -> tuple[int, int]:
    """The engine's move as a cell, and one that follows.

    Raises:
        EngineError: it is off the board, or occupied.
    """
    cell = cell_of(point, variant)
    x, y = point
    if cell == variant.cells:
        raise EngineError(f"the engine plays {x},{y}, off the {variant.size} board")
    if cell in moves:
        raise EngineError(f"the engine plays {x},{y}, which is occupied")
    taken = {*moves, cell}
    free = (other for other in range(0, variant.cells, 2) if other not in taken)
    return cell, next(free)
