"""The relay: what passes between a program and the server, and when; it opens no socket itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from meijin.hosting.door.lines import Answered, Done, DoorLine, Opened, Plan, Used, Wants
from meijin.v1.game_pb2 import ENDING_VOID, Outcome, TimeControl
from meijin.v1.play_service_pb2 import (
    Actions,
    Choose,
    Declare,
    Events,
    Failure,
    GameEnded,
    GameStarted,
    Hello,
    Offer,
    Placement,
    Play,
    PlayRequest,
    PlayResponse,
    Pong,
    Resign,
    TurnBegun,
    TurnMeasured,
    TurnRequested,
    Welcome,
)
from meijin.wire.contract import PROTOCOL_VERSION

THREADS = 1
"""Of a program: it thinks on one core."""

NS_PER_US = 1000

Answer: TypeAlias = Play | Placement | Choose | Declare | Offer | Failure | Resign


@dataclass(slots=True)
class Turn:
    """What the program needs a core for: a turn of its game, or what it does after one."""

    number: int
    asked: TurnRequested | None
    """``None`` after a game: the program says when it is ready for the next."""
    begun_ns: int | None = None
    """When it was handed to the program; ``None`` while it waits for a core."""
    wall_ns: int | None = None
    """What it has taken; ``None`` until it is answered."""


@dataclass(slots=True)
class Relay:
    """Passes messages on, one game at a time; outputs are taken by `take`.

    While the program waits for a core it is frozen, and what it is to hear waits with it.
    """

    plan: Plan
    to_server: list[PlayRequest] = field(default_factory=list)
    to_program: list[PlayResponse] = field(default_factory=list)
    to_host: list[DoorLine] = field(default_factory=list)
    session_id: str = ""
    """Of the last stream to the server."""
    unexpected: int = 0
    """What the program has sent that nobody had asked for, since its game began."""
    _welcome: Welcome | None = None
    _game: GameStarted | None = None
    """That which is played, as it was told to the program."""
    _number: int = 0
    """Its number on the stream to the server, which another stream may give another."""
    _held: Events = field(default_factory=Events)
    """What the program is to hear with its next turn."""
    _turn: Turn | None = None
    _answer: Actions | None = None
    """The last answer, which is sent again where the server asks again."""
    _ready: bool = False
    """The program says when it is ready for another game."""
    _turns: int = 0

    # -- the two hellos -------------------------------------------------------------------

    def hello(self, said: Hello) -> Hello:
        """What the server is told in place of what the program says: its host knows better."""
        plan, hello = self.plan, Hello(protocol_version=PROTOCOL_VERSION)
        self._ready = said.capabilities.announces_readiness
        hello.bot_name = plan.bot
        hello.engine.version = plan.label or said.engine.version
        hello.engine.digest = plan.digest
        hello.capabilities.CopyFrom(said.capabilities)
        hello.capabilities.max_games = 1
        hello.capabilities.evaluates = False
        hello.resume_session_id = self.session_id
        hello.hardware = plan.hardware
        hello.nodes_per_second = plan.nodes_per_second
        hello.threads = THREADS
        if plan.memory_bytes:
            hello.memory_bytes = plan.memory_bytes
        return hello

    def program_came(self) -> None:
        """A stream of the program is open: it hears what it has to know."""
        if self._welcome is None:
            return
        self.to_program.append(PlayResponse(welcome=self._welcome))
        turn, events = self._turn, Events()
        if self._game is not None and self._game not in self._held.started:
            events.started.append(self._game)
        if turn is not None and turn.asked is not None and turn.begun_ns is not None:
            events.turns.append(turn.asked)
        if events.ByteSize():
            self.to_program.append(PlayResponse(events=events))

    # -- what the server says -------------------------------------------------------------

    def server_said(self, response: PlayResponse) -> None:
        fact = response.WhichOneof("fact")
        if fact == "welcome":
            is_first = self._welcome is None
            self._welcome, self.session_id = response.welcome, response.welcome.session_id
            if is_first:
                self.program_came()
                self.to_host.append(Opened())
            elif self._game is not None and not response.welcome.running_games:
                lost = GameEnded(game=self._game.game, outcome=Outcome(ending=ENDING_VOID))
                self._end_game(lost)
        elif fact == "ping":
            self.to_server.append(PlayRequest(pong=Pong(sequence=response.ping.sequence)))
        elif fact == "events":
            self._hear(response.events)

    def _hear(self, events: Events) -> None:
        for ended in events.ended:
            if self._game is not None and ended.game == self._number:
                ended.game = self._game.game
                self._end_game(ended)
        for started in events.started:
            self._start(started)
        for choice in events.choices:
            if self._game is not None and choice.game == self._number:
                choice.game = self._game.game
                self._held.choices.append(choice)
        for turn in events.turns:
            if self._game is not None and turn.game == self._number:
                turn.game = self._game.game
                self._ask(turn)

    def _start(self, started: GameStarted) -> None:
        """A game begins, or goes on after the server was away, of which the program hears nothing."""
        self._number = started.game
        if self._game is None or started.game_id != self._game.game_id:
            self._game, self._answer, self.unexpected = started, None, 0
            self._held.started.append(started)

    def _ask(self, asked: TurnRequested) -> None:
        turn, answer = self._turn, self._answer
        if turn is not None and turn.asked is not None and turn.asked.ply == asked.ply:
            if turn.begun_ns is not None and turn.wall_ns is None:
                self._begin(asked.ply)  # once more, on another stream
            return
        is_move = answer is not None and answer.plays and not asked.HasField("task")
        if answer is not None and is_move and answer.plays[0].ply == asked.ply:
            self._send(answer)  # which was lost with a stream
            return
        self._want(asked, asked.own_clock_ms * 1000 if self._control.cpu else 0)

    @property
    def _control(self) -> TimeControl:
        assert self._game is not None
        return self._game.time_control

    def _want(self, asked: TurnRequested | None, cpu_us: int = 0) -> None:
        self._turns += 1
        self._turn = Turn(self._turns, asked)
        self.to_host.append(Wants(self._turns, cpu_us))

    def _end_game(self, ended: GameEnded) -> None:
        """Whatever the program thinks about is of no use; it may have to do after the game."""
        turn, self._turn, self._game, self._answer = self._turn, None, None, None
        if turn is not None:
            self.to_host.append(Done(turn.number))
        if self._held.started:  # the program never hears of that game
            self._held.ClearField("started")
            self._held.ClearField("choices")
            if self._ready:
                self._say_ready()
            return
        self._held.ended.append(ended)
        if self._ready:
            self._want(None)

    def _say_ready(self) -> None:
        self.to_server.append(PlayRequest(actions=Actions(ready=1)))

    # -- what the host says ---------------------------------------------------------------

    def granted(self, number: int, now_ns: int) -> None:
        """The program has a core: it hears what it has to, and its time runs."""
        turn = self._turn
        if turn is None or turn.number != number:
            return
        turn.begun_ns = now_ns
        events, self._held = self._held, Events()
        if turn.asked is not None:
            events.turns.append(turn.asked)
            self._begin(turn.asked.ply)
        self.to_program.append(PlayResponse(events=events))

    def tidies(self, number: int) -> bool:
        """Whether a turn is what the program does after a game, and not done."""
        turn = self._turn
        return turn is not None and turn.number == number and turn.asked is None

    def _begin(self, ply: int) -> None:
        if not self.plan.is_measured:
            return
        begun = TurnBegun(game=self._number, ply=ply)
        self.to_server.append(PlayRequest(actions=Actions(begun=[begun])))

    def failure(self, cause: str) -> bool:
        """The program has ended by its own fault; whether a game is lost by that."""
        if self._game is None:
            return False
        failure = Failure(game=self._number, message=cause)
        self.to_server.append(PlayRequest(actions=Actions(failures=[failure])))
        return True

    @property
    def is_playing(self) -> bool:
        return self._game is not None

    def used(self, used: Used, now_ns: int) -> None:
        """What the turn has taken is known, so that its answer can go to the server."""
        turn = self._turn
        if turn is None or turn.number != used.number or turn.asked is None:
            return
        assert turn.begun_ns is not None
        wall_ns = now_ns - turn.begun_ns if turn.wall_ns is None else turn.wall_ns
        measured = TurnMeasured(
            game=self._number,
            ply=turn.asked.ply,
            wall_us=wall_ns // NS_PER_US,
            cpu_us=used.cpu_us,
            overstepped=used.is_overstepped,
        )
        if used.is_overstepped:
            self.to_server.append(PlayRequest(actions=Actions(measured=[measured])))
            return
        assert self._answer is not None
        if self.plan.is_measured:
            self._answer.measured.append(measured)
        self._turn = None
        self._send(self._answer)

    def _send(self, answer: Actions) -> None:
        """Send the answer to the pending turn, by the game's number on the stream of now."""
        for action in (*answer.measured, *_answers(answer)):
            action.game = self._number
        self.to_server.append(PlayRequest(actions=answer))

    # -- what the program says ------------------------------------------------------------

    def program_said(self, request: PlayRequest, now_ns: int) -> None:
        """Take what answers the pending turn; the rest is counted."""
        turn = self._turn
        if request.WhichOneof("command") != "actions" or turn is None or turn.begun_ns is None:
            self.unexpected += 1
            return
        said = request.actions
        if turn.asked is None:
            if said.ready:
                self._turn = None
                self._say_ready()
                self.to_host.append(Done(turn.number))
            return
        answer = self._answer_in(said, turn.asked)
        if answer is None or turn.wall_ns is not None:
            self.unexpected += 1
            return
        self._answer, turn.wall_ns = answer, now_ns - turn.begun_ns
        self.to_host.append(Answered(turn.number))

    def _answer_in(self, said: Actions, asked: TurnRequested) -> Actions | None:
        """What a message says of the pending turn; ``None`` where it says nothing of it."""
        answer = Actions()
        for field_name in ("plays", "placements", "choices", "declarations", "offers"):
            for action in getattr(said, field_name):
                if action.game == asked.game and action.ply == asked.ply:
                    action.thinking_us = 0
                    getattr(answer, field_name).append(action)
                    return answer
        for field_name in ("failures", "resigns"):
            for action in getattr(said, field_name):
                if action.game == asked.game:
                    getattr(answer, field_name).append(action)
                    return answer
        return None


def _answers(answer: Actions) -> Iterator[Answer]:
    yield from answer.plays
    yield from answer.placements
    yield from answer.choices
    yield from answer.declarations
    yield from answer.offers
    yield from answer.failures
    yield from answer.resigns
