"""Probing: what can be found out about an engine by asking it, before any game.

All is asked of one process, as far as it bears it, which then plays the first game.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from meijin.bots.bridge.answers import cell_of, is_legal
from meijin.bots.bridge.dialogue import EngineTime, NewGame, Turn
from meijin.bots.bridge.errors import (
    EngineDiedError,
    EngineError,
    EngineRefusedError,
    EngineSilentError,
    EngineStartError,
)
from meijin.bots.bridge.session import SETTLING, EngineSession
from meijin.game import OpeningRule, Variant
from meijin.game.rules.variant import MAX_SIDE, MIN_GOMOKU_SIDE

PROBE_PATIENCE = timedelta(seconds=60)
"""For all sizes together; what isn't known by then is not claimed."""
TRIAL_TIME = EngineTime(turn_ms=200, match_ms=0, left_ms=None)
TRIAL_PATIENCE = timedelta(seconds=5)
"""For a move of the trial game."""
OPENING_PATIENCE = timedelta(seconds=2)
"""For the stones of an opening; an engine that is silent is taken to know no openings."""
_USUAL_SIZES = (15, 20, 19)

logger = logging.getLogger("meijin.bots.engine")


class Probe:
    """The process that is asked, which is started anew when it must be."""

    def __init__(
        self, launch: Callable[[timedelta], EngineSession], session: EngineSession | None = None
    ) -> None:
        """Ask `session`, if there is one; `launch` starts another, with a pause after its moves."""
        self.pause = timedelta(0)
        self._launch = launch
        self._session = session

    @property
    def session(self) -> EngineSession:
        """The engine, started if it doesn't run."""
        if self._session is None:
            self._session = self._launch(self.pause)
        return self._session

    async def drop(self) -> None:
        """End the engine: nobody knows what it makes of the next command."""
        session, self._session = self._session, None
        if session is not None:
            await asyncio.to_thread(session.close, timedelta(0))

    async def ready(self, variant: Variant) -> EngineSession:
        """The engine with an empty board, started anew where it refuses one.

        Raises:
            EngineError: so it does when it was started anew.
        """
        if self._session is not None:
            try:
                await self._session.hold(self._session.protocol.set_up(variant))
            except EngineError as error:
                logger.debug("started anew: %s", error)
                await self.drop()
            else:
                return self._session
        session = self.session
        await session.hold(session.protocol.set_up(variant))
        return session

    async def take(self, variant: Variant) -> EngineSession:
        """The engine with an empty board, for a game; it is asked no more.

        Raises:
            EngineError: it can't set one up.
        """
        session = await self.ready(variant)
        self._session = None
        return session


async def find_about(probe: Probe) -> Mapping[str, str]:
    """What an engine tells of itself; nothing where it doesn't."""
    session = probe.session
    try:
        return await session.hold(session.protocol.about())
    except EngineError:
        await probe.drop()
        return {}


async def find_sizes(probe: Probe) -> tuple[int, int]:
    """The shortest and the longest side of the square boards that an engine sets up.

    Every size between them was set up: it is asked one by one, until it refuses.

    Raises:
        EngineStartError: it has none of the usual sizes.
    """
    sizes = _Sizes(probe)
    for usual in _USUAL_SIZES:
        if await sizes.has(usual):
            lowest = await sizes.last(usual, MIN_GOMOKU_SIDE, -1)
            return lowest, await sizes.last(usual, MAX_SIDE, 1)
    tried = ", ".join(str(size) for size in _USUAL_SIZES)
    raise EngineStartError(
        f"the engine sets up no board of {tried}: {sizes.refusal}; give --sizes if it has others"
    )


class _Sizes:
    """Asks for sizes, and goes on after a refusal with an engine that does."""

    def __init__(self, probe: Probe) -> None:
        self.refusal = ""
        self._probe = probe
        self._known: int | None = None
        self._deadline = time.monotonic() + PROBE_PATIENCE.total_seconds()

    async def has(self, size: int) -> bool:
        """Whether it sets up a board of `size`."""
        if await self._start(size):
            self._known = size
            return True
        if self._known is None or not await self._start(self._known):
            await self._probe.drop()
        return False

    async def last(self, first: int, limit: int, step: int) -> int:
        """The last size it has of those from `first` to `limit`."""
        size = first
        while size != limit and time.monotonic() < self._deadline and await self.has(size + step):
            size += step
        return size

    async def _start(self, size: int) -> bool:
        session = self._probe.session
        try:
            await session.hold(session.protocol.start(Variant(width=size, height=size)))
        except EngineError as error:
            self.refusal = str(error)
            return False
        return True


async def find_pause(probe: Probe, variant: Variant) -> timedelta:
    """How long an engine must be left alone after its move, by the first moves of a trial game.

    Most need no pause. `SETTLING` is for one that doesn't answer a move that comes at once, but
    does when it comes later, and for one that says more than its move.
    """
    for pause in (timedelta(0), SETTLING):
        probe.pause = pause
        try:
            before = probe.session.strays
            if await _answers_twice(probe.session, variant):
                await asyncio.sleep(SETTLING.total_seconds())
                probe.session.drop_strays()
                return pause if probe.session.strays == before else SETTLING
        except EngineError as error:
            logger.warning("in a trial game, %s", error)
            await probe.drop()
            break
        await probe.drop()
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
    cell = cell_of(point, variant)
    if cell == variant.cells:
        x, y = point
        raise EngineError(f"the engine plays {x},{y}, off the {variant.size} board")
    second = session.protocol.choose(Turn((cell, 0 if cell else 1), TRIAL_TIME))
    try:
        await session.hold(second, patience=TRIAL_PATIENCE)
    except EngineDiedError:
        raise
    except EngineError:
        return False
    return True


async def find_opening_rules(probe: Probe, variant: Variant) -> Sequence[OpeningRule]:
    """The opening rules whose first stones an engine places.

    One that doesn't place those of the first, which most know of all, is asked for no other.
    """
    found: list[OpeningRule] = []
    for rule in probe.session.protocol.opening_rules:
        if not await _places(probe, rule, variant):
            break
        found.append(rule)
    return found


async def _places(probe: Probe, rule: OpeningRule, variant: Variant) -> bool:
    try:
        session = await probe.ready(variant)
        dialogue = session.protocol.open(Turn((), time=None), rule)
        points = await session.hold(dialogue, patience=OPENING_PATIENCE)
    except EngineRefusedError as error:
        logger.debug("%s is not claimed: %s", rule.name, error)
        await asyncio.sleep(SETTLING.total_seconds())
        probe.session.process.stale_lines()  # it may refuse each line
        if isinstance(error, EngineSilentError):
            await probe.drop()
        return False
    except EngineError as error:
        logger.debug("%s is not claimed: %s", rule.name, error)
        await probe.drop()
        return False
    return is_legal(points, rule, variant)
