"""The play stream's state machine with nothing around it: no sockets, no database, no time.

The servicer, the wire, sessions, lobby, actions, arbiters, games and journal are the server's own.
The contexts of the calls, the store's writer and the clock are stood in for, so that a stream
of a dozen messages takes a millisecond, and the same seed is the same run.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

from meijin.game import Board, Ending, TimeControl, Variant, decode_moves, encode_moves
from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.open_calls import OpenCalls
from meijin.server.api import play
from meijin.server.api.interceptor import _tolerant
from meijin.server.api.limits import Limits
from meijin.server.api.play import PlayServicer, Throttle
from meijin.server.errors import MeijinError, invalid_request
from meijin.server.match.admission import Admitted
from meijin.server.match.live.commands import Hello
from meijin.server.match.live.live_game import LiveGame
from meijin.server.parts import Parts
from meijin.server.settings import Settings
from meijin.server.tournaments.recovery import LastIds
from meijin.store.journal import _MOVE, GameEnd, JournalEntry
from meijin.store.schema import BotId, BotVersionId, EntryId, GameId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import MAX_MESSAGE_BYTES, check_bot_name

NS = 1_000_000_000
HONEST = "the-honest-one"
"""A name that no mutation of another one makes."""

MAX_ANSWER = 64 * 1024
"""Bytes of a message of the server: a few games on small boards, and as many notices as may be."""

GAMES = 3
"""Games of the honest bot with each that is fuzzed, at the same time."""

VARIANTS = (Variant(width=3, height=3, line=3), Variant(width=5, height=5))
CONTROLS = (TimeControl.parse("60+2"), TimeControl.parse("30/move"))

deserialize: Callable[[bytes], Any] = _tolerant(pb.PlayRequest.FromString, MAX_MESSAGE_BYTES)


class ViolationError(AssertionError):
    """Something happened that may never happen."""


def require(condition: object, words: str) -> None:
    """Raise a violation unless something holds."""
    if not condition:
        raise ViolationError(words)


class _NoSelector(selectors.SelectSelector):
    """Waits for nobody outside."""

    def select(self, timeout: float | None = None) -> list[Any]:
        """Nothing has come; if nobody has anything to do, nothing ever will."""
        require(timeout == 0, "everybody waits for ever")
        return []


class Loop(asyncio.SelectorEventLoop):
    """An event loop with nothing outside of it: no sockets, no time."""

    def __init__(self) -> None:
        super().__init__(_NoSelector())

    def _write_to_self(self) -> None:
        """There are no other threads."""


@dataclass(eq=False)
class FakeContest:
    """What the games are played for."""

    variant: Variant
    time_control: TimeControl
    id: TournamentId
    ladder_id: None = None
    adjudication: None = None
    games: dict[int, LiveGame] = field(default_factory=dict)

    def control_of(self, bot_id: BotId) -> TimeControl:  # noqa: ARG002 - the same for all
        """What each bot gets on its clock."""
        return self.time_control


class FakeWriter:
    """Takes what is committed into the books; an answer may be late, and never fails."""

    def __init__(self, rng: random.Random, books: Books) -> None:
        self._rng = rng
        self._books = books
        self._waiting: deque[tuple[Future[None], JournalEntry]] = deque()

    def submit(self, work: partial[None], *, is_urgent: bool) -> Future[None]:
        """Commit an entry, now or later."""
        assert is_urgent
        done: Future[None] = Future()
        self._waiting.append((done, work.keywords["entry"]))
        if self._rng.random() < 0.5:
            self.commit()
        return done

    def commit(self) -> None:
        """Answer everything that waits."""
        while self._waiting:
            done, entry = self._waiting.popleft()
            self._books.enter(entry)
            done.set_result(None)


class Books:
    """What was committed, held against the rules."""

    def __init__(self, honest_versions: set[int]) -> None:
        self.variants: dict[int, Variant] = {}
        self.moves: dict[int, list[int]] = {}
        """Of every game that has begun."""
        self.ends: dict[int, GameEnd] = {}
        self.endings: Counter[Ending] = Counter()
        self._honest = honest_versions
        self._black: dict[int, int] = {}
        self._last_entry = 0

    def enter(self, entry: JournalEntry) -> None:
        """Take in what is committed together."""
        require(entry.id > self._last_entry, "an entry was committed twice")
        self._last_entry = entry.id
        for start in entry.starts:
            require(start.id not in self.moves, f"game {start.id} began twice")
            self.moves[start.id] = list(decode_moves(start.opening))
            self._black[start.id] = start.black_id
        for game, ply, cell, raw, charged in _MOVE.iter_unpack(entry.moves):
            require(game not in self.ends, f"a move in game {game}, which has ended")
            require(ply == len(self.moves[game]), f"game {game} has no ply {ply} now")
            require(charged <= raw, f"game {game} charged {charged} of {raw}")
            self.moves[game].append(cell)
        for end in entry.ends:
            self._end(end)

    def _end(self, end: GameEnd) -> None:
        require(end.id not in self.ends, f"game {end.id} ended twice")
        self.ends[end.id] = end
        self.endings[end.ending] += 1
        told, moves = self.moves[end.id], list(decode_moves(end.moves))
        by_move = end.ending in {Ending.FIVE, Ending.DRAW}
        require(moves[: len(told)] == told, f"game {end.id} lost a move")
        require(len(moves) <= len(told) + 1, f"game {end.id} has moves that were not committed")
        board = Board.from_moves(moves, self.variants[end.id])
        over = board.winner is not None or board.is_full
        require(over == by_move, f"game {end.id} ended by {end.ending} on {board}")
        self._check_fault(end)
        self.moves[end.id] = moves

    def _check_fault(self, end: GameEnd) -> None:
        """The honest bot is never at fault, and gives nothing up."""
        culprit = end.at_fault.color
        loser = None if end.result.winner is None else end.result.winner.other
        is_black = self._black[end.id] in self._honest
        if end.ending.is_forfeit or end.ending is Ending.RESIGN:
            require(loser is not None, f"nobody lost game {end.id}")
            require((loser is not None and loser.value == 1) != is_black, f"robbed: {end}")
        if culprit is not None:
            require(loser is culprit, f"game {end.id}: {culprit} at fault, {loser} lost")


class Context:
    """A call of the play stream, as far as the servicer knows it."""

    def __init__(self, world: World, peer: str) -> None:
        self.world = world
        self.games: dict[int, int] = {}
        """The games that this stream was told of, by their numbers."""
        self.colors: dict[int, game_pb2.Color.ValueType] = {}
        self.turns: dict[int, pb.TurnRequested] = {}
        """The turns that were told and not answered."""
        self.pings: list[int] = []
        self.welcome: pb.Welcome | None = None
        self._peer = peer

    def peer(self) -> str:
        """Where the call comes from."""
        return self._peer

    async def send_initial_metadata(self, _metadata: object) -> None:
        """Nobody looks at them."""

    async def read(self) -> Any:
        """The next message, as the server's deserialiser gives it."""
        raise NotImplementedError

    async def write(self, response: pb.PlayResponse) -> None:
        """Take in what the server says, and hold it against what was committed."""
        data = response.SerializeToString()
        require(len(data) <= MAX_ANSWER, f"an answer of {len(data)} bytes")
        if response.HasField("welcome"):
            require(self.welcome is None, "two welcomes")
            self.welcome = response.welcome
            return
        require(self.welcome is not None, "something came before the welcome")
        if response.HasField("ping"):
            self.pings.append(response.ping.sequence)
        for ended in response.events.ended:
            self._take_end(ended)
        for started in response.events.started:
            self.games[started.game] = int(started.game_id)
            self.colors[started.game] = started.color
            self._compare(started.game, started.moves)
        for turn in response.events.turns:
            self._take_turn(turn)

    def _take_end(self, ended: pb.GameEnded) -> None:
        end = self.world.books.ends.get(self.games.pop(ended.game, 0))
        require(end is not None, f"an end of game {ended.game} that is not committed")
        assert end is not None
        require(end.moves == ended.moves, f"game {ended.game} ended otherwise")
        self.turns.pop(ended.game, None)

    def _take_turn(self, turn: pb.TurnRequested) -> None:
        require(turn.game in self.games, f"a turn in game {turn.game}, which has not started")
        require(turn.ply * 2 == len(turn.moves), f"ply {turn.ply}")
        side = game_pb2.COLOR_WHITE if turn.ply % 2 else game_pb2.COLOR_BLACK
        require(side == self.colors[turn.game], "the opponent's turn")
        self._compare(turn.game, turn.moves)
        self.turns[turn.game] = turn

    def _compare(self, number: int, moves: bytes) -> None:
        """Nothing is told that is not committed."""
        committed = self.world.books.moves.get(self.games[number], [])
        told = list(decode_moves(moves))
        require(committed[: len(told)] == told, f"game {number}: told {told} of {committed}")


class HonestContext(Context):
    """A bot that answers every turn at once on the first free cell, and every ping."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "ipv4:192.0.2.2:1")
        self._answers: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()
        hello = pb.Hello(protocol_version=1, bot_name=HONEST)
        self._answers.put_nowait(pb.PlayRequest(hello=hello))

    @property
    def is_settled(self) -> bool:
        """Whether all that it was asked is answered and read."""
        return self._answers.empty() and not self.turns

    async def read(self) -> Any:
        """The next answer."""
        request = await self._answers.get()
        for each in request.actions.plays:
            self.turns.pop(each.game, None)
        return deserialize(request.SerializeToString())

    async def write(self, response: pb.PlayResponse) -> None:
        """Answer."""
        await super().write(response)
        for notice in response.events.notices:
            crossed = notice.reason == pb.NOTICE_REASON_UNKNOWN_GAME  # the game's end
            require(crossed, f"the honest bot was told: {notice.detail}")
        if response.HasField("ping"):
            pong = pb.Pong(sequence=response.ping.sequence)
            self._answers.put_nowait(pb.PlayRequest(pong=pong))
        actions = pb.Actions()
        for turn in response.events.turns:
            taken = set(decode_moves(turn.moves))
            cell = next(cell for cell in range(len(taken) + 1) if cell not in taken)
            actions.plays.add(game=turn.game, ply=turn.ply, cell=cell)
        if actions.plays:
            self._answers.put_nowait(pb.PlayRequest(actions=actions))


class World:
    """A server's state machine with an honest bot in it, and what is known of both."""

    def __init__(self, seed: int, settings: Settings) -> None:
        self.rng = random.Random(seed)
        self.now_ns = NS
        self._bots: dict[str, int] = {}
        self._versions: dict[tuple[int, str], int] = {}
        self._pairings = 0
        self._honest_versions: set[int] = set()
        self.books = Books(self._honest_versions)
        self.writer = FakeWriter(self.rng, self.books)
        fence = SimpleNamespace(epoch=1, acknowledge=lambda _entry: None)
        self.parts = Parts.assemble(
            settings,
            cast("Any", self.writer),
            cast("Any", fence),
            cast("Any", self),
            redis_url="unix:///nonexistent",
            last=LastIds(game=GameId(0), entry=EntryId(0), end=0),
        )
        self.parts.listeners.order.clear()
        self.watch = self.parts.watch
        self.watch._clock = lambda: self.now_ns
        self.watch._tick_ns = self.now_ns
        self.servicer = PlayServicer(
            self.parts.lobby,
            self.parts.actions,
            self.watch,
            cast("Any", self),
            limits=Limits(settings, self.seconds, self.sleep),
            store_watch=self.parts.store_watch,
            calls=OpenCalls(),
        )
        self._contests = [FakeContest(v, c, TournamentId(1)) for v in VARIANTS for c in CONTROLS]
        self._tasks: list[asyncio.Task[None]] = []
        self.honest = HonestContext(self)

    # -- time ---------------------------------------------------------------------------

    def seconds(self) -> float:
        """The time of the limits' clock."""
        return self.now_ns / NS

    async def sleep(self, seconds: float) -> None:
        """Have time pass while somebody waits."""
        self.advance(seconds)
        await self.turns_of_loop(3)

    def advance(self, seconds: float, *, is_stall: bool = False) -> None:
        """Have time pass, during which the server served, or stood still."""
        passed = round(seconds * NS)
        self.now_ns += passed
        if not is_stall:
            self.watch._tick_ns += passed
        self.parts.games.expire(self.watch.tick())

    async def turns_of_loop(self, count: int) -> None:
        """Let everybody else go on."""
        for _ in range(count):
            await asyncio.sleep(0)

    async def settle(self) -> None:
        """Let everything be committed, and the honest bot answer all that it was asked."""
        for _ in range(200):
            self.writer.commit()
            await self.turns_of_loop(3)
            journal = self.parts.journal
            is_committed = (
                journal.moves.batch.entry.is_empty and not self.parts.store_watch._requests
            )
            if is_committed and self.honest.is_settled and not self._is_to_be_told:
                return
        raise ViolationError("the honest bot is not served")

    @property
    def _is_to_be_told(self) -> bool:
        """Whether something waits in the outbox of the honest bot."""
        return any(
            session.wake.is_set()
            for session in self.parts.lobby.sessions
            if session.player.name == HONEST
        )

    # -- the store ----------------------------------------------------------------------

    async def write(self, work: Callable[..., Any], **arguments: object) -> Any:
        """Run what admits a bot, as the store's writer would."""
        await self.turns_of_loop(self.rng.randrange(3))
        return work(None, **arguments)

    def admit(self, _connection: None, *, hello: Hello, **_more: object) -> Admitted:
        """Who says hello, on a server that is open to all."""
        with invalid_request():
            check_bot_name(hello.bot_name)
        bot = self._bots.setdefault(hello.bot_name, len(self._bots) + 1)
        key = (bot, hello.engine.digest)
        version = self._versions.setdefault(key, len(self._versions) + 1)
        if hello.bot_name == HONEST:
            require(not self._honest_versions or version in self._honest_versions, "two of it")
            self._honest_versions.add(version)
        return Admitted(
            BotId(bot),
            hello.bot_name,
            BotVersionId(version),
            (),
            is_hidden=False,
            has_passed=False,
        )

    # -- games --------------------------------------------------------------------------

    async def start(self) -> None:
        """Let the honest bot in."""
        current_caller.set(Caller(None, "Play", "", ""))  # of every stream: nobody has a token
        (commits,) = self.parts.journal.tasks(self.parts.games.release, ())
        self._tasks = [
            asyncio.create_task(commits),
            asyncio.create_task(self.servicer.Play(None, cast("Any", self.honest))),
        ]
        await self.settle()
        require(self.honest.welcome, "the honest bot is not welcome")

    def pair(self, name: str) -> None:
        """Have a bot that is there play its games with the honest one."""
        players = {player.name: player for player in self.parts.lobby.players.values()}
        player, honest = players.get(name), players[HONEST]
        if player is None or player.session is None or player is honest:
            return
        while len(player.games) < GAMES:
            sides = [player, honest]
            self.rng.shuffle(sides)
            contest = self.rng.choice(self._contests)
            self._pairings += 1
            pairing = PendingPairing(
                PairingId(self._pairings),
                self._pairings,
                sides[0].bot_id,
                sides[1].bot_id,
                encode_moves(self.rng.sample(range(contest.variant.cells), self.rng.randrange(3))),
            )
            game = self.parts.games.start(contest, pairing, sides[0], sides[1])
            self.books.variants[game.id] = contest.variant

    async def serve(self, context: Context) -> MeijinError | None:
        """Serve a stream to its end; what ends it is `None` or the error that its peer hears."""
        try:
            await self.servicer.Play(None, cast("Any", context))
        except MeijinError as error:
            return error
        return None

    # -- what must hold -----------------------------------------------------------------

    async def check(self) -> None:
        """Hold every part of the state against the others."""
        await self.settle()
        for task in self._tasks:
            if task.done():
                task.result()
                raise ViolationError("the honest bot's stream, or the journal, has ended")
        games = self.parts.games
        require(not games._ending, "an end was not committed")
        for game in games.running.values():
            arbiter = game.arbiter
            require(arbiter.outcome is None, f"game {game.id} has ended and runs")
            moves = list(arbiter.board.moves)
            require(moves == self.books.moves[game.id], f"game {game.id} was not committed")
            count = len(moves) - game.opening_plies
            require(len(arbiter.raw_ns) == len(arbiter.charged_ns) == count, "times are missing")
        ended = set(self.books.moves) - set(games.running)
        require(ended == set(self.books.ends), "a game is neither running nor ended")
        present = [each.player.name for each in self.parts.lobby.sessions]
        require(present == [HONEST], f"streams are left over: {present}")
        for player in self.parts.lobby.players.values():
            require(player.session or player.games, f"{player.name} is remembered for nothing")

    async def stop(self) -> None:
        """End what runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextmanager
def stand_ins(world: World) -> Iterator[None]:
    """Have the servicer ask the world who comes in and what time it is."""
    throttle = partial(Throttle, world.seconds, world.sleep)
    with patch.object(play, "let_in", world.admit), patch.object(play, "Throttle", throttle):
        yield
