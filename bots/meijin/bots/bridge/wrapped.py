"""The wrapped bot: an existing engine as a bot of the SDK."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar, cast

from meijin.bots.bridge.answers import move_answer, placement, side_and_move
from meijin.bots.bridge.dialogue import (
    Dialogue,
    EngineDiedError,
    EngineError,
    EngineProtocol,
    EngineStartError,
    EngineTime,
    Point,
)
from meijin.bots.bridge.pool import EnginePool
from meijin.bots.bridge.probe import Probe, Starter
from meijin.bots.bridge.session import BACKSTOP, EngineSession
from meijin.bots.bridge.settings import (
    WrapSettings,
    display_name,
    engine_time,
    program_files,
    threads_of,
    unnamed_files,
    worst_overrun,
)
from meijin.bots.sdk.answer import Answer, Resignation
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot, options_given
from meijin.bots.sdk.errors import SupplierError
from meijin.bots.sdk.position import Position
from meijin.game import (
    FREE,
    Board,
    Color,
    OpeningRule,
    Outcome,
    Placement,
    Rule,
    Variant,
)
from meijin.wire.capabilities import Capabilities

_FILES_SHOWN = 3
MAX_ABOUT = 40
"""Characters of a version that the contract has room for."""

DIALOGUE_LINES = 10
"""The last of the dialogue that are logged when a turn has failed."""

_Result = TypeVar("_Result")
_Found: TypeAlias = Resignation | tuple[Point, Sequence[str]]
"""A move, and what the engine said of it."""

logger = logging.getLogger("meijin.bots.engine")


class _Thought(NamedTuple):
    """What an engine was asked last in a game, thought about or known."""

    moves: tuple[int, ...]
    is_opening: bool
    """Stones or a side were asked for, as an opening rule has it, in place of a move."""
    task: asyncio.Task[object]


@dataclass(slots=True)
class _Game:
    """A game and the engine that plays it."""

    seat: asyncio.Task[EngineSession] | None = None
    """Gets the engine ready, or has."""
    thought: _Thought | None = None
    plan: tuple[tuple[int, ...], Point] | None = None
    """A move that the engine has made with its choice of a side, and the moves before it."""

    def drop_thought(self) -> bool:
        """Forget the last question; true if the engine was thinking about it still."""
        thought, self.thought = self.thought, None
        if thought is None or thought.task.done():
            return False
        thought.task.cancel()
        return True


class WrappedBot(Bot):
    """Plays by an engine that speaks the Gomocup protocol, Yixin's extension of it, or GTP.

    It lives on one event loop. A stream that is lost and comes back finds the engine thinking on.
    """

    name = "engine"

    def __init__(self, settings: WrapSettings) -> None:
        self.name = display_name(settings.command)
        self.version = "1"
        self.search_threads = threads_of(settings.options)
        self.memory_bytes = settings.limits.memory
        self.capabilities = _capabilities(
            settings, settings.sizes or (15, 15), settings.opening_rules or ()
        )
        self._settings = settings
        self.starter = Starter(settings)
        """Starts its processes, with what is known of it."""
        self._pool = EnginePool(self.starter, settings.games, is_reused=settings.limits.cpu is None)
        self._games: defaultdict[str, _Game] = defaultdict(_Game)
        self._overrun = timedelta(0)
        self._is_closed = False

    @property
    def configuration(self) -> Mapping[str, str]:
        memory = self._settings.limits.memory
        given = {
            "arguments": " ".join(self._settings.command[1:]) or None,
            "memory": None if memory is None else f"{memory} bytes",
        }
        return {**options_given(**given), **self._settings.options}

    @property
    def digest(self) -> str:
        sha = hashlib.sha256()
        for path in program_files(self._settings):
            sha.update(path.read_bytes() + b"\0")
        for word in self._settings.command[1:]:
            sha.update(b"" if Path(word).is_file() else word.encode() + b"\0")
        for option in sorted(self.configuration.items()):
            sha.update("\0".join(option).encode())
        return sha.hexdigest()[:DIGEST_LENGTH]

    def prepare(self) -> None:
        """Find out what the engine can do, and start as many as there are games at once.

        Raises:
            EngineStartError: it doesn't start, or speaks no protocol that is known.
        """
        first, variant = self.examine()
        if first is not None:
            self._pool.add(first)
        try:
            asyncio.run(self._pool.fill(variant))
        except EngineError as error:
            raise EngineStartError(str(error)) from error
        if self._is_closed:
            self._pool.close()

    def examine(self) -> tuple[EngineSession | None, Variant]:
        """Find out what the engine can do: a process of it with an empty board, and which board.

        There is none where each game has a process of its own.

        Raises:
            EngineStartError: it doesn't start, or speaks no protocol that is known.
        """
        try:
            found = self._examine()
        except EngineError as error:
            raise EngineStartError(str(error)) from error
        self._log_findings()
        if beside := unnamed_files(self._settings):
            names = ", ".join(beside[:_FILES_SHOWN]) + (", ..." if beside[_FILES_SHOWN:] else "")
            logger.warning(
                "beside it, and no part of its version: %s; name those that it plays by, with --with"
                " or with=",
                names,
            )
        return found

    async def choose(self, position: Position) -> Answer:
        """Have the game's engine choose; the same turn asked again is the same thought."""
        plan = self._games[position.game_id].plan
        if plan is not None and plan[0] == tuple(position.board.moves):
            return move_answer(plan[1], (), position.board)
        found = cast("_Found", await self._think(position, is_opening=False))
        if isinstance(found, Resignation):
            return found
        return move_answer(*found, position.board, self.starter.messages)

    async def place_opening(self, position: Position, stones: int) -> Placement:  # noqa: ARG002 - the opening rule says it
        return cast("Placement", await self._think(position, is_opening=True))

    async def choose_side(self, position: Position, stones: int) -> Color | Placement:  # noqa: ARG002 - see above
        return cast("Color | Placement", await self._think(position, is_opening=True))

    def game_started(self, position: Position) -> None:
        self._seat(position)

    async def game_ended(self, game_id: str, outcome: Outcome | None) -> None:  # noqa: ARG002 - a hook
        """Let the game's engine play others, or end it where it is thinking still.

        It returns when an engine is ready for another game.
        """
        game = self._games.pop(game_id, _Game())
        thought, seat = game.thought, game.seat
        is_thinking = game.drop_thought()
        if seat is not None and not seat.done():
            seat.cancel()
            await asyncio.wait((seat,))
        elif thought is not None and is_thinking:
            await asyncio.wait((thought.task,))  # whoever is cancelled gives the engine back
        elif seat is not None and (session := _ready(seat)) is not None:
            self._pool.release(session)
        await self._pool.ready()

    def close(self) -> None:
        """End all engines, also those that it is getting ready."""
        self._is_closed = True
        self._pool.close()

    def _examine(self) -> tuple[EngineSession | None, Variant]:
        settings = self._settings
        first, session, about = None, None, None
        if self.starter.protocol is None:
            session, about = self.starter.identify()
        probe = Probe(self.starter, session)
        try:
            if about is None:
                about = probe.find_about()
            self.starter.recognize(about.get("name", ""), display_name(settings.command))
            probe.session.pause = self.starter.pause
            sizes, variant = self._find_board(probe)
            if not self._is_pause_known:
                self.starter.pause = probe.find_pause(variant)
            if settings.opening_rules is None:
                opening_rules = probe.find_opening_rules(variant, self._wanted_openings(probe))
            else:
                opening_rules = _known(settings.opening_rules, probe.session.protocol)
            if settings.limits.cpu is None:
                first = probe.take(variant)
                first.pause = self.starter.pause
        finally:
            probe.drop()
        self.version = _version(about)
        self.capabilities = _capabilities(settings, sizes, opening_rules)
        return first, variant

    def _find_board(self, probe: Probe) -> tuple[tuple[int, int], Variant]:
        """The shortest and the longest side that it plays, and what it is tried on."""
        settings = self._settings
        if (variant := settings.variant) is not None:
            probe.check_board(variant)
            low, high = sorted((variant.width, variant.height))
            return (low, high), variant
        sizes = settings.sizes or probe.find_sizes()
        return sizes, _usual_variant(sizes, settings.rules[0])

    def _wanted_openings(self, probe: Probe) -> Sequence[OpeningRule]:
        known, variant = probe.session.protocol.opening_rules, self._settings.variant
        return known if variant is None else [r for r in known if r == variant.opening_rule]

    @property
    def _is_pause_known(self) -> bool:
        known = self.starter.known
        return self._settings.pause is not None or (known is not None and known.pause is not None)

    def _log_findings(self) -> None:
        assert self.starter.protocol is not None
        can = self.capabilities
        pause = self.starter.pause // timedelta(milliseconds=1)
        logger.info(
            "%s %s: %sspeaks %s, boards %s, openings %s%s",
            self.name,
            self.version,
            "" if self.starter.known is None else "known, ",
            self.starter.protocol.name,
            can.min_size if can.min_size == can.max_size else f"{can.min_size} to {can.max_size}",
            " ".join(rule.name for rule in can.opening_rules),
            f", waiting {pause} ms after its moves" if pause else "",
        )

    def _time(self, position: Position) -> EngineTime:
        return engine_time(position, self._settings.margin, self._overrun)

    def _seat(self, position: Position) -> asyncio.Task[EngineSession]:
        """The engine of a game, which begins it if none has."""
        game = self._games[position.game_id]
        if game.seat is None:
            new_game = self.starter.new_game(position.variant, self._time(position))
            game.seat = asyncio.create_task(self._pool.acquire(new_game))
            game.seat.add_done_callback(retrieve)
        return game.seat

    async def _think(self, position: Position, *, is_opening: bool) -> object:
        """The answer to a question of a game; asked again, it is the same thought."""
        game, moves = self._games[position.game_id], tuple(position.board.moves)
        thought = game.thought
        if thought is None or (thought.moves, thought.is_opening) != (moves, is_opening):
            if game.drop_thought():
                game.seat = None  # its engine thinks about another turn
            think = self._open if is_opening else self._move
            task: asyncio.Task[object] = asyncio.create_task(think(position, moves))
            task.add_done_callback(retrieve)
            thought = game.thought = _Thought(moves, is_opening, task)
        return await asyncio.shield(thought.task)

    async def _move(self, position: Position, moves: tuple[int, ...]) -> _Found:
        found, messages = await self._ask(
            position, lambda protocol, time: protocol.choose(moves, time)
        )
        return found if isinstance(found, Resignation) else (found, messages)

    async def _open(self, position: Position, moves: tuple[int, ...]) -> Color | Placement:
        """Have the engine do what the opening asks for, and remember the move that it adds."""
        rule, variant = position.variant.opening_rule, position.variant
        points, _ = await self._ask(
            position, lambda protocol, time: protocol.open(moves, time, rule)
        )
        if moves:
            chosen = side_and_move(points, Board.from_moves(moves, variant))
            if chosen is not None:
                side, point = chosen
                if point is not None:
                    self._games[position.game_id].plan = moves, point
                return side
        return placement(points, variant)

    async def _ask(
        self,
        position: Position,
        dialogue: Callable[[EngineProtocol, EngineTime], Dialogue[_Result]],
    ) -> tuple[_Result, Sequence[str]]:
        """Hold a dialogue with the game's engine on its clock; also return what it said beside."""
        game, seat = self._games[position.game_id], self._seat(position)
        time_told = self._time(position)
        patience = timedelta(milliseconds=position.move_ms) + BACKSTOP
        session: EngineSession | None = None
        try:
            session = await asyncio.shield(seat)
            started = time.monotonic()
            steps = dialogue(session.protocol, time_told)
            found = await self._pool.hold(session, steps, patience)
        except BaseException as error:
            if game.seat is seat:
                game.seat = None
            self._give_back(seat, session, error)
            _log_end(error, session)
            if self._is_suppliers(session, error):
                raise SupplierError(str(error)) from error
            raise
        told = timedelta(milliseconds=time_told.turn_ms)
        taken = timedelta(seconds=time.monotonic() - started)
        self._overrun = worst_overrun(self._overrun, told, taken)
        return found, tuple(session.messages)

    def _is_suppliers(self, session: EngineSession | None, error: BaseException) -> bool:
        """Whether an engine that failed has said so of its supplier, at this turn."""
        mark = self._settings.supplier.casefold()
        said = [str(error), *(session.messages if session is not None else ())]
        return (
            bool(mark)
            and isinstance(error, EngineError)
            and any(mark in line.casefold() for line in said)
        )

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
        elif (ready := _ready(seat)) is not None:
            self._pool.release(ready)  # it began the game when nobody waited any more


def _log_end(error: BaseException, session: EngineSession | None) -> None:
    """Show the author what was said last, where a turn has failed or was over first."""
    if isinstance(error, EngineDiedError) and len(error.errors) > 1:
        logger.error("the end of its standard error:\n%s", "\n".join(error.errors))
    elif session is not None:
        said = "\n".join(list(session.transcript)[-DIALOGUE_LINES:])
        logger.warning("the end of its dialogue:\n%s", said)


def _ready(seat: asyncio.Task[EngineSession]) -> EngineSession | None:
    """The engine that has begun its game, if one has."""
    is_ready = seat.done() and not seat.cancelled() and seat.exception() is None
    return seat.result() if is_ready else None


def _capabilities(
    settings: WrapSettings, sizes: tuple[int, int], opening_rules: Sequence[OpeningRule]
) -> Capabilities:
    return Capabilities(
        rules=tuple(settings.rules),
        min_size=sizes[0],
        max_size=sizes[1],
        max_games=settings.games,
        opening_rules=(FREE, *opening_rules),
    )


def _usual_variant(sizes: tuple[int, int], rule: Rule) -> Variant:
    """The board that most games have, or the nearest one."""
    side = max(sizes[0], min(15, sizes[1]))
    return Variant(rule, width=side, height=side)


def _known(rules: Sequence[OpeningRule], protocol: EngineProtocol) -> Sequence[OpeningRule]:
    for rule in rules:
        if rule not in protocol.opening_rules:
            raise EngineStartError(f"{protocol.name} has no command for {rule.name} openings")
    return rules


def _version(about: Mapping[str, str]) -> str:
    """The version that an engine tells, as far as the contract has room for it."""
    text = "".join(filter(str.isprintable, about.get("version", ""))).strip()
    if len(text) > MAX_ABOUT:
        text = text.partition("(")[0].strip() or text
    return text[:MAX_ABOUT] or "1"


def retrieve(task: asyncio.Task[object]) -> None:
    """Have no complaint logged about an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
