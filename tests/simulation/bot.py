"""A simulated bot: a client of the contract that may be slow, clumsy, stopped or killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tests.simulation.loop import Process, SimulatedLoop
from tests.simulation.network import Stream

from meijin.game import encode_moves
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import PROTOCOL_VERSION

if TYPE_CHECKING:
    from tests.simulation.world import World

MS = 1_000_000
FIRST_BACKOFF_NS, LAST_BACKOFF_NS = 10 * MS, 500 * MS


@dataclass(frozen=True, slots=True)
class Temper:
    """How often a bot does what, by turn or by message."""

    think_ms: int
    """The most that it usually thinks."""
    slow: float = 0.0
    """A move that takes a good part of its clock."""
    late: float = 0.0
    """A move that takes more than its clock."""
    illegal: float = 0.0
    fail: float = 0.0
    resign: float = 0.0
    double: float = 0.0
    """An action that is sent twice."""
    stale: float = 0.0
    """An action for another ply, or for no game of its own."""
    mute: float = 0.0
    """A ping without an answer."""
    goodbye: float = 0.0
    """Leaving for good, and coming back all the same."""
    max_games: int = 4


@dataclass(slots=True)
class _Playing:
    """A game as the bot knows it."""

    cells: int
    game_id: str
    turn: int = -1
    """The ply that it is to answer; -1 when it is not its turn."""


def _known(moves: bytes) -> pb.KnownGame:
    return pb.KnownGame(ply=len(moves) // 2, moves_crc=crc32(moves))


class SimulatedBot:
    """A bot whose every step is drawn."""

    is_hostile = False

    def __init__(
        self, name: str, loop: SimulatedLoop, rng: Random, world: World, temper: Temper
    ) -> None:
        self.name = name
        self.temper = temper
        self.process = Process(name)
        self.peer = "ipv4:127.0.0.1:1"
        """Where it calls from."""
        self.stream: Stream | None = None
        self.is_retired = False
        """It comes back no more."""
        self._loop = loop
        self._rng = rng
        self._world = world
        self._games: dict[int, _Playing] = {}
        self._known: dict[str, pb.KnownGame] = {}
        self._resume = ""
        self._backoff_ns = FIRST_BACKOFF_NS
        self._after(self._rng.randrange(100 * MS), self._connect)

    def _after(self, delay_ns: int, do: Callable[..., None], *args: Any) -> None:
        self._loop.call_after_ns(delay_ns, do, *args, context=self.process.context)

    # -- its stream ---------------------------------------------------------------------

    def _connect(self) -> None:
        if self.is_retired or (self.stream is not None and not self.stream.is_over_for_client):
            return
        self._games.clear()
        self.stream = self._world.connect(self)
        if self.stream is None:
            self._connect_again()
        else:
            self._greet(self.stream)

    def _greet(self, stream: Stream) -> None:
        stream.send(pb.PlayRequest(hello=self._hello()))

    def _hello(self) -> pb.Hello:
        return pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            bot_name=self.name,
            engine=pb.Engine(version="1"),
            capabilities=pb.Capabilities(
                min_board_size=3,
                max_board_size=22,
                max_games=self.temper.max_games,
                any_line=True,
                opening_rules=game_pb2.OpeningRule.values()[1:],
            ),
            resume_session_id=self._resume,
            known_games=self._known,
        )

    def _connect_again(self) -> None:
        self._after(self._backoff_ns + self._rng.randrange(FIRST_BACKOFF_NS), self._connect)
        self._backoff_ns = min(2 * self._backoff_ns, LAST_BACKOFF_NS)

    def stream_ended(self, stream: Stream, _reason: str) -> None:
        self._world.stopped_thinking(stream)
        if stream is self.stream:
            self._connect_again()

    def hang_up(self) -> None:
        if self.stream is not None and not self.stream.is_over_for_client:
            self.stream.half_close()

    def restart(self, after_ns: int) -> None:
        """Its process is dead: begin another one, which knows nothing."""
        self.process = Process(self.name)
        self.stream = None
        self._resume, self._backoff_ns = "", FIRST_BACKOFF_NS
        self._known.clear()
        self._after(after_ns, self._connect)

    # -- what it is told ----------------------------------------------------------------

    def receive(self, stream: Stream, message: pb.PlayResponse) -> None:
        if stream is not self.stream:
            return
        kind = message.WhichOneof("fact")
        if kind == "welcome":
            self._resume, self._backoff_ns = message.welcome.session_id, FIRST_BACKOFF_NS
        elif kind == "ping":
            if self._rng.random() >= self.temper.mute:
                self._send(pong=pb.Pong(sequence=message.ping.sequence))
        elif kind == "events":
            self._read_events(message.events)

    def _read_events(self, events: pb.Events) -> None:
        for ended in events.ended:
            playing = self._games.pop(ended.game, None)
            if playing is not None:
                del self._known[playing.game_id]
        for started in events.started:
            cells = started.variant.width * started.variant.height
            self._games[started.game] = _Playing(cells, started.game_id)
            if started.game_id not in self._known:
                self._known[started.game_id] = _known(started.moves)
        for turn in events.turns:
            self._known[self._games[turn.game].game_id] = _known(turn.moves)
            self._think(turn)

    def _think(self, turn: pb.TurnRequested) -> None:
        temper, rng = self.temper, self._rng
        clock_ns = turn.own_clock_ms * MS
        chance = rng.random()
        if chance < temper.late:
            delay_ns = clock_ns + rng.randrange(100 * MS, 400 * MS)
        elif chance < temper.late + temper.slow:
            delay_ns = int(clock_ns * rng.uniform(0.2, 0.7))
        else:
            delay_ns = rng.randrange(temper.think_ms * MS)
            delay_ns = min(delay_ns, clock_ns // 2)
        assert self.stream is not None
        self._games[turn.game].turn = turn.ply
        self._world.turn_read(self.stream, turn.game, turn.ply, self._loop.now_ns + delay_ns)
        self._after(delay_ns, self._answer, self.stream, turn)

    # -- what it does -------------------------------------------------------------------

    def _answer(self, stream: Stream, turn: pb.TurnRequested) -> None:
        playing = self._games.get(turn.game)
        if stream is not self.stream or playing is None or playing.turn != turn.ply:
            return
        playing.turn = -1
        temper, rng = self.temper, self._rng
        actions = pb.Actions()
        chance = rng.random()
        if chance < temper.resign:
            actions.resigns.add(game=turn.game)
        elif chance < temper.resign + temper.fail:
            actions.failures.add(game=turn.game, message="no more")
        elif chance < temper.resign + temper.fail + temper.goodbye:
            self._send(goodbye=pb.Goodbye())
            return
        else:
            answer = self._answer_to(turn, playing)
            self._note_answer(playing, answer)
            for _ in range(2 if rng.random() < temper.double else 1):
                actions.MergeFrom(answer)
        self._add_nonsense(actions, turn)
        self._send(actions=actions)

    def _answer_to(self, turn: pb.TurnRequested, playing: _Playing) -> pb.Actions:
        answer = pb.Actions()
        if not turn.HasField("task"):
            answer.plays.add(game=turn.game, ply=turn.ply, cell=self._choose(turn, playing))
        elif turn.task.may_choose and (not turn.task.stones or self._rng.random() < 0.5):
            color = self._rng.choice((game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE))
            answer.choices.add(game=turn.game, ply=turn.ply, color=color)
        else:
            taken = set(memoryview(turn.moves).cast("H"))
            free = [cell for cell in range(playing.cells) if cell not in taken]
            stones = turn.task.stones + (self._rng.random() < self.temper.illegal)
            cells = self._rng.sample(free, stones)
            answer.placements.add(game=turn.game, ply=turn.ply, cells=cells)
        return answer

    def _note_answer(self, playing: _Playing, answer: pb.Actions) -> None:
        cells = [play.cell for play in answer.plays]
        cells += [cell for each in answer.placements for cell in each.cells]
        if cells:
            known = self._known[playing.game_id]
            known.answered_crc = crc32(encode_moves(cells), known.moves_crc)

    def _choose(self, turn: pb.TurnRequested, playing: _Playing) -> int:
        taken = set(memoryview(turn.moves).cast("H"))
        if self._rng.random() < self.temper.illegal:
            return self._rng.choice([*sorted(taken), playing.cells])
        return self._rng.choice([cell for cell in range(playing.cells) if cell not in taken])

    def _add_nonsense(self, actions: pb.Actions, turn: pb.TurnRequested) -> None:
        if self._rng.random() >= self.temper.stale:
            return
        cell = self._rng.randrange(9)
        kind = self._rng.randrange(3)
        if kind == 0 and turn.ply >= 2:
            actions.plays.add(game=turn.game, ply=turn.ply - 2, cell=cell)
        elif kind == 1:
            actions.plays.add(game=turn.game, ply=turn.ply + 1, cell=cell)
        else:
            actions.plays.add(game=turn.game + 1000, ply=turn.ply, cell=cell)

    def _send(self, **command: Any) -> None:
        if self.stream is not None and not self.stream.is_over_for_client:
            self.stream.send(pb.PlayRequest(**command))
