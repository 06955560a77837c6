"""A bot's life at a server that does what the test says."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING
from zlib import crc32

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.bots import (
    RESIGN,
    Analysis,
    Bot,
    Capabilities,
    Choice,
    Client,
    InvalidBotError,
    NoArenaError,
    NotAllowedError,
    Position,
    RefusedError,
    ReplacedError,
    Resignation,
    TokenRefusedError,
    VersionRefusedError,
)
from meijin.bots.sdk import client as client_module
from meijin.bots.sdk.backoff import Backoff
from meijin.bots.sdk.speed import write_speed
from meijin.game import FREESTYLE, STANDARD, Board, Color, Outcome, decode_moves
from meijin.v1 import game_pb2
from meijin.v1.play_service_pb2 import KnownGame

if TYPE_CHECKING:
    from tests.bots.conftest import ScriptedServer


class FirstCellBot(Bot):
    """Takes the first legal cell."""

    name = "first"

    def choose(self, position: Position) -> int:
        """Return it."""
        return position.legal_cells()[0]


class BlockingBot(Bot):
    """Blocks its thread in each search, until the test lets it go on."""

    def __init__(self) -> None:
        self.searched: list[str] = []
        self._begun = threading.Semaphore(0)
        self._freed = threading.Semaphore(0)

    def choose(self, position: Position) -> int:
        """Return the first legal cell."""
        self.searched.append(position.game_id)
        self._begun.release()
        self._freed.acquire()
        return position.legal_cells()[0]

    async def wait_for_search(self) -> None:
        """Wait until one more search has begun."""
        await asyncio.to_thread(self._begun.acquire)

    def finish_search(self) -> None:
        """Let one search end."""
        self._freed.release()


class HearingBot(FirstCellBot):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def game_started(self, position: Position) -> None:
        """Note the game."""
        self.heard.append(f"started {position.game_id} at ply {position.board.ply}")

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:
        """Note the outcome."""
        self.heard.append(f"ended {game_id}: {outcome}")


async def test_hello(server: ScriptedServer) -> None:
    """The first message says who the bot is and what it plays."""

    class CarefulBot(FirstCellBot):
        version = "2.1"
        capabilities = Capabilities(
            rules=(FREESTYLE, STANDARD),
            min_size=9,
            max_size=19,
            max_games=4,
            min_move_time=timedelta(microseconds=10_001),
            any_line=True,
        )

        @property
        def configuration(self) -> Mapping[str, str]:
            return {"width": "12", "depth": "8"}

    bot = CarefulBot()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
    hello = session.hello
    assert hello.protocol_version == 1
    assert hello.bot_name == "careful-bot"
    assert hello.engine.version == "2.1"
    assert hello.engine.digest == bot.digest
    assert hello.engine.configuration == ["depth=8", "width=12"]
    assert hello.capabilities.rules == [game_pb2.RULE_FREESTYLE, game_pb2.RULE_STANDARD]
    assert hello.capabilities.min_board_size == 9
    assert hello.capabilities.max_board_size == 19
    assert hello.capabilities.max_games == 4
    assert hello.capabilities.min_move_time_ms == 11
    assert hello.capabilities.any_line
    assert not hello.resume_session_id
    assert "authorization" not in session.metadata


class PreparingBot(FirstCellBot):
    """Takes its time before it can play."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.ready = threading.Event()
        self.begun = threading.Event()
        self.closed = 0
        self._error = error

    def prepare(self) -> None:
        """Wait for the test, or fail."""
        self.begun.set()
        self.ready.wait()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Count."""
        self.closed += 1


@pytest.mark.parametrize(("hardware", "speed"), [("H100", 400_000), ("", 0)])
async def test_the_hello_tells_of_the_machine(
    server: ScriptedServer, hardware: str, speed: int
) -> None:
    """How fast it was measured to be, too; neither where an empty text is told."""
    write_speed(400_000)
    async with server.connect(FirstCellBot(), hardware=hardware):
        session = await server.session()
        await session.welcome()
    assert (session.hello.hardware, session.hello.nodes_per_second) == (hardware, speed)


async def test_prepares_before_the_hello(server: ScriptedServer) -> None:
    """The server hears of a bot once it can play; one that came later is heard first."""
    bot = PreparingBot()
    async with server.connect(bot):
        await asyncio.to_thread(bot.begun.wait)
        async with server.connect(FirstCellBot()):
            session = await server.session()
            await session.welcome()
            assert session.hello.bot_name == "first"
        bot.ready.set()
        session = await server.session()
        await session.welcome()
        assert session.hello.bot_name == "preparing-bot"
        await session.begin(1)
        assert await session.receive_plays()


async def test_leaves_while_it_prepares(server: ScriptedServer) -> None:
    """A bot that is to leave doesn't wait until it is ready."""
    bot = PreparingBot()
    client = Client(bot, server=server.address)
    serving = asyncio.create_task(client.serve())
    await asyncio.to_thread(bot.begun.wait)
    client.stop()
    await serving
    bot.ready.set()


@pytest.mark.parametrize("error", [OSError("no weights"), SystemExit("no weights")])
async def test_fails_to_prepare(server: ScriptedServer, error: BaseException) -> None:
    """What goes wrong on the way to being ready ends the client, and so does an exit."""
    bot = PreparingBot(error)
    bot.ready.set()
    with pytest.raises(type(error), match="no weights"):
        await Client(bot, server=server.address).serve()
    assert bot.closed == 1


async def test_closes_last_of_all(server: ScriptedServer) -> None:
    """A bot hears once that it has left."""
    bot = PreparingBot()
    bot.ready.set()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
        assert bot.closed == 0
    assert bot.closed == 1


async def test_token(server: ScriptedServer) -> None:
    """A token travels in the metadata, and says which bot it is unless a name is given."""
    async with server.connect(FirstCellBot(), token="secret"):
        session = await server.session()
        await session.welcome()
        assert session.metadata["authorization"] == "Bearer secret"
        assert not session.hello.bot_name
    async with server.connect(FirstCellBot(), token="secret", name="mine"):
        session = await server.session()
        await session.welcome()
        assert session.hello.bot_name == "mine"


async def test_batch(server: ScriptedServer) -> None:
    """Turns asked for in one message are answered in one message."""

    class EverywhereBot(FirstCellBot):
        async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
            return [self.choose(position) for position in positions]

    async with server.connect(EverywhereBot()):
        session = await server.session()
        await session.welcome()
        await session.begin(*range(1, 65))
        plays = (await session.receive()).actions.plays
        assert [play.game for play in plays] == list(range(1, 65))
        assert {(play.ply, play.cell) for play in plays} == {(0, 0)}


async def test_position(server: ScriptedServer) -> None:
    """The bot sees every move, the clocks and whom it plays against, turn after turn."""
    boards: list[Board] = []
    positions: list[Position] = []

    class WatchingBot(FirstCellBot):
        def choose(self, position: Position) -> int:
            boards.append(position.board.copy())
            positions.append(position)
            return super().choose(position)

    async with server.connect(WatchingBot()):
        session = await server.session()
        await session.welcome()
        fields = {
            "color": game_pb2.COLOR_WHITE,
            "time_control": game_pb2.TimeControl(
                initial=Duration(seconds=60), per_move=Duration(seconds=5)
            ),
            "variant": game_pb2.Variant(rule=game_pb2.RULE_STANDARD, width=9, height=7),
        }
        await session.send_events(
            started=[session.started(7, [8], **fields)], turns=[session.turn(7, [8])]
        )
        await session.receive_plays()
        await session.send_events(turns=[session.turn(7, [8, 0, 20])])
        (second,) = await session.receive_plays()
        assert (second.game, second.ply, second.cell) == (7, 3, 1)
    assert [list(board.moves) for board in boards] == [[8], [8, 0, 20]]
    position = positions[-1]
    assert str(position.variant) == "standard 9x7"
    assert (position.game_id, position.opponent) == ("game-7", "rival")
    assert position.color is Color.WHITE
    assert timedelta(seconds=4) < position.time_left <= timedelta(seconds=5)
    assert timedelta(seconds=59) < position.clock_left <= timedelta(seconds=60)
    assert position.opponent_time_left == timedelta(seconds=60)


async def test_rare_answers(server: ScriptedServer) -> None:
    """An analysis travels with its move; a resignation and a failure end their games alone."""
    answers: dict[str, int | Choice | Resignation] = {
        "game-1": Choice(112, Analysis(score=-7, depth=3, nodes=99, pv=[112, 113])),
        "game-2": RESIGN,
        "game-3": 225,
    }

    class VariedBot(Bot):
        def choose(self, position: Position) -> int | Choice | Resignation:
            return answers[position.game_id]

    async with server.connect(VariedBot(), threads=1):
        session = await server.session()
        await session.welcome()
        await session.begin(1)
        (choice,) = (await session.receive()).actions.plays
        assert (choice.game, choice.ply, choice.cell) == (1, 0, 112)
        assert (choice.analysis.score, choice.analysis.depth) == (-7, 3)
        assert choice.analysis.nodes == 99
        assert list(decode_moves(choice.analysis.pv)) == [112, 113]
        await session.begin(2)
        (resign,) = (await session.receive()).actions.resigns
        assert resign.game == 2
        await session.begin(3)
        (failure,) = (await session.receive()).actions.failures
        assert failure.game == 3
        words = "choose returned 225: cell 225 is off the 15x15 board (test_client.py, line "
        assert failure.message.startswith(words)


async def test_exception_fails_one_game(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A bot that raises forfeits that game, with a traceback in the log, and plays on."""

    class ShakyBot(FirstCellBot):
        def choose(self, position: Position) -> int:
            if position.game_id == "game-1":
                raise KeyError("nobody knows")
            return super().choose(position)

    async with server.connect(ShakyBot()):
        session = await server.session()
        await session.welcome()
        await session.begin(1)
        (failure,) = (await session.receive()).actions.failures
        assert failure.game == 1
        assert failure.message.startswith("KeyError: 'nobody knows' (test_client.py, line ")
        assert failure.traceback.startswith('  File "test_client.py", line ')
        assert failure.traceback.endswith("KeyError: 'nobody knows'")
        await session.begin(2)
        assert [play.game for play in await session.receive_plays()] == [2]
    (record,) = [record for record in caplog.records if record.name == "meijin.bots"]
    assert "game-1" in record.getMessage()
    assert record.exc_info


async def test_pong_during_a_search(server: ScriptedServer) -> None:
    """A ping is answered while the only search thread is busy."""
    bot = BlockingBot()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
        await session.begin(1)
        await bot.wait_for_search()
        await session.send_ping(41)
        assert (await session.receive()).pong.sequence == 41
        bot.finish_search()
        await session.receive_plays()


@pytest.mark.parametrize(
    "code",
    [
        None,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    ],
)
async def test_reconnects(server: ScriptedServer, code: grpc.StatusCode | None) -> None:
    """After any end of a stream that may pass, the bot returns and names its last session."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome("session-1")
        session.end(code, "for a while")
        session = await server.session()
        await session.welcome("session-2")
        assert session.hello.resume_session_id == "session-1"
        await session.begin(1)
        await session.receive_plays()


async def test_reconnects_before_the_welcome(server: ScriptedServer) -> None:
    """A server that can't let the bot in yet is tried again."""
    async with server.connect(FirstCellBot()):
        (await server.session()).end(grpc.StatusCode.UNAVAILABLE)
        (await server.session()).end()
        first = await server.session()
        await first.send_ping(1)  # no greeting
        await (await server.session()).welcome()


@pytest.mark.parametrize(("settled", "resets"), [(0.0, 1), (3600.0, 0)])
async def test_delays_after_a_good_stream(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, settled: float, resets: int
) -> None:
    """Delays grow over streams that break soon, and begin anew after one that held."""
    monkeypatch.setattr(client_module, "SETTLED_AFTER", timedelta(seconds=settled))

    class NotingBackoff(Backoff):
        def __init__(self) -> None:
            super().__init__(Random(1), first=timedelta(0))
            self.resets = 0

        def reset(self) -> None:
            self.resets += 1

    backoff = NotingBackoff()
    async with server.connect(FirstCellBot(), backoff=backoff):
        (await server.session()).end()
        session = await server.session()
        await session.welcome()
        session.end()
        await (await server.session()).welcome()
    assert backoff.resets == resets


async def test_server_vanishes(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """A server that goes away and comes back finds the bot there again."""
    caplog.set_level(logging.INFO, "meijin.bots")
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        await session.send_draining()
        await server.stop()
        await server.start()
        session = await server.session()
        await session.welcome()
        assert session.hello.resume_session_id == "session-1"
    assert "the server is about to stop" in caplog.text
    assert "reconnecting in 0.0 s because" in caplog.text


async def test_a_pause_is_logged(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """With the server's reason, for the bot's owner."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        await session.send_pause("20 games forfeited")
        await session.send_draining()
        await server.stop()
        await server.start()
        await (await server.session()).welcome()
    assert "no new games for a while: 20 games forfeited" in caplog.text


async def test_resumed_game_has_another_number(server: ScriptedServer) -> None:
    """A game that goes on after a reconnection is answered under its new number."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        await session.begin(1, 2)
        await session.receive_plays(2)
        session.end(grpc.StatusCode.UNAVAILABLE)
        session = await server.session()
        await session.welcome(running_games=2)
        await session.send_events(
            started=[
                session.started(2, [0, 9], game_id="game-1"),
                session.started(1, [0, 8], game_id="game-2"),
            ],
            turns=[session.turn(1, [0, 8])],
        )
        (play,) = await session.receive_plays()
        assert (play.game, play.ply, play.cell) == (1, 2, 1)


async def test_a_bot_that_returns_tells_what_it_knows(server: ScriptedServer) -> None:
    """Of each game that waits: the moves of its last turn, and its own answer."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        assert not session.hello.known_games
        await session.begin(1, 2, 3)
        await session.receive_plays(3)
        await session.send_events(
            turns=[session.turn(2, [0, 9])], ended=[session.ended(3)], started=[session.started(4)]
        )
        await session.receive_plays()
        session.end(grpc.StatusCode.UNAVAILABLE)
        session = await server.session()
        await session.welcome(running_games=3)
        assert session.hello.known_games == {
            "game-1": KnownGame(ply=0, moves_crc=0, answered_crc=crc32(b"\0\0")),
            "game-2": KnownGame(
                ply=2,
                moves_crc=crc32(b"\0\0\x09\0"),
                answered_crc=crc32(b"\0\0\x09\0\x01\0"),
            ),
            "game-4": KnownGame(ply=0, moves_crc=0),
        }


async def test_answer_of_a_lost_stream(server: ScriptedServer) -> None:
    """What was searched for a lost stream isn't sent: the turn is asked for and searched again."""
    bot = BlockingBot()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
        await session.begin(1)
        await bot.wait_for_search()
        session.end(grpc.StatusCode.UNAVAILABLE)
        session = await server.session()
        await session.welcome(running_games=1)
        started = session.started(5, game_id="game-1")
        await session.send_events(started=[started], turns=[session.turn(5)])
        await session.send_ping(1)
        assert (await session.receive()).HasField("pong")
        bot.finish_search()
        await bot.wait_for_search()
        bot.finish_search()
        assert [play.game for play in (await session.receive()).actions.plays] == [5]


async def test_answer_of_an_ended_game(server: ScriptedServer) -> None:
    """A game that ended meanwhile gets no answer, and one that waited gets no search."""
    bot = BlockingBot()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
        await session.begin(1, 2, 3)
        await bot.wait_for_search()
        await session.send_events(ended=[session.ended(1), session.ended(2)])
        await session.send_ping(1)
        assert (await session.receive()).HasField("pong")
        bot.finish_search()
        await bot.wait_for_search()
        bot.finish_search()
        assert [play.game for play in (await session.receive()).actions.plays] == [3]
    assert bot.searched == ["game-1", "game-3"]


@pytest.mark.parametrize(
    ("code", "error", "advice"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, TokenRefusedError, "MEIJIN_TOKEN"),
        (grpc.StatusCode.PERMISSION_DENIED, NotAllowedError, ""),
        (grpc.StatusCode.FAILED_PRECONDITION, VersionRefusedError, "install"),
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidBotError, "check the bot's name"),
        (grpc.StatusCode.ABORTED, ReplacedError, "one process per bot"),
        (grpc.StatusCode.UNIMPLEMENTED, NoArenaError, "address"),
    ],
)
@pytest.mark.parametrize("sessions", [0, 1])
async def test_refused(
    server: ScriptedServer,
    code: grpc.StatusCode,
    error: type[RefusedError],
    advice: str,
    sessions: int,
) -> None:
    """A refusal that would only be repeated stops the bot, with one line that says what to do."""
    serving = asyncio.create_task(Client(FirstCellBot(), server=server.address).serve())
    session = await server.session()
    for _ in range(sessions):
        await session.welcome()
    session.end(code, "No way.")
    with pytest.raises(error, match=f"^No way{': .*' if advice else '.$'}{advice}") as refused:
        await serving
    assert "\n" not in str(refused.value)


async def test_goodbye(server: ScriptedServer) -> None:
    """A bot without games says goodbye."""
    async with server.connect(FirstCellBot()) as client:
        session = await server.session()
        await session.welcome()
        await session.begin(1)
        await session.receive_plays()
        await session.send_events(ended=[session.ended(1)])
        await session.send_ping(1)
        await session.receive()
        client.stop()
        assert (await session.receive()).HasField("goodbye")
        session.end()


async def test_leaving_during_a_game(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A bot with running games leaves without a goodbye, and says how many games wait."""
    caplog.set_level(logging.INFO, "meijin.bots")
    async with server.connect(FirstCellBot()) as client:
        session = await server.session()
        await session.welcome(running_games=1)
        await session.send_events(started=[session.started(1)])
        await session.begin(2)
        await session.receive_plays()
        client.stop()
        await session.receive_end()
    assert "left; games that wait 30 s for the bot's return: 2" in caplog.text


async def test_leaving_before_games_have_come_back(server: ScriptedServer) -> None:
    """Games that the server has announced are not resigned by a goodbye."""
    async with server.connect(FirstCellBot()) as client:
        session = await server.session()
        await session.welcome(running_games=1)
        await session.send_ping(1)
        await session.receive()
        client.stop()
        await session.receive_end()


async def test_leaving_while_the_server_is_away() -> None:
    """A bot that waits an hour for its next attempt leaves at once."""

    class LongBackoff(Backoff):
        def __init__(self) -> None:
            super().__init__(Random(1), first=timedelta(hours=1))
            self.asked = asyncio.Event()

        def next(self) -> timedelta:
            self.asked.set()
            return super().next()

    backoff = LongBackoff()
    client = Client(FirstCellBot(), server="127.0.0.1:1", backoff=backoff)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(client.serve())
        await backoff.asked.wait()
        client.stop()


async def test_hooks(server: ScriptedServer) -> None:
    """The bot hears of each game's beginning and end once, over two streams."""
    bot = HearingBot()
    async with server.connect(bot):
        session = await server.session()
        await session.welcome()
        await session.begin(1, 2, 3)
        await session.receive_plays(3)
        session.end()
        session = await server.session()
        await session.welcome(running_games=2)
        await session.send_events(started=[session.started(8, [0, 4], game_id="game-1")])
        await session.send_events(started=[session.started(9, [0, 4], game_id="game-2")])
        await session.send_events(ended=[session.ended(8)])
        await session.begin(4)
        await session.receive_plays()
    assert bot.heard == [
        "started game-1 at ply 0",
        "started game-2 at ply 0",
        "started game-3 at ply 0",
        "ended game-3: None",
        "ended game-1: white wins by five",
        "started game-4 at ply 0",
    ]


async def test_impossible_game(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """A server that tells of what can't be is left, with the reason in the log."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        await session.send_events(started=[session.started(1, [3, 3])])
        session = await server.session()
        await session.welcome()
        variant = game_pb2.Variant(width=2)
        await session.send_events(started=[session.started(1, variant=variant)])
        await server.session()
    assert "d15 is occupied" in caplog.text
    assert "width 2 is out of range" in caplog.text


async def test_notice_is_logged(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """A refused action shows up in the log."""
    async with server.connect(FirstCellBot()):
        session = await server.session()
        await session.welcome()
        await session.send_events(notices=[session.notice("ply 3 has gone by")])
        await session.send_ping(1)
        await session.receive()
    assert "ply 3 has gone by" in caplog.text


def test_class_instead_of_instance() -> None:
    """Forgetting the parentheses is answered with what is missing."""
    with pytest.raises(TypeError, match="give an instance"):
        Client(FirstCellBot)  # type: ignore[arg-type]
