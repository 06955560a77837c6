"""The wrapped bot: an existing engine as a bot of the SDK."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from meijin.bots.bridge.command import display_name
from meijin.bots.bridge.dialogue import EngineProtocol, NewGame, Turn
from meijin.bots.bridge.errors import EngineError, EngineStartError
from meijin.bots.bridge.gtp import GtpProtocol
from meijin.bots.bridge.limits import NO_LIMITS, Limits
from meijin.bots.bridge.messages import read_analysis
from meijin.bots.bridge.pool import EnginePool
from meijin.bots.bridge.probe import PROTOCOLS, find_pause, find_sizes, identify
from meijin.bots.bridge.process import EngineProcess
from meijin.bots.bridge.session import BACKSTOP, EngineSession
from meijin.bots.bridge.times import MARGIN, Overrun, engine_time
from meijin.bots.sdk.answer import Answer, Choice, Resignation, Unchecked
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot
from meijin.bots.sdk.position import Position
from meijin.game import FREESTYLE, Board, Outcome, Rule, Variant
from meijin.wire import Capabilities

MAX_ABOUT = 40
"""Characters of a version that the contract has room for."""

logger = logging.getLogger("meijin.bots.engine")


@dataclass(frozen=True, slots=True)
class WrapSettings:
    """How an engine is run; what is left out is found by asking it."""

    command: Sequence[str]
    """The program and its arguments."""
    protocol: str | None = None
    """One of `PROTOCOLS`."""
    rules: Sequence[Rule] = (FREESTYLE,)
    sizes: tuple[int, int] | None = None
    """The shortest and the longest side of a board."""
    games: int = 1
    """Games at once, each with a process of its own."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The engine's own."""
    margin: timedelta = MARGIN
    """Kept back of the time that it is told of."""
    pause: timedelta | None = None
    """Between the engine's answer and the next command."""
    limits: Limits = NO_LIMITS


@dataclass(slots=True)
class _Thought:
    """The answer to one turn, thought about or known."""

    moves: tuple[int, ...]
    task: asyncio.Task[Answer]


class WrappedBot(Bot):
    """Plays by an engine that speaks the Gomocup protocol, Yixin's extension of it, or GTP.

    It lives on one event loop. A stream that is lost and comes back finds the engine thinking on.
    """

    name = "engine"

    def __init__(self, settings: WrapSettings) -> None:
        self.name = display_name(settings.command)
        self.version = "1"
        self.capabilities = _capabilities(settings, settings.sizes or (15, 15))
        self._settings = settings
        self._pause = settings.pause or timedelta(0)
        self._protocol: type[EngineProtocol] | None = None
        self._pool = EnginePool(
            self._launch_seat, settings.games, is_reused=settings.limits.cpu is None
        )
        self._games: dict[str, asyncio.Task[EngineSession]] = {}
        self._thoughts: dict[str, _Thought] = {}
        self._overrun = Overrun()

    @property
    def configuration(self) -> Mapping[str, str]:
        """The engine's arguments and its options."""
        arguments = {"arguments": " ".join(self._settings.command[1:])}
        named = {key: value for key, value in arguments.items() if value}
        return named | dict(self._settings.options)

    @property
    def digest(self) -> str:
        """Tells versions apart: over the files that the command names, and the configuration."""
        sha = hashlib.sha256()
        for word in self._settings.command:
            path = Path(word)
            sha.update(path.read_bytes() if path.is_file() else word.encode())
            sha.update(b"\0")
        for option in sorted(self.configuration.items()):
            sha.update("\0".join(option).encode())
        return sha.hexdigest()[:DIGEST_LENGTH]

    def prepare(self) -> None:
        """Find out what the engine can do, and start as many as there are games at once.

        Raises:
            EngineStartError: it doesn't start, or speaks no protocol that is known.
        """
        try:
            asyncio.run(self._prepare())
        except EngineError as error:
            raise EngineStartError(str(error)) from error

    async def choose(self, position: Position) -> Answer:
        """Have the game's engine choose; the same turn asked again is the same thought."""
        moves = tuple(position.board.moves)
        thought = self._thoughts.get(position.game_id)
        if thought is None or thought.moves != moves:
            if self._drop_thought(position.game_id):
                self._games.pop(position.game_id, None)  # its engine thinks about another turn
            task = asyncio.create_task(self._think(position, moves))
            task.add_done_callback(_retrieve)
            thought = self._thoughts[position.game_id] = _Thought(moves, task)
        return await asyncio.shield(thought.task)

    def game_started(self, position: Position) -> None:
        """Have an engine begin the game before the first turn."""
        self._seat(position)

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:  # noqa: ARG002 - a hook
        """Let the game's engine play others, or end it where it is thinking still."""
        is_thinking = self._drop_thought(game_id)
        seat = self._games.pop(game_id, None)
        if seat is None:
            return
        if not seat.done():
            seat.cancel()
        elif is_thinking:
            return  # whoever is cancelled gives the engine back
        elif not seat.cancelled() and seat.exception() is None:
            self._pool.release(seat.result())

    def close(self) -> None:
        """End all engines."""
        self._pool.close()

    async def _prepare(self) -> None:
        settings = self._settings
        about = await self._identify()
        sizes = settings.sizes or await find_sizes(self._launch)
        self.capabilities = _capabilities(settings, sizes)
        variant = _usual_variant(sizes)
        if settings.pause is None:
            self._pause = await find_pause(self._launch_paused, variant)
        await self._pool.fill(variant)
        self.version = "".join(filter(str.isprintable, about.get("version", "")))[:MAX_ABOUT] or "1"
        self._log_findings()

    def _log_findings(self) -> None:
        assert self._protocol is not None
        can = self.capabilities
        pause = self._pause // timedelta(milliseconds=1)
        logger.info(
            "%s %s speaks %s, boards %d to %d%s",
            self.name,
            self.version,
            self._protocol.name,
            can.min_size,
            can.max_size,
            f", left alone for {pause} ms after its moves" if pause else "",
        )

    async def _identify(self) -> Mapping[str, str]:
        """Learn the protocol, and what the engine tells of itself."""
        known = self._settings.protocol
        if known is None:
            process = EngineProcess(self._settings.command, self._settings.limits)
            try:
                identity = await identify(process)
            finally:
                await asyncio.to_thread(process.close)
            self._protocol = PROTOCOLS[identity.protocol]
            if identity.protocol != GtpProtocol.name:
                return identity.about
        else:
            self._protocol = PROTOCOLS[known]
        return await self._ask_about()

    async def _ask_about(self) -> Mapping[str, str]:
        session = self._launch()
        try:
            return await session.hold(session.protocol.about())
        except EngineError:
            return {}
        finally:
            await asyncio.to_thread(session.close, timedelta(0))

    def _launch(self, pause: timedelta | None = None, core: int | None = None) -> EngineSession:
        settings = self._settings
        assert self._protocol is not None
        return EngineSession(
            EngineProcess(settings.command, settings.limits, core=core),
            self._protocol(settings.options),
            pause=self._pause if pause is None else pause,
            is_suspended=settings.limits.is_suspended,
        )

    def _launch_paused(self, pause: timedelta) -> EngineSession:
        return self._launch(pause)

    def _launch_seat(self, seat: int) -> EngineSession:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
        return self._launch(core=cores[seat % len(cores)])

    def _time(self, position: Position) -> NewGame:
        time_told = engine_time(position, self._settings.margin, self._overrun.time)
        return NewGame(position.variant, time_told, self._settings.limits.memory or 0)

    def _seat(self, position: Position) -> asyncio.Task[EngineSession]:
        """The engine of a game, which begins it if none has."""
        seat = self._games.get(position.game_id)
        if seat is None:
            seat = asyncio.create_task(self._pool.acquire(self._time(position)))
            seat.add_done_callback(_retrieve)
            self._games[position.game_id] = seat
        return seat

    async def _think(self, position: Position, moves: tuple[int, ...]) -> Answer:
        seat = self._seat(position)
        game = self._time(position)
        patience = timedelta(milliseconds=position.move_ms) + BACKSTOP
        session: EngineSession | None = None
        try:
            session = await asyncio.shield(seat)
            started = time.monotonic()
            turn = Turn(moves, game.time)
            found = await session.hold(session.protocol.choose(turn), patience=patience)
        except BaseException as error:
            if self._games.get(position.game_id) is seat:
                del self._games[position.game_id]
            self._give_back(seat, session, error)
            raise
        self._overrun.add(
            timedelta(milliseconds=game.time.turn_ms),
            timedelta(seconds=time.monotonic() - started),
        )
        if isinstance(found, Resignation):
            return found
        return _answer(found, session.messages, Board.from_moves(moves, game.variant))

    def _give_back(
        self,
        seat: asyncio.Task[EngineSession],
        session: EngineSession | None,
        error: BaseException,
    ) -> None:
        """Give an engine back whose turn has failed, or is over before it has answered."""
        if session is not None and isinstance(error, asyncio.CancelledError):
            self._pool.interrupt(session)
        elif session is not None:
            self._pool.discard(session)
        elif seat.done() and not seat.cancelled() and seat.exception() is None:
            self._pool.release(seat.result())  # it began the game when nobody waited any more

    def _drop_thought(self, game_id: str) -> bool:
        """Forget the last turn; true if the engine was thinking about it still."""
        thought = self._thoughts.pop(game_id, None)
        if thought is None or thought.task.done():
            return False
        thought.task.cancel()
        return True


def _answer(point: tuple[int, int], messages: Sequence[str], board: Board) -> Answer:
    """The move to `point` with what the engine said of it; if it is illegal, for all to see."""
    x, y = point
    variant = board.variant
    if not (0 <= x < variant.width and 0 <= y < variant.height):
        logger.error("the engine plays %d,%d, off the %s board", x, y, variant.size)
        return Unchecked(variant.cells)
    cell = y * variant.width + x
    if not board.is_legal(cell):
        logger.error("the engine plays %d,%d, which is illegal", x, y)
        return Unchecked(cell)
    return Choice(cell, read_analysis(messages, variant, cell)) if messages else cell


def _capabilities(settings: WrapSettings, sizes: tuple[int, int]) -> Capabilities:
    return Capabilities(
        rules=tuple(settings.rules),
        min_size=sizes[0],
        max_size=sizes[1],
        max_games=settings.games,
    )


def _usual_variant(sizes: tuple[int, int]) -> Variant:
    """The board that most games have, or the nearest one."""
    side = max(sizes[0], min(15, sizes[1]))
    return Variant(width=side, height=side)


def _retrieve(task: asyncio.Task[object]) -> None:
    """Have no complaint logged about an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
