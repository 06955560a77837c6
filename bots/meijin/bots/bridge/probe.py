"""Probing: what can be found out about an engine by asking it, before any game."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from meijin.bots.bridge.dialogue import EngineProtocol, EngineTime, Kind, NewGame, Turn
from meijin.bots.bridge.errors import EngineDiedError, EngineError, EngineStartError
from meijin.bots.bridge.gomocup import START_PATIENCE, GomocupProtocol, parse_about, parse_reply
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import SETTLING, WHOLE_PART, EngineSession
from meijin.bots.bridge.yixin import YixinProtocol
from meijin.game import Variant
from meijin.game.variant import MAX_SIDE, MIN_GOMOKU_SIDE

PROTOCOLS: dict[str, type[EngineProtocol]] = {
    protocol.name: protocol for protocol in (GomocupProtocol, YixinProtocol, GtpProtocol)
}
"""By their names."""
ABOUT_PATIENCE = timedelta(seconds=2)
PROBE_PATIENCE = timedelta(seconds=60)
"""For all sizes together; what isn't known by then is not claimed."""
TRIAL_TIME = EngineTime(turn_ms=200, match_ms=0, left_ms=None)
TRIAL_PATIENCE = timedelta(seconds=5)
"""For a move of the trial game."""
_GTP_ANSWER = re.compile(r"[=?][0-9]*(\s|$)")
_USUAL_SIZES = (15, 20, 19)

logger = logging.getLogger("meijin.bots.engine")

Launch = Callable[[timedelta], EngineSession]
"""Starts the engine anew, with a pause before each command."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an engine has told of itself."""

    protocol: str
    about: Mapping[str, str]
    """Its ``name`` and its ``version``, if it told them."""


async def identify(process: EngineProcess) -> Identity:
    """Find out which protocol an engine speaks: it is asked with ABOUT, then with START.

    Raises:
        EngineStartError: it answers neither.
    """
    try:
        for command, patience in (("ABOUT", ABOUT_PATIENCE), ("START 15", START_PATIENCE)):
            await process.write(f"{command}\r\n")
            left = partial(_left, time.monotonic() + patience.total_seconds())
            while line := await process.read_line(left):
                if name := _protocol_of(line):
                    return Identity(name, parse_about(line))
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


def _protocol_of(line: str) -> str | None:
    """The protocol that a line belongs to, if it tells."""
    if _GTP_ANSWER.match(line):
        return GtpProtocol.name
    reply = parse_reply(line)
    if reply.kind is Kind.ABOUT:
        is_yixin = re.search("yixin", parse_about(line).get("name", ""), re.IGNORECASE)
        return YixinProtocol.name if is_yixin else GomocupProtocol.name
    known = reply.kind in (Kind.OK, Kind.UNKNOWN, Kind.ERROR)
    return GomocupProtocol.name if known else None


async def find_sizes(launch: Callable[[], EngineSession]) -> tuple[int, int]:
    """The shortest and the longest side of the square boards that an engine sets up.

    Every size between them was set up: it is asked one by one, until it refuses. It is ended
    and started anew after each refusal.

    Raises:
        EngineStartError: it has none of the usual sizes.
    """
    sizes = _Sizes(launch)
    try:
        for usual in _USUAL_SIZES:
            if await sizes.has(usual):
                lowest = await sizes.last(usual, MIN_GOMOKU_SIDE, -1)
                return lowest, await sizes.last(usual, MAX_SIDE, 1)
    finally:
        await sizes.close()
    tried = ", ".join(str(size) for size in _USUAL_SIZES)
    raise EngineStartError(
        f"the engine sets up no board of {tried}: {sizes.refusal}; give --sizes if it has others"
    )


class _Sizes:
    """Asks for sizes, of a process that it starts anew when it must."""

    def __init__(self, launch: Callable[[], EngineSession]) -> None:
        self.refusal = ""
        self._launch = launch
        self._session: EngineSession | None = None
        self._deadline = time.monotonic() + PROBE_PATIENCE.total_seconds()

    async def has(self, size: int) -> bool:
        """Whether it sets up a board of `size`."""
        if self._session is None:
            self._session = self._launch()
        try:
            await self._session.hold(self._session.protocol.start(Variant(width=size, height=size)))
        except EngineError as error:
            self.refusal = str(error)
            await self.close()
            return False
        return True

    async def last(self, first: int, limit: int, step: int) -> int:
        """The last size it has of those from `first` to `limit`."""
        size = first
        while size != limit and time.monotonic() < self._deadline and await self.has(size + step):
            size += step
        return size

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await asyncio.to_thread(session.close, timedelta(0))


async def find_pause(launch: Launch, variant: Variant) -> timedelta:
    """How long an engine must be left alone after its move, by the first moves of a trial game.

    Most need no pause. `SETTLING` is for one that doesn't answer a move that comes at once, but
    does when it comes later, and for one that says more than its move.
    """
    for pause in (timedelta(0), SETTLING):
        session = launch(pause)
        try:
            if await _answers_twice(session, variant):
                await asyncio.sleep(SETTLING.total_seconds())
                session.drop_strays()
                return SETTLING if session.strays else pause
        except EngineError as error:
            logger.warning("in a trial game, %s", error)
            return timedelta(0)
        finally:
            await asyncio.to_thread(session.close, timedelta(0))
    return timedelta(0)


async def _answers_twice(session: EngineSession, variant: Variant) -> bool:
    """Whether it answers a move that follows its own at once.

    Raises:
        EngineError: it doesn't answer the first either, or dies.
    """
    await session.hold(session.protocol.new_game(NewGame(variant, TRIAL_TIME)))
    first = session.protocol.choose(Turn((), TRIAL_TIME))
    point = await session.hold(first, patience=TRIAL_PATIENCE)
    if not isinstance(point, tuple):
        return True
    x, y = point
    cell = y * variant.width + x
    if not 0 <= cell < variant.cells:
        raise EngineError(f"the engine plays {x},{y}, off the {variant.size} board")
    second = session.protocol.choose(Turn((cell, 0 if cell else 1), TRIAL_TIME))
    try:
        await session.hold(second, patience=TRIAL_PATIENCE)
    except EngineDiedError:
        raise
    except EngineError:
        return False
    return True
