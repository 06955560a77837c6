"""What passes between a program and the server, when it has a core and when not."""

from __future__ import annotations

from meijin.hosting.door.lines import Answered, Done, DoorLine, Opened, Plan, Used, Wants
from meijin.hosting.door.relay import Relay
from meijin.v1.game_pb2 import ENDING_VOID, TimeControl
from meijin.v1.play_service_pb2 import (
    Actions,
    Capabilities,
    Choose,
    Engine,
    Events,
    GameEnded,
    GameStarted,
    Hello,
    OpeningTask,
    Ping,
    Play,
    PlayRequest,
    PlayResponse,
    Pong,
    TurnRequested,
    Welcome,
)

MS = 1_000_000
PLAN = Plan(
    server="unix:/server",
    ticket="gmk_seat_x",
    socket="/door",
    bot="ada",
    digest="d" * 64,
    hardware="two cores",
    memory_bytes=256,
)


class Talk:
    """A relay that is connected on both sides, and what it passes on."""

    def __init__(self, *, ready: bool = False, cpu: bool = False) -> None:
        self.relay = Relay(PLAN)
        self.control = TimeControl(cpu=cpu)
        self.relay.hello(Hello(capabilities=Capabilities(announces_readiness=ready)))
        self.welcome(running=0)
        assert self.host() == [Opened()]
        assert [said.WhichOneof("fact") for said in self.program()] == ["welcome"]

    def welcome(self, *, running: int) -> None:
        said = Welcome(session_id="s", running_games=running)
        self.relay.server_said(PlayResponse(welcome=said))

    def events(self, **events: object) -> None:
        self.relay.server_said(PlayResponse(events=Events(**events)))  # type: ignore[arg-type]

    def begin(self, number: int = 1, game_id: str = "7") -> None:
        started = GameStarted(game=number, game_id=game_id, time_control=self.control)
        self.events(started=[started], turns=[turn(number)])

    def say(self, now_ms: int = 0, **actions: object) -> None:
        said = Actions(**actions)  # type: ignore[arg-type]
        self.relay.program_said(PlayRequest(actions=said), now_ms * MS)

    def host(self) -> list[DoorLine]:
        said, self.relay.to_host = self.relay.to_host, []
        return said

    def server(self) -> list[PlayRequest]:
        said, self.relay.to_server = self.relay.to_server, []
        return said

    def program(self) -> list[PlayResponse]:
        said, self.relay.to_program = self.relay.to_program, []
        return said


def turn(game: int, ply: int = 0) -> TurnRequested:
    return TurnRequested(game=game, ply=ply, own_clock_ms=2000)


def test_the_host_says_who_the_program_is() -> None:
    """Its digest, its machine, and one game at a time; what it can play is its own to say."""
    said = Hello(
        bot_name="grace",
        engine=Engine(version="1.4", digest="own", configuration=["depth=3"]),
        capabilities=Capabilities(max_games=99, evaluates=True, max_board_size=19),
        hardware="a supercomputer",
        threads=64,
    )
    hello = Relay(PLAN).hello(said)
    assert (hello.bot_name, hello.engine.digest, hello.hardware) == ("ada", "d" * 64, "two cores")
    assert (hello.threads, hello.memory_bytes, hello.engine.version) == (1, 256, "1.4")
    assert (hello.capabilities.max_games, hello.capabilities.max_board_size) == (1, 19)
    assert not hello.capabilities.evaluates
    assert not hello.engine.configuration


def test_a_turn_waits_for_a_core() -> None:
    """Nothing is told to the program before, and its clock begins with it."""
    talk = Talk()
    talk.begin()
    assert talk.host() == [Wants(1)]
    assert talk.program() == []
    assert talk.server() == []
    talk.relay.granted(1, 0)
    (told,) = talk.program()
    assert [each.game_id for each in told.events.started] == ["7"]
    assert [each.ply for each in told.events.turns] == [0]
    (begun,) = talk.server()
    assert [(each.game, each.ply) for each in begun.actions.begun] == [(1, 0)]


def test_an_answer_goes_with_what_it_took() -> None:
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 100 * MS)
    talk.server()
    talk.say(350, plays=[Play(game=1, ply=0, cell=112, thinking_us=5)])
    assert talk.host()[1:] == [Answered(1)]
    assert talk.server() == []
    talk.relay.used(Used(1, 200_000), 400 * MS)
    (answer,) = talk.server()
    (play,), (measured,) = answer.actions.plays, answer.actions.measured
    assert (play.cell, play.thinking_us) == (112, 0)
    assert (measured.wall_us, measured.cpu_us, measured.overstepped) == (250_000, 200_000, False)


def test_processor_time_has_a_limit_where_it_is_charged() -> None:
    talk = Talk(cpu=True)
    talk.begin()
    assert talk.host() == [Wants(1, cpu_us=2_000_000)]
    talk.relay.granted(1, 0)
    talk.server()
    talk.relay.used(Used(1, 2_010_000, is_overstepped=True), 9000 * MS)
    (told,) = talk.server()
    (measured,) = told.actions.measured
    assert (measured.wall_us, measured.cpu_us, measured.overstepped) == (9_000_000, 2_010_000, True)


def test_what_nobody_asked_for_is_counted_and_dropped() -> None:
    """Before a core is granted, of another ply or game, a second answer, other commands."""
    talk = Talk()
    talk.begin()
    talk.say(plays=[Play(game=1, ply=0, cell=1)])
    talk.relay.granted(1, 0)
    talk.server()
    talk.say(plays=[Play(game=1, ply=4, cell=3), Play(game=2, ply=0, cell=4)])
    talk.say(plays=[Play(game=1, ply=0, cell=1)])
    talk.say(plays=[Play(game=1, ply=0, cell=2)])
    talk.relay.program_said(PlayRequest(hello=Hello()), 0)
    talk.relay.program_said(PlayRequest(pong=Pong()), 0)
    assert talk.relay.unexpected == 5
    talk.relay.used(Used(1, 1), 0)
    (answer,) = talk.server()
    assert [play.cell for play in answer.actions.plays] == [1]
    talk.events(ended=[GameEnded(game=1)])
    talk.begin(2, "8")
    assert talk.relay.unexpected == 0


def test_a_game_that_ends_takes_the_core_back() -> None:
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 0)
    talk.events(ended=[GameEnded(game=1)])
    assert talk.host() == [Wants(1), Done(1)]
    talk.say(plays=[Play(game=1, ply=0, cell=1)])
    assert talk.server()[1:] == []


def test_a_program_that_gets_ready_has_a_core_for_it() -> None:
    talk = Talk(ready=True)
    talk.begin()
    talk.relay.granted(1, 0)
    talk.program(), talk.server()
    talk.events(ended=[GameEnded(game=1)])
    assert talk.host() == [Wants(1), Done(1), Wants(2)]
    assert not talk.relay.tidies(1)
    talk.relay.granted(2, 0)
    (told,) = talk.program()
    assert [each.game for each in told.events.ended] == [1]
    assert not told.events.turns
    assert talk.relay.tidies(2)
    talk.say(ready=1)
    (said,) = talk.server()
    assert said.actions.ready == 1
    assert talk.host() == [Done(2)]
    assert not talk.relay.tidies(2)


def test_a_game_that_has_ended_before_it_had_a_core() -> None:
    """The program never hears of it, and is ready for another."""
    talk = Talk(ready=True)
    talk.begin()
    talk.events(ended=[GameEnded(game=1)])
    assert talk.host() == [Wants(1), Done(1)]
    (said,) = talk.server()
    assert said.actions.ready == 1
    assert talk.program() == []


def test_pings_are_answered_for_the_program() -> None:
    """It is frozen mostly."""
    talk = Talk()
    talk.relay.server_said(PlayResponse(ping=Ping(sequence=9)))
    (said,) = talk.server()
    assert said.pong.sequence == 9
    assert talk.program() == []


def test_a_stream_that_was_lost_is_no_matter_to_the_program() -> None:
    """Its game goes on under another number, and an answer that was lost is sent again."""
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 0)
    talk.say(plays=[Play(game=1, ply=0, cell=112)])
    talk.relay.used(Used(1, 5), 0)
    talk.host(), talk.server(), talk.program()
    talk.welcome(running=1)
    talk.begin(number=8)
    assert talk.host() == []
    assert talk.program() == []
    (again,) = talk.server()
    assert [(play.game, play.cell) for play in again.actions.plays] == [(8, 112)]
    assert [(each.game, each.cpu_us) for each in again.actions.measured] == [(8, 5)]


def test_a_turn_goes_on_over_a_lost_stream() -> None:
    """The program thinks on, and its answer names the game as the server does now."""
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 0)
    talk.host(), talk.server(), talk.program()
    talk.welcome(running=1)
    talk.begin(number=8)
    (begun,) = talk.server()
    assert [each.game for each in begun.actions.begun] == [8]
    talk.say(plays=[Play(game=1, ply=0, cell=3)])
    talk.relay.used(Used(1, 5), 0)
    (answer,) = talk.server()
    assert [play.game for play in answer.actions.plays] == [8]


def test_a_game_that_the_server_has_lost_is_void() -> None:
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 0)
    talk.program()
    talk.welcome(running=0)
    talk.begin(number=1, game_id="8")
    talk.relay.granted(2, 0)
    (told,) = talk.program()
    assert [each.outcome.ending for each in told.events.ended] == [ENDING_VOID]
    assert [each.game_id for each in told.events.started] == ["8"]


def test_a_choice_may_be_asked_for_twice_at_a_ply() -> None:
    """Unlike a move, whose ply is asked for again when its answer was lost."""
    talk = Talk()
    task = OpeningTask(may_choose=True)
    started = GameStarted(game=1, game_id="7")
    asked = TurnRequested(game=1, ply=3, task=task)
    talk.events(started=[started], turns=[asked])
    talk.relay.granted(1, 0)
    talk.say(choices=[Choose(game=1, ply=3)])
    talk.relay.used(Used(1, 5), 0)
    talk.events(turns=[TurnRequested(game=1, ply=3)])
    assert talk.host() == [Wants(1), Answered(1), Wants(2)]


def test_a_program_that_reconnects_hears_where_it_is() -> None:
    talk = Talk()
    talk.begin()
    talk.relay.granted(1, 0)
    talk.program()
    talk.relay.program_came()
    welcome, events = talk.program()
    assert welcome.WhichOneof("fact") == "welcome"
    assert [each.game_id for each in events.events.started] == ["7"]
    assert [each.ply for each in events.events.turns] == [0]


def test_a_failure_loses_the_game_that_is_played() -> None:
    talk = Talk()
    assert not talk.relay.failure("memory: more than 256 MiB")
    talk.begin()
    assert talk.relay.failure("memory: more than 256 MiB")
    (said,) = talk.server()
    assert [(each.game, each.message) for each in said.actions.failures] == [
        (1, "memory: more than 256 MiB")
    ]
