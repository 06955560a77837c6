"""A hostile bot: what it says is right, wrong, old, huge, or no message at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutation import mutated
from tests.simulation.bot import MS, SimulatedBot, Temper
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Stream
from tests.simulation.oracle.books import FOREVER_NS

from meijin.game import decode_moves
from meijin.server.api.calls.interceptor import _tolerant
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from tests.simulation.world import World

HOSTILE = 3
"""This many are in a hostile world."""

MOST = 10
"""Messages on one stream, unless it is flooded."""

FLOODS = 0.005
"""The share of streams of nothing but empty messages, until the server has had enough."""

WORDS = ("", "x" * 600, "é\0\x1b[2J", "[/boom]", "\ud7ff\U0010ffff")
NUMBERS = (0, 1, 2, 3, 5, 24, 25, 2**16, 2**31, 2**32 - 1)
PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
DOCUMENTED = {
    "OK",
    "cut",
    *re.findall(r"^\| `[A-Z_]+` \| `([A-Z_]+)` \|", PROTOCOL.read_text(), re.MULTILINE),
} - {"INTERNAL"}
"""How a stream may end, but for a defect."""

deserialize: Callable[[bytes], Any] = _tolerant(pb.PlayRequest.FromString, MAX_MESSAGE_BYTES)


class HostileBot(SimulatedBot):
    """Opens one stream after another, and says on each what chance says."""

    is_hostile = True

    def __init__(self, place: int, loop: SimulatedLoop, rng: Random, world: World) -> None:
        super().__init__(f"eve{place}", loop, rng, world, Temper(think_ms=10, max_games=8))
        self._streams: list[Stream] = []
        self._is_flood = False
        self._old: list[bytes] = []
        self._numbers: list[int] = []
        """Games that it was told of."""
        self._turns: dict[int, pb.TurnRequested] = {}
        """Those that it has not answered."""
        self._pings: list[int] = []

    def _connect(self) -> None:
        self.peer = f"ipv4:192.0.2.{self._rng.randrange(256)}:1"
        super()._connect()

    def _greet(self, stream: Stream) -> None:
        self._streams = [each for each in self._streams if not each.is_over_for_client]
        self._streams.append(stream)
        for told in (self._old, self._numbers, self._turns, self._pings):
            told.clear()
        self._is_flood = self._rng.random() < FLOODS
        self._say(stream, self._first(), 400 if self._is_flood else self._rng.randint(1, MOST))

    def _say(self, stream: Stream, data: bytes, left: int) -> None:
        """Say something, and the next thing after a while; then end, or come again beside it."""
        stream.send(deserialize(data[:MAX_MESSAGE_BYTES]))
        if left > 1:
            self._after(self._rng.choice((0, 1, 1, 5, 30)) * MS, self._say_more, stream, left - 1)
            return
        if self._rng.random() < 0.6:
            stream.half_close()
        else:
            self.stream = None
        self._after(self._rng.choice((1, 10, 300)) * MS, self._connect)

    def _say_more(self, stream: Stream, left: int) -> None:
        if stream is self.stream and not stream.is_over_for_client and not self.is_retired:
            self._say(stream, self._next(), left)

    def hang_up(self) -> None:
        for stream in self._streams:
            if not stream.is_over_for_client:
                stream.half_close()

    def receive(self, stream: Stream, message: pb.PlayResponse) -> None:
        for turn in message.events.turns:
            self._world.turn_read(stream, turn.game, turn.ply, FOREVER_NS)
        if stream is not self.stream:
            return
        if message.HasField("ping"):
            self._pings.append(message.ping.sequence)
        for ended in message.events.ended:
            self._turns.pop(ended.game, None)
        self._numbers += [started.game for started in message.events.started]
        self._turns |= {turn.game: turn for turn in message.events.turns}

    # -- what it says -------------------------------------------------------------------

    def _first(self) -> bytes:
        if self._rng.random() < 0.05:
            return self._next()
        data = self._odd_hello().SerializeToString()
        if self._rng.random() >= 0.05:
            return data
        odd = mutated(data, self._rng)
        said = deserialize(odd)
        is_other_version = isinstance(said, pb.PlayRequest) and said.hello.engine.digest
        return data if is_other_version else odd  # its games would wait for the first one

    def _next(self) -> bytes:
        rng = self._rng
        if self._is_flood:
            return pb.PlayRequest(actions=pb.Actions()).SerializeToString()
        if self._old and rng.random() < 0.08:
            return rng.choice(self._old)
        kinds: Sequence[Callable[[], pb.PlayRequest]] = (
            *(self._answers,) * 40,
            *(self._pong,) * 8,
            *(self._actions,) * 12,
            lambda: pb.PlayRequest(goodbye=pb.Goodbye()),
            self._odd_hello,
            pb.PlayRequest,
        )
        data = rng.choice(kinds)().SerializeToString()
        self._old.append(data)
        chance = rng.random()
        if chance < 0.03:
            return mutated(data, rng)
        return rng.randbytes(rng.randint(0, 40)) if chance < 0.033 else data

    def _odd_hello(self) -> pb.PlayRequest:
        rng, hello = self._rng, self._hello()
        if rng.random() < 0.3:
            hello.resume_session_id = rng.choice([self._resume, "0" * 16, "x" * 300])
        if rng.random() < 0.03:
            hello.bot_name = rng.choice(("a b", *WORDS))
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
        rng, actions = self._rng, pb.Actions()
        for turn in list(self._turns.values()):
            if rng.random() < 0.7:
                taken = set(decode_moves(turn.moves))
                free = [cell for cell in range(len(taken) + 2) if cell not in taken]
                play = actions.plays.add(game=turn.game, ply=turn.ply, cell=rng.choice(free))
                self._decorate(play)
                del self._turns[turn.game]
        return pb.PlayRequest(actions=actions)

    def _decorate(self, play: pb.Play) -> None:
        rng = self._rng
        if rng.random() < 0.1:
            play.analysis.score = rng.choice((0, -(2**31), 2**31 - 1))
            play.analysis.nodes = rng.choice((0, 2**64 - 1))
            play.analysis.pv = rng.randbytes(rng.choice((0, 1, 2, 9, 3000)))
        if rng.random() < 0.2:
            play.thinking_us = rng.choice((1, 10**6, 2**64 - 1))

    def _pong(self) -> pb.PlayRequest:
        sequence = self._rng.choice([*self._pings, *self._pings, *NUMBERS])
        return pb.PlayRequest(pong=pb.Pong(sequence=sequence))

    def _actions(self) -> pb.PlayRequest:
        rng, actions = self._rng, pb.Actions()
        numbers = [*self._numbers, *self._numbers, *NUMBERS, rng.randint(1, 2000)]
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
