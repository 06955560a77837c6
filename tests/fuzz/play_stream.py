"""Random message sequences against the play stream's state machine, from a seed."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import grpc
import structlog
from tests.fuzz.mutation import mutated
from tests.fuzz.world import (
    HONEST,
    Context,
    Loop,
    ViolationError,
    World,
    deserialize,
    require,
    stand_ins,
)

from meijin.game import decode_moves
from meijin.testing.settings import settings_in
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import MAX_MESSAGE_BYTES

WORLD_SEQUENCES = 500
"""Sequences in one world, which is then left for a new one with a seed of its own."""

STREAMS = 6
"""Sequences that go on at the same time."""

MAX_TURNS = 3000
"""Of the event loop, until a stream must have ended."""

MAX_MESSAGES = 10
"""In one sequence."""

FLOODS = 0.001
"""The share of sequences of nothing but empty messages, until the server has had enough."""

NAMES = ("ada", "bob", "eva", "ivy", "max", "sam")
"""Of the bots that are fuzzed: names are free, and what one may do is bounded for each."""

DIGESTS = ("", "v2")
WORDS = ("", "x" * 600, "é\0\x1b[2J", "[/boom]", "\ud7ff\U0010ffff")
NUMBERS = (0, 1, 2, 3, 5, 224, 225, 2**16, 2**31, 2**32 - 1)
PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
DOCUMENTED = frozenset(
    re.findall(r"^\| `[A-Z_]+` \| `([A-Z_]+)` \|", PROTOCOL.read_text(), re.MULTILINE)
)
"""The reasons for which a stream may end."""


@dataclass
class Report:
    """What a run has seen."""

    sequences: int = 0
    messages: int = 0
    streams: Counter[str] = field(default_factory=Counter)
    """How streams ended: by the reason, `OK`, or `cut` by the peer."""
    games: Counter[str] = field(default_factory=Counter)
    """How games ended."""

    def add(self, other: Report) -> None:
        """Count another run in."""
        self.sequences += other.sequences
        self.messages += other.messages
        self.streams += other.streams
        self.games += other.games

    def __str__(self) -> str:
        def listed(counts: Counter[str]) -> str:
            return ", ".join(f"{name} {count:,}" for name, count in counts.most_common())

        return (
            f"{self.sequences:,} sequences, {self.messages:,} messages; "
            f"streams: {listed(self.streams)}; games: {listed(self.games)}"
        )


class Fuzzed(Context):
    """A peer that says what its seed says: what is right, wrong, old, huge, or no message at all."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, "ipv4:192.0.2.1:1")
        self.name = name
        self.sent = 0
        self._rng = world.rng
        self._is_flood = self._rng.random() < FLOODS
        self._left = 400 if self._is_flood else self._rng.randint(1, MAX_MESSAGES)
        self._old: list[bytes] = []
        self._hangs = self._rng.random() < 0.2

    @property
    def is_silent(self) -> bool:
        """Whether it says nothing any more, and doesn't end."""
        return self._hangs and self.sent >= self._left

    async def read(self) -> Any:
        """The next message, after what the others do meanwhile."""
        rng, world = self._rng, self.world
        await world.turns_of_loop(rng.choice((0, 0, 1, 3, 8)))
        if self.sent:
            self._disturb()
        if self.sent >= self._left:
            await world.turns_of_loop(6)  # for the last answers
            if self._hangs:
                await asyncio.get_running_loop().create_future()
            return grpc.aio.EOF
        self.sent += 1
        return deserialize(self._next()[:MAX_MESSAGE_BYTES])

    def _disturb(self) -> None:
        """What may happen between two messages."""
        rng, world = self._rng, self.world
        if rng.random() < 0.5:
            world.writer.commit()
        if rng.random() < 0.3:
            world.pair(self.name)
        if rng.random() < 0.1:
            seconds = rng.choice((0.01, 0.3, 2.0))
            world.advance(seconds, is_stall=rng.random() < 0.3)
        if rng.random() < 0.02:
            for session in world.parts.lobby.sessions:
                session.ping()

    def _next(self) -> bytes:
        rng = self._rng
        if self.sent == 1 and rng.random() < 0.95:
            data = self._hello().SerializeToString()
            return mutated(data, rng) if rng.random() < 0.05 else data
        if self._is_flood:
            return pb.PlayRequest(actions=pb.Actions()).SerializeToString()
        if self._old and rng.random() < 0.08:
            return rng.choice(self._old)
        kinds: Sequence[Callable[[], pb.PlayRequest]] = (
            *(self._answers,) * 40,
            *(self._pong,) * 8,
            *(self._actions,) * 12,
            self._goodbye,
            self._hello,
            pb.PlayRequest,
        )
        data = rng.choice(kinds)().SerializeToString()
        self._old.append(data)
        chance = rng.random()
        if chance < 0.03:
            return mutated(data, rng)
        return rng.randbytes(rng.randint(0, 40)) if chance < 0.033 else data

    def _hello(self) -> pb.PlayRequest:
        rng = self._rng
        hello = pb.Hello(protocol_version=1, bot_name=self.name)
        hello.engine.digest = rng.choice((*DIGESTS, DIGESTS[0]))
        if rng.random() < 0.3:
            sessions = [each.id for each in self.world.parts.lobby.sessions]
            hello.resume_session_id = rng.choice([*sessions, "0" * 16, "x" * 300])
        if rng.random() < 0.03:
            hello.bot_name = rng.choice(("", "a b", HONEST.upper(), *WORDS))
        if rng.random() < 0.03:
            hello.protocol_version = rng.choice(NUMBERS)
        if rng.random() < 0.05:
            hello.engine.version = rng.choice(WORDS)
            hello.engine.configuration.extend(rng.choices(WORDS, k=rng.randrange(80)))
        if rng.random() < 0.05:
            hello.capabilities.min_board_size = rng.choice(NUMBERS)
            hello.capabilities.max_games = rng.choice(NUMBERS)
        return pb.PlayRequest(hello=hello)

    def _answers(self) -> pb.PlayRequest:
        """Legal answers to turns that are pending, nearly always."""
        rng, actions = self._rng, pb.Actions()
        for turn in list(self.turns.values()):
            if rng.random() < 0.7:
                taken = set(decode_moves(turn.moves))
                free = [cell for cell in range(len(taken) + 2) if cell not in taken]
                play = actions.plays.add(game=turn.game, ply=turn.ply, cell=rng.choice(free))
                self._decorate(play)
                del self.turns[turn.game]
        return pb.PlayRequest(actions=actions)

    def _decorate(self, play: pb.Play) -> None:
        rng = self._rng
        if rng.random() < 0.1:
            play.analysis.score = rng.choice((0, -(2**31), 2**31 - 1))
            play.analysis.nodes = rng.choice((0, 2**64 - 1))
            play.analysis.pv = rng.randbytes(rng.choice((0, 1, 2, 9, 3000)))
        if rng.random() < 0.2:
            play.thinking_us = rng.choice((1, 10**6, 2**64 - 1))

    def _goodbye(self) -> pb.PlayRequest:
        return pb.PlayRequest(goodbye=pb.Goodbye())

    def _pong(self) -> pb.PlayRequest:
        sequence = self._rng.choice([*self.pings, *self.pings, *NUMBERS])
        return pb.PlayRequest(pong=pb.Pong(sequence=sequence))

    def _actions(self) -> pb.PlayRequest:
        """Anything in any game, of which there are others'."""
        rng, actions = self._rng, pb.Actions()
        numbers = [*self.games, *self.games, *NUMBERS, self.world.rng.randint(1, 2000)]
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 3, 9, 60, 120))):
            number, kind = rng.choice(numbers), rng.random()
            if kind < 0.85:
                ply, cell = rng.choice((0, 1, 2, 3, *NUMBERS)), rng.choice((3, 4, *NUMBERS))
                self._decorate(actions.plays.add(game=number, ply=ply, cell=cell))
            elif kind < 0.93:
                actions.resigns.add(game=number)
            elif kind < 0.95:
                actions.evaluations.add(evaluation=number, cell=rng.choice(NUMBERS))
            else:
                words, cause = rng.choice(WORDS), rng.randrange(4)
                actions.failures.add(game=number, message=words).cause = cause  # type: ignore[assignment]
        return pb.PlayRequest(actions=actions)


async def _together(world: World, count: int, report: Report) -> None:
    """So many streams side by side, from their first messages to their ends."""
    rng = world.rng
    streams = [Fuzzed(world, rng.choice(NAMES)) for _ in range(count)]
    tasks = [asyncio.create_task(world.serve(stream)) for stream in streams]
    for task, stream in zip(tasks, streams, strict=True):
        for _ in range(MAX_TURNS):
            if task.done() or stream.is_silent:
                break
            await world.turns_of_loop(3)
        else:
            raise ViolationError("a stream has no end")
        _take_end(task, report)
        report.messages += stream.sent
    await asyncio.gather(*tasks, return_exceptions=True)
    await world.turns_of_loop(3)
    if rng.random() < 0.5:
        await world.settle()
        world.advance(rng.choice((2, 11, 11, 35, 61)))
    await world.check()
    report.sequences += count


def _take_end(task: asyncio.Task[Any], report: Report) -> None:
    if not task.done():
        task.cancel()
        report.streams["cut"] += 1
        return
    error = task.result()
    reason = "OK" if error is None else error.reason
    require(reason in DOCUMENTED or error is None, f"a stream ended by {error!r}")
    report.streams[reason] += 1


def _token(rng: random.Random, size: int) -> str:
    """What `secrets.token_hex` gives, the same for the same seed."""
    return rng.randbytes(size).hex()


async def _play(seed: int, sequences: int, folder: Path, report: Report) -> None:
    """Play sequences in one world."""
    world = World(seed, settings_in(folder, max_streams=100_000))
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    with stand_ins(world):
        await world.start()
        idle = len(asyncio.all_tasks())
        try:
            while report.sequences < sequences:
                await _together(world, min(STREAMS, sequences - report.sequences), report)
                require(len(asyncio.all_tasks()) == idle, "a task is left over")
                require(not failures, f"{failures}")
        finally:
            await world.stop()
    report.games.update(ending.value for ending in world.books.endings.elements())


def play_world(seed: int, sequences: int = WORLD_SEQUENCES) -> Report:
    """Play sequences in the world of a seed.

    Raises:
        ViolationError: something happened that may never happen.
    """
    report = Report()
    before = structlog.get_config()
    quiet = structlog.make_filtering_bound_logger(logging.CRITICAL)
    structlog.configure(wrapper_class=quiet, cache_logger_on_first_use=False)
    token = partial(_token, random.Random(seed))
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            patch("secrets.token_hex", token),
            asyncio.Runner(loop_factory=Loop) as runner,
        ):
            runner.run(_play(seed, sequences, Path(folder), report))
    except Exception as error:
        raise ViolationError(
            f"seed {seed}, after {report.sequences} sequences: {error!r}"
        ) from error
    finally:
        structlog.configure(**before)
    return report


def play_worlds(first: int, sequences: int, *, processes: int | None = None) -> Report:
    """Play so many sequences in the worlds of a seed and of those after it, on every core."""
    worlds = range(first, first + -(-sequences // WORLD_SEQUENCES))
    total = Report()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        try:
            for report in pool.map(play_world, worlds):
                total.add(report)
        finally:
            pool.shutdown(cancel_futures=True)
    return total
