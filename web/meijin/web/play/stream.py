"""A person's stream to the arena, kept open while a browser is there."""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import grpc
from grpc.aio import AioRpcError

from meijin.game import FREE, RULES, SWAP, SWAP1, SWAP2, Color, decode_moves
from meijin.v1 import challenge_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.web.gateway import Services
from meijin.web.play.person_game import PersonGame
from meijin.web.refusals import Refusal, not_found, refusal_of
from meijin.web.wording import text
from meijin.wire.capabilities import Capabilities, capabilities_to_proto
from meijin.wire.contract import PROTOCOL_VERSION
from meijin.wire.values import (
    color_from_proto,
    color_to_proto,
    outcome_from_proto,
    variant_from_proto,
)

log = logging.getLogger(__name__)

CAPABILITIES = Capabilities(
    rules=tuple(RULES.values()),
    min_size=3,
    max_size=22,
    max_games=4,
    any_line=True,
    opening_rules=(FREE, SWAP1, SWAP, SWAP2),
)
"""What a page can show and take: no offers, nor stones in squares."""

READY_TIMEOUT = timedelta(seconds=10)
"""How long a person waits for the arena."""

SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=0.5), timedelta(seconds=5)
"""Before a stream that has ended is opened again."""

ENDED_KEPT = 8
"""Games that have ended and are still shown."""

GONE_TIME = timedelta(seconds=90)
"""A stream is given up that no browser has asked for so long: the clocks then decide."""

FOR_GOOD = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
    }
)
"""Ends of a stream after which another one would end in the same way."""


PLACE_HELD = timedelta(seconds=30)
"""A place in a queue is given up that no browser has looked at for so long."""


class PersonStream:
    """A person in the arena."""

    def __init__(self, services: Services, host: str) -> None:
        self._services = services
        self.host = host
        """The address of who opened it."""
        self._numbers: dict[int, PersonGame] = {}
        self.games: OrderedDict[str, PersonGame] = OrderedDict()
        """By their ids, those that run and the last that have ended."""
        self.name = ""
        """As the server knows the person; empty until it has let it in."""
        self.watchers = 0
        """Browsers that follow a game."""
        self.last_seen = time.monotonic()
        """When a browser asked last, by a monotonic clock; seconds."""
        self._places: dict[str, float] = {}
        """Challenges that wait, and when a browser looked at each last, as `last_seen` is."""
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()
        self._refusal: Refusal | None = None
        self._session_id = ""
        self._awaited = 0
        """Games of earlier streams that the server is still to tell of."""
        self._call: Any = None
        self._running = asyncio.create_task(self._run())

    async def ready(self) -> None:
        """Wait until the person is in the arena.

        Raises:
            Refusal: the server does not let it in, or not in time.
        """
        self.last_seen = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_TIMEOUT.total_seconds()):
                await self._ready.wait()
        if self._refusal is not None:
            raise self._refusal
        if not self._ready.is_set():
            message = text("play.no_server")
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry_after=LONGEST_WAIT)

    @property
    def is_over(self) -> bool:
        """Whether it has left the arena, or another stream of the person has taken its place."""
        return self._running.done()

    @property
    def is_deserted(self) -> bool:
        """Whether no browser is there any more."""
        gone = time.monotonic() - self.last_seen
        return not self.watchers and gone > GONE_TIME.total_seconds()

    def game(self, game_id: str) -> PersonGame:
        """One of the person's games.

        Raises:
            Refusal: it is none of those that are kept.
        """
        found = self.games.get(game_id)
        if found is None:
            raise not_found(text("play.not_yours", game=game_id))
        return found

    async def place(self, game: PersonGame, cells: Sequence[int]) -> None:
        """Place stones.

        Raises:
            Refusal: that isn't what is asked for, or the arena is away.
        """
        self._check_open()
        turn = game.place(cells)
        if turn.is_opening:
            placed = pb.Placement(game=game.number, ply=turn.ply, cells=cells)
            await self._act(pb.Actions(placements=[placed]))
        else:
            move = pb.Play(game=game.number, ply=turn.ply, cell=cells[0])
            await self._act(pb.Actions(plays=[move]))

    async def choose(self, game: PersonGame, color: Color) -> None:
        """Choose a side.

        Raises:
            Refusal: no choice is asked for, or the arena is away.
        """
        self._check_open()
        turn = game.choose(color)
        chosen = pb.Choose(game=game.number, ply=turn.ply, color=color_to_proto(color))
        await self._act(pb.Actions(choices=[chosen]))

    async def resign(self, game: PersonGame) -> None:
        """Give a game up.

        Raises:
            Refusal: the arena is away.
        """
        self._check_open()
        if game.outcome is None:
            game.give_up()
            await self._act(pb.Actions(resigns=[pb.Resign(game=game.number)]))

    async def change(self) -> None:
        """Wait until something has changed in any of the games."""
        await self._changed.wait()

    def hold(self, challenge_id: str) -> None:
        """A browser looks at a challenge that waits."""
        self._places[challenge_id] = time.monotonic()

    def release(self, challenge_id: str) -> None:
        """A challenge waits no longer."""
        self._places.pop(challenge_id, None)

    async def give_up_places(self) -> None:
        """Take challenges back that wait and that nobody looks at any more."""
        last = time.monotonic() - PLACE_HELD.total_seconds()
        for challenge_id in [key for key, looked in self._places.items() if looked < last]:
            self.release(challenge_id)
            asked = challenge_service_pb2.CancelChallengeRequest(challenge_id=challenge_id)
            with contextlib.suppress(AioRpcError):  # it is over, or the server's to clear up
                await self._services.challenges.CancelChallenge(asked)

    def close(self) -> None:
        """Leave the arena without a goodbye: games that run go on until the clocks decide."""
        self._running.cancel()

    def _check_open(self) -> None:
        self.last_seen = time.monotonic()
        if self._call is None:
            message = text("play.no_server")
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry_after=LONGEST_WAIT)

    async def _act(self, actions: pb.Actions) -> None:
        self._tell()
        try:
            await self._call.write(pb.PlayRequest(actions=actions))
        except (AioRpcError, asyncio.InvalidStateError):
            return  # the stream is opened again, and the server tells where the games stand

    async def _run(self) -> None:
        """Have a stream as long as the person may have one."""
        wait = SHORTEST_WAIT
        while self._refusal is None:
            try:
                await self._follow()
                wait = SHORTEST_WAIT
            except AioRpcError as error:
                if error.code() is grpc.StatusCode.ABORTED:
                    self._tell()
                    return
                if error.code() in FOR_GOOD:
                    self._refusal = refusal_of(error)
                    self._ready.set()
                    self._tell()
                    return
                log.debug("a person's stream has ended: %s", error.details())
            finally:
                self._call = None
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, LONGEST_WAIT)

    async def _follow(self) -> None:
        """Follow one stream to its end."""
        call = self._services.play.Play()
        try:
            await call.write(pb.PlayRequest(hello=self._hello()))
            while (response := await call.read()) is not grpc.aio.EOF:
                assert isinstance(response, pb.PlayResponse)
                await self._hear(call, response)
        finally:
            call.cancel()

    def _check_ready(self) -> None:
        """The person is there once all games that it had are."""
        if self._awaited <= 0:
            self._ready.set()

    def _hello(self) -> pb.Hello:
        return pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            engine=pb.Engine(version="browser", digest="browser"),
            capabilities=capabilities_to_proto(CAPABILITIES),
            resume_session_id=self._session_id,
        )

    async def _hear(self, call: Any, response: pb.PlayResponse) -> None:  # noqa: ANN401 - gRPC's or ours
        match response.WhichOneof("fact"):
            case "welcome":
                self._session_id, self.name = response.welcome.session_id, response.welcome.bot_name
                self._numbers.clear()
                self._call, self._awaited = call, response.welcome.running_games
                self._check_ready()
            case "ping":
                pong = pb.Pong(sequence=response.ping.sequence)
                await call.write(pb.PlayRequest(pong=pong))
            case "events":
                await asyncio.to_thread(self._take, response.events)
                self._awaited -= len(response.events.started)
                self._check_ready()
                self._tell()

    def _take(self, events: pb.Events) -> None:
        """Note what has happened; in a thread, since forbidden cells take milliseconds."""
        for ended in events.ended:
            game = self._numbers.pop(ended.game, None)
            if game is not None:
                game.end(outcome_from_proto(ended.outcome), tuple(decode_moves(ended.moves)))
        for started in events.started:
            self._begin(started)
        for choice in events.choices:
            if (game := self._numbers.get(choice.game)) is not None:
                game.color = color_from_proto(choice.color)
                game.version += 1
        for turn in events.turns:
            if (game := self._numbers.get(turn.game)) is not None:
                game.ask(turn, tuple(decode_moves(turn.moves)))
        for notice in events.notices:
            if (game := self._numbers.get(notice.game)) is not None:
                game.take_notice(notice.detail)

    def _begin(self, started: pb.GameStarted) -> None:
        game = PersonGame(
            number=started.game,
            game_id=started.game_id,
            variant=variant_from_proto(started.variant),
            opponent=started.opponent,
            color=color_from_proto(started.color),
            moves=tuple(decode_moves(started.moves)),
        )
        known = self.games.get(game.game_id)
        if known is not None:  # so that whoever follows it sees that it has changed
            game.version = known.version + 1
            game.clocks = known.clocks
        self._numbers[game.number] = game
        self.games[game.game_id] = game
        ended = [key for key, each in self.games.items() if each.outcome is not None]
        for key in ended[: max(0, len(ended) - ENDED_KEPT)]:
            del self.games[key]

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
