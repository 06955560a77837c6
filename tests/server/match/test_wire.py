"""The play stream's messages, read and made."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.rows import live_game

from meijin.game import Seat, encode_moves
from meijin.server.errors import InvalidRequestError, ProtocolError, TooManyActionsError
from meijin.server.match import wire
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
from meijin.store.access.versions import EngineRow
from meijin.store.schema import BotId, GameId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import (
    MAX_GAMES_AT_ONCE,
    MAX_HARDWARE,
    MAX_MEMORY_BYTES,
    MAX_NODES_PER_SECOND,
    MAX_THREADS,
    PROTOCOL_VERSION,
)

ADA = Participant(BotId(1), "ada")


def hello(**fields: Any) -> Hello:
    message = pb.Hello(**{"protocol_version": PROTOCOL_VERSION, **fields})
    return hello_from_proto(pb.PlayRequest(hello=message))


def events(**fields: Any) -> pb.Events:
    (message,) = delivery_to_proto(Delivery(**fields), ADA)
    return message.events


# -- the hello ----------------------------------------------------------------------


def test_a_hello_is_read_whole() -> None:
    """Who comes, what it is, what it can play, and which stream it goes on with."""
    found = hello(
        bot_name="ada",
        engine=pb.Engine(version="1.4"),
        capabilities=pb.Capabilities(max_games=3),
        resume_session_id="x",
        hardware=" EPYC\n7B13\x1b[2J\u202e ",
        threads=MAX_THREADS,
        memory_bytes=MAX_MEMORY_BYTES,
    )
    assert (found.bot_name, found.resume_session_id) == ("ada", "x")
    assert found.engine == EngineRow("1.4", "version:1.4", (), "EPYC 7B13[2J", 0, 2**16, 2**50)
    assert (hello().engine.threads, hello().engine.memory_bytes) == (None, None)
    assert found.capabilities.max_games == 3


def test_known_games_are_read_where_they_are_looked_up() -> None:
    """By their ids; what can be no id is no game, and what was not told is not made up."""
    told = dict.fromkeys(("", "x", "-4", "012", "\u0661", "9" * 20), pb.KnownGame())
    told["12"] = pb.KnownGame(ply=3, moves_crc=7, answered_crc=0)
    told["13"] = pb.KnownGame(ply=1, moves_crc=8)
    found = hello(known_games=told).known_games
    assert found.get(GameId(14)) is None
    assert dict(found) == {12: KnownGame(3, 7, 0), 13: KnownGame(1, 8, None)}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"goodbye": pb.Goodbye()}, "must be a hello"),
        (
            {"hello": pb.Hello(protocol_version=2, engine=pb.Engine(version="x" * 99))},
            "speaks protocol 1, you sent 2",
        ),
    ],
)
def test_the_first_message_is_a_hello_of_our_protocol(message: Any, words: str) -> None:
    """Nothing else is looked at before."""
    with pytest.raises(ProtocolError, match=words):
        hello_from_proto(pb.PlayRequest(**message))


def test_an_engine_without_a_digest_is_told_by_its_version() -> None:
    """What would be obeyed by a terminal is taken out of its configuration."""
    said = pb.Engine(version="1.4", configuration=["a\tb", "\x1b[31mred\u202c"])
    assert engine_from_proto(said) == EngineRow("1.4", "version:1.4", ("a b", "[31mred"))
    assert engine_from_proto(pb.Engine(version="1.4", digest="x")).digest == "x"
    assert engine_from_proto(pb.Engine()) == EngineRow("", "version:", ())


TOO_MUCH: dict[str, dict[str, Any]] = {
    "threads 0 is not in 1 to 65536; leave out what isn't known": {"threads": 0},
    "threads 65537 is not in 1 to 65536": {"threads": MAX_THREADS + 1},
    "memory_bytes 0 is not in 1": {"memory_bytes": 0},
    "memory_bytes 1125899906842625 is not in 1": {"memory_bytes": MAX_MEMORY_BYTES + 1},
    "hardware is longer than 80 characters": {"hardware": "é" * MAX_HARDWARE + "x"},
    "nodes_per_second 1000000000001 is above": {"nodes_per_second": MAX_NODES_PER_SECOND + 1},
    "capabilities: max_games 10001 is above 10000": {
        "capabilities": pb.Capabilities(max_games=MAX_GAMES_AT_ONCE + 1)
    },
    "engine.version is longer than 40 characters": {"engine": pb.Engine(version="x" * 41)},
    "engine.digest is longer than 64 characters": {"engine": pb.Engine(digest="x" * 65)},
    "engine.version: character 2 is a control": {"engine": pb.Engine(version="2\x1b[2J")},
    "engine.version: character 1 is a control": {"engine": pb.Engine(version="\u202e2")},
    "engine.digest: character 2 is a control": {"engine": pb.Engine(digest="a\nb")},
    "engine.configuration has 65 entries; at most 64": {
        "engine": pb.Engine(configuration=["x"] * 65)
    },
    "engine.configuration: an entry is longer than 500 characters": {
        "engine": pb.Engine(configuration=["x" * 501])
    },
    "engine.configuration has 5000 bytes; at most 4096": {
        "engine": pb.Engine(configuration=["é" * 500] * 5)
    },
}


@pytest.mark.parametrize("words", TOO_MUCH)
def test_what_a_bot_says_of_itself_is_bounded(words: str) -> None:
    """More than the most is refused by name."""
    with pytest.raises(InvalidRequestError, match=f"^{words}"):
        hello(**TOO_MUCH[words])


def test_the_most_that_a_bot_may_say_is_read() -> None:
    most = pb.Engine(version="é" * 40, digest="d" * 64, configuration=["x" * 500] * 8 + ["x"] * 56)
    assert hello(
        engine=most,
        hardware="é" * MAX_HARDWARE,
        nodes_per_second=MAX_NODES_PER_SECOND,
        capabilities=pb.Capabilities(max_games=MAX_GAMES_AT_ONCE),
    )


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
            (6, 7, 8, {"depth": 9, "pv": []}, 10),
        ],
        resigns=[1],
        failures=[
            Failure(2, "out of memory", is_suppliers=False),
            Failure(3, "no licence", is_suppliers=True),
        ],
    )


def test_a_pong_and_a_goodbye_are_commands() -> None:
    """Anything else is refused by its name."""
    assert command_from_proto(pb.PlayRequest(pong=pb.Pong(sequence=7)), 0) == Pong(7)
    assert isinstance(command_from_proto(pb.PlayRequest(goodbye=pb.Goodbye()), 0), Goodbye)
    for other, name in ((None, "an empty message"), (pb.Hello(), "hello")):
        with pytest.raises(InvalidRequestError, match=f"^{name} is not expected here"):
            command_from_proto(pb.PlayRequest(hello=other), 0)


@pytest.mark.parametrize(
    "kind",
    [
        each.name
        for each in pb.Actions.DESCRIPTOR.fields
        if each.name not in {"evaluations", "ready"}
    ],
)
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
    numbers = {"score": -(2**31), "depth": 2**32 - 1, "nodes": 2**64 - 1}
    assert analysis_from_proto(pb.Analysis(**numbers, pv=b"\1\0\2")) == {**numbers, "pv": [1]}


# -- deliveries ---------------------------------------------------------------------


def test_the_messages_come_in_order() -> None:
    """The welcome, what is told of games, the ping, and that the server stops; nothing is none."""
    whole = Delivery(
        welcome=Welcome("x", "ada", 1500, 2),
        turns=[(live_game(1, 12), 58_999_999_999)],
        ping=4,
        is_draining=True,
    )
    first = pb.Welcome(session_id="x", bot_name="ada", grace_ms=1500, running_games=2)
    turn = pb.TurnRequested(
        game=1, ply=1, moves=encode_moves((12,)), own_clock_ms=58_999, opponent_clock_ms=60_000
    )
    assert delivery_to_proto(whole, ADA) == [
        pb.PlayResponse(welcome=first),
        pb.PlayResponse(events=pb.Events(turns=[turn])),
        pb.PlayResponse(ping=pb.Ping(sequence=4)),
        pb.PlayResponse(draining=pb.Draining()),
    ]
    assert delivery_to_proto(Delivery(), ADA) == []


def test_a_turn_tells_what_the_last_answer_was_charged() -> None:
    """That of the seat which is to move, in microseconds rounded down."""
    game = live_game(1, 12, 13)
    game.arbiter.credits[Seat.FIRST].charge = 5_999, 2_000, 3_001
    game.arbiter.credits[Seat.SECOND].charge = 1, 1, 1
    (turn,) = events(turns=[(game, 0)]).turns
    assert turn.charge == pb.Charge(raw_us=5, lag_us=2, charged_us=3)


@pytest.mark.parametrize("reason", NoticeReason)
def test_every_reason_of_a_notice_has_its_value(reason: NoticeReason) -> None:
    value = pb.NoticeReason.Value(f"NOTICE_REASON_{reason.name}")
    told = pb.Notice(game=1, ply=2, reason=value, detail="why")
    assert list(events(notices=[Notice(1, 2, reason, "why")]).notices) == [told]
