"""The play stream's messages, read and made."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from meijin.game import GOMOKU, Board, Clock, Seat, TimeControl, encode_moves
from meijin.server.errors import InvalidRequestError, ProtocolError, TooManyActionsError
from meijin.server.match import wire
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.live.commands import Actions, Failure, Goodbye, Hello, KnownGame, Pong
from meijin.server.match.live.live_game import Participant
from meijin.server.match.live.session import Delivery, Notice, NoticeReason, Welcome
from meijin.server.match.wire import (
    analysis_from_proto,
    command_from_proto,
    delivery_to_proto,
    engine_from_proto,
    hello_from_proto,
)
from meijin.store.bots import EngineRow
from meijin.store.schema import BotId, GameId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire import Capabilities
from meijin.wire.contract import (
    MAX_GAMES_AT_ONCE,
    MAX_HARDWARE,
    MAX_NODES_PER_SECOND,
    PROTOCOL_VERSION,
)

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame

ADA = Participant(BotId(1), "ada")


def game_after(*cells: int) -> LiveGame:
    """A game as far as a turn shows it, at the turn after these moves."""
    board = Board.from_moves(cells, GOMOKU)
    arbiter = Arbiter(board, Clock(TimeControl.parse("60")), grace_ns=0)
    return cast("LiveGame", SimpleNamespace(number=1, arbiter=arbiter))


# -- the hello ----------------------------------------------------------------------


def test_a_hello_is_read_whole() -> None:
    """Who comes, what it is, what it can play, and which stream it goes on with."""
    hello = pb.Hello(
        protocol_version=PROTOCOL_VERSION,
        bot_name="ada",
        engine=pb.Engine(version="1.4"),
        capabilities=pb.Capabilities(max_games=3),
        resume_session_id="x",
    )
    found = hello_from_proto(pb.PlayRequest(hello=hello))
    assert (found.bot_name, found.resume_session_id) == ("ada", "x")
    assert found.engine == EngineRow("1.4", "version:1.4", ())
    assert isinstance(found, Hello)
    assert isinstance(found.capabilities, Capabilities)
    assert found.capabilities.max_games == 3


def test_known_games_are_read_where_they_are_looked_up() -> None:
    """By their ids; what can be no id is no game, and what was not told is not made up."""
    told = {
        "12": pb.KnownGame(ply=3, moves_crc=7, answered_crc=0),
        "13": pb.KnownGame(ply=1, moves_crc=8),
        "": pb.KnownGame(),
        "x": pb.KnownGame(),
        "-4": pb.KnownGame(),
        "012": pb.KnownGame(),
        "\u0661": pb.KnownGame(),
        "9" * 20: pb.KnownGame(),
    }
    hello = pb.Hello(protocol_version=PROTOCOL_VERSION, known_games=told)
    found = hello_from_proto(pb.PlayRequest(hello=hello)).known_games
    assert found.get(GameId(12)) == KnownGame(3, 7, 0)
    assert found.get(GameId(13)) == KnownGame(1, 8, None)
    assert found.get(GameId(14)) is None
    assert dict(found) == {12: KnownGame(3, 7, 0), 13: KnownGame(1, 8, None)}


def test_the_first_message_is_a_hello() -> None:
    """Nothing else may be."""
    with pytest.raises(ProtocolError, match="must be a hello"):
        hello_from_proto(pb.PlayRequest(goodbye=pb.Goodbye()))


def test_another_protocol_is_told_so_before_anything_else() -> None:
    """Whatever its other fields mean there."""
    hello = pb.Hello(protocol_version=PROTOCOL_VERSION + 1, engine=pb.Engine(version="x" * 99))
    with pytest.raises(ProtocolError, match="speaks protocol 1, you sent 2"):
        hello_from_proto(pb.PlayRequest(hello=hello))


def test_an_engine_without_a_digest_is_told_by_its_version() -> None:
    """And one with a digest by that alone."""
    said = pb.Engine(version="1.4", configuration=["depth=4"])
    assert engine_from_proto(said) == EngineRow("1.4", "version:1.4", ("depth=4",))
    assert engine_from_proto(pb.Engine(version="1.4", digest="x")).digest == "x"
    assert engine_from_proto(pb.Engine()) == EngineRow("", "version:", ())


def test_the_longest_labels_fit() -> None:
    """Forty characters for people, sixty-four for machines."""
    engine = pb.Engine(version="é" * 40, digest="d" * 64)
    assert engine_from_proto(engine) == EngineRow("é" * 40, "d" * 64)


def test_hardware_is_one_short_line() -> None:
    """What would be obeyed by a terminal is taken out, and what is too long refused."""

    def read(text: str) -> str | None:
        hello = pb.Hello(protocol_version=PROTOCOL_VERSION, hardware=text)
        return hello_from_proto(pb.PlayRequest(hello=hello)).engine.hardware

    assert read("") == ""
    assert read(" EPYC\n7B13\x1b[2J\u202e ") == "EPYC 7B13[2J"
    assert read("é" * MAX_HARDWARE) == "é" * MAX_HARDWARE
    with pytest.raises(InvalidRequestError, match=r"^hardware is longer than 80 characters$"):
        read("x" * (MAX_HARDWARE + 1))


def test_a_machines_speed_is_bounded() -> None:
    """What is impossible is refused by name; nothing is told where it is 0."""

    def read(speed: int) -> int:
        hello = pb.Hello(protocol_version=PROTOCOL_VERSION, nodes_per_second=speed)
        return hello_from_proto(pb.PlayRequest(hello=hello)).engine.nodes_per_second

    assert read(0) == 0
    assert read(MAX_NODES_PER_SECOND) == MAX_NODES_PER_SECOND
    with pytest.raises(InvalidRequestError, match=r"^nodes_per_second 1000000000001 is above"):
        read(MAX_NODES_PER_SECOND + 1)


def test_games_at_once_are_bounded() -> None:
    """Two bots on a ladder would have the server play as many as both ask for."""

    def read(games: int) -> int:
        hello = pb.Hello(
            protocol_version=PROTOCOL_VERSION, capabilities=pb.Capabilities(max_games=games)
        )
        return hello_from_proto(pb.PlayRequest(hello=hello)).capabilities.max_games

    assert read(MAX_GAMES_AT_ONCE) == MAX_GAMES_AT_ONCE
    with pytest.raises(InvalidRequestError, match=r"^capabilities: max_games 10001 is above 10000"):
        read(MAX_GAMES_AT_ONCE + 1)


@pytest.mark.parametrize(
    ("engine", "field"),
    [(pb.Engine(version="x" * 41), "version"), (pb.Engine(digest="x" * 65), "digest")],
)
def test_a_label_that_is_too_long_is_named(engine: pb.Engine, field: str) -> None:
    """The caller learns which."""
    with pytest.raises(InvalidRequestError, match=rf"^engine\.{field} is longer"):
        engine_from_proto(engine)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (pb.Engine(version="2\x1b[2J"), "engine.version: character 2 is a control"),
        (pb.Engine(version="\u202e2"), "engine.version: character 1 is a control"),
        (pb.Engine(digest="a\nb"), "engine.digest: character 2 is a control"),
        (pb.Engine(configuration=["x"] * 65), "has 65 entries; at most 64"),
        (pb.Engine(configuration=["x" * 501]), "longer than 500 characters"),
        (pb.Engine(configuration=["é" * 500] * 5), "has 5000 bytes; at most 4096"),
    ],
)
def test_what_an_engine_says_of_itself_is_bounded(engine: pb.Engine, words: str) -> None:
    """It is kept for ever, and shown to everybody."""
    with pytest.raises(InvalidRequestError, match=words):
        engine_from_proto(engine)


def test_controls_in_a_configuration_are_taken_out() -> None:
    """It is free text, of one line an entry."""
    engine = pb.Engine(configuration=["a\tb", "\x1b[31mred\u202c"])
    assert engine_from_proto(engine).configuration == ("a b", "[31mred")


# -- commands -----------------------------------------------------------------------


def test_actions_are_plain_values() -> None:
    """Moves with and without analysis, resignations and failures, in their order."""
    message = pb.Actions(
        plays=[
            pb.Play(game=3, ply=4, cell=5),
            pb.Play(game=6, ply=7, cell=8, analysis=pb.Analysis(depth=9), thinking_us=10),
        ],
        resigns=[pb.Resign(game=1)],
        failures=[
            pb.Failure(game=2, message="out of memory"),
            pb.Failure(game=3, message="no licence", cause=pb.FAILURE_CAUSE_SUPPLIER),
        ],
    )
    assert command_from_proto(pb.PlayRequest(actions=message), 5) == Actions(
        plays=[
            (3, 4, 5, None, 0),
            (6, 7, 8, {"score": 0, "depth": 9, "nodes": 0, "pv": []}, 10),
        ],
        resigns=[1],
        failures=[
            Failure(2, "out of memory", is_suppliers=False),
            Failure(3, "no licence", is_suppliers=True),
        ],
    )


def test_a_pong_and_a_goodbye_are_commands() -> None:
    """Beside the actions there is nothing else."""
    assert command_from_proto(pb.PlayRequest(pong=pb.Pong(sequence=7)), 0) == Pong(7)
    assert isinstance(command_from_proto(pb.PlayRequest(goodbye=pb.Goodbye()), 0), Goodbye)


@pytest.mark.parametrize(
    ("request_", "name"),
    [(pb.PlayRequest(), "an empty message"), (pb.PlayRequest(hello=pb.Hello()), "hello")],
)
def test_anything_else_is_refused_by_name(request_: pb.PlayRequest, name: str) -> None:
    """A second hello too."""
    with pytest.raises(InvalidRequestError, match=f"^{name} is not expected here"):
        command_from_proto(request_, 0)


@pytest.mark.parametrize("kind", ["plays", "resigns", "failures"])
def test_too_many_actions_are_not_looked_at(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted all together; a message of as many as may be is read."""
    message = pb.Actions(plays=[pb.Play()], resigns=[pb.Resign()], failures=[pb.Failure()])
    assert command_from_proto(pb.PlayRequest(actions=message), 3)
    getattr(message, kind).add()
    monkeypatch.setattr(wire, "actions_from_proto", None)
    with pytest.raises(TooManyActionsError, match=r"^4 actions in a message, and games for 3"):
        command_from_proto(pb.PlayRequest(actions=message), 3)


def test_the_beginning_of_a_line_is_kept() -> None:
    """A bot can't fill the store with what it says it thinks, once for each of its moves."""
    kept = analysis_from_proto(pb.Analysis(pv=bytes(100_000)))
    assert kept["pv"] == [0] * 64


def test_what_a_bot_thought_is_kept_as_plain_numbers() -> None:
    """The largest ones too; half a cell at the end of the line is dropped."""
    said = pb.Analysis(score=-(2**31), depth=2**32 - 1, nodes=2**64 - 1, pv=b"\1\0\2")
    assert analysis_from_proto(said) == {
        "score": -(2**31),
        "depth": 2**32 - 1,
        "nodes": 2**64 - 1,
        "pv": [1],
    }


# -- deliveries ---------------------------------------------------------------------


def test_nothing_makes_no_message() -> None:
    """A delivery of nothing is not sent."""
    assert delivery_to_proto(Delivery(), ADA) == []


def test_the_messages_come_in_order() -> None:
    """The welcome, what is told of games, the ping, and that the server stops."""
    whole = Delivery(
        welcome=Welcome("x", "ada", timedelta(seconds=1.5), 2),
        turns=[(game_after(12), 58_999_999_999)],
        ping=4,
        is_draining=True,
    )
    welcome, events, ping, draining = delivery_to_proto(whole, ADA)
    assert welcome.welcome == pb.Welcome(
        session_id="x", bot_name="ada", grace_ms=1500, running_games=2
    )
    (turn,) = events.events.turns
    assert turn == pb.TurnRequested(
        game=1, ply=1, moves=encode_moves((12,)), own_clock_ms=58_999, opponent_clock_ms=60_000
    )
    assert ping.ping.sequence == 4
    assert draining.WhichOneof("fact") == "draining"


def test_a_turn_tells_what_the_last_answer_was_charged() -> None:
    """That of the seat which is to move, in microseconds rounded down."""
    game = game_after(12, 13)
    game.arbiter.credits[Seat.FIRST].charge = 5_999, 2_000, 3_001
    game.arbiter.credits[Seat.SECOND].charge = 1, 1, 1
    (message,) = delivery_to_proto(Delivery(turns=[(game, 0)]), ADA)
    (turn,) = message.events.turns
    assert turn.charge == pb.Charge(raw_us=5, lag_us=2, charged_us=3)


@pytest.mark.parametrize("reason", NoticeReason)
def test_every_reason_of_a_notice_has_its_value(reason: NoticeReason) -> None:
    """By its name."""
    (message,) = delivery_to_proto(Delivery(notices=[Notice(1, 2, reason, "why")]), ADA)
    (notice,) = message.events.notices
    assert pb.NoticeReason.Name(notice.reason) == f"NOTICE_REASON_{reason.name}"
    assert (notice.game, notice.ply, notice.detail) == (1, 2, "why")


def test_the_terms_of_a_tournament_are_made_once() -> None:
    """Ten microseconds a game otherwise."""
    control = TimeControl.parse("60")
    assert wire._terms(GOMOKU, control, control) is wire._terms(GOMOKU, control, control)
