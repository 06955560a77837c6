"""Bytes that are nearly requests: every method's messages, and what is made of them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from tests.fuzz.mutation import ODD_TEXT, mutated, mutated_text

from meijin.game import GOMOKU, RULES, TimeControl, encode_moves
from meijin.server.api.answers.pages import number, page_key, page_size
from meijin.server.api.calls.interceptor import Undecoded, _tolerant, check_decoded
from meijin.server.api.services.analysis import search_from_proto, time_from_proto
from meijin.server.api.services.tournaments import settings_from_proto
from meijin.server.errors import InvalidRequestError, MeijinError
from meijin.server.match.wire import command_from_proto, hello_from_proto
from meijin.server.settings import Settings
from meijin.server.tournaments.creation import Creator, _check_room
from meijin.store import Database
from meijin.store.access.audit import Actor
from meijin.store.bots import add_bot
from meijin.store.errors import RowNotFoundError
from meijin.v1 import analysis_service_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import Capabilities
from meijin.wire.contract import MAX_MESSAGE_BYTES
from meijin.wire.methods import contract_methods
from meijin.wire.values import time_control_to_proto, variant_to_proto

SEED = int(os.environ.get("MEIJIN_FUZZ_SEED", "1"))
ROUNDS = int(os.environ.get("MEIJIN_FUZZ_ROUNDS", "10000"))

METHODS = list(contract_methods())
NUMBERS = (0, 1, 2, 3, 5, 7, 15, 19, 22, 23, 60, 100, 1000, 2**16, 2**31 - 1)
MAX_DEPTH = 3
TYPE = FieldDescriptor
SMALLEST = {TYPE.TYPE_INT32: -(2**31), TYPE.TYPE_SINT32: -(2**31), TYPE.TYPE_INT64: -(2**63)}
SETTINGS = tournament_service_pb2.TournamentSettings(
    bots=("ada", "bob"),
    rounds=2,
    variant=variant_to_proto(GOMOKU),
    time_control=time_control_to_proto(TimeControl.parse("60+0.5")),
)
"""Of a tournament that can be played."""


def filled(message: Message, rng: random.Random, share: float, depth: int = 0) -> Message:
    """Give a message odd values in a share of its fields."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() > share:
            continue
        if field.is_repeated:
            part = getattr(message, field.name)
            for _ in range(rng.randrange(4)):
                entry = field.message_type
                if entry is not None and entry.GetOptions().map_entry:
                    key = _value(entry.fields_by_name["key"], rng)
                    filled(part[key], rng, share, depth + 1)
                elif entry is not None:
                    filled(part.add(), rng, share, depth + 1)
                else:
                    part.append(_value(field, rng))
        elif field.type != TYPE.TYPE_MESSAGE:
            setattr(message, field.name, _value(field, rng))
        elif depth < MAX_DEPTH:
            filled(getattr(message, field.name), rng, share, depth + 1)
            getattr(message, field.name).SetInParent()
    return message


def _value(field: Any, rng: random.Random) -> Any:
    kind = field.type
    if kind == TYPE.TYPE_STRING:
        return rng.choice(("", "ada", "bob", "1", "h8 i9", *ODD_TEXT))
    if kind == TYPE.TYPE_BYTES:
        return rng.randbytes(rng.randrange(40))
    if kind == TYPE.TYPE_BOOL:
        return rng.random() < 0.5
    if kind == TYPE.TYPE_ENUM:
        return rng.choice((0, 1, 2, 3, 99))
    if kind in {TYPE.TYPE_DOUBLE, TYPE.TYPE_FLOAT}:
        return rng.choice((0.0, -1.0, 0.05, 1.0, 1e300, float("inf"), float("nan")))
    return rng.choice((*NUMBERS, SMALLEST.get(kind, 0)))


def requests(good: Message, rounds: int) -> Iterator[tuple[bytes, Message]]:
    """Mutated bytes of a message, and what the server makes of those that it can decode."""
    rng = random.Random(SEED)
    deserialize: Callable[[bytes], Any] = _tolerant(type(good).FromString, MAX_MESSAGE_BYTES)
    for _ in range(rounds):
        message = type(good)()
        message.CopyFrom(good)
        data = filled(message, rng, rng.choice((0.1, 0.6))).SerializeToString()
        if rng.random() < 0.5:
            data = mutated(data, rng)
        request = deserialize(data)
        if isinstance(request, Undecoded):
            with pytest.raises(InvalidRequestError, match="can't be decoded"):
                check_decoded(request)
        else:
            yield data, request


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name)
def test_bytes_are_a_request_or_refused(method: MethodDescriptor) -> None:
    """No bytes raise anything in a method's deserialiser; what it gives can be written again."""
    print(f"seed {SEED}")
    decoded = 0
    for _, request in requests(GetMessageClass(method.input_type)(), ROUNDS // 10):
        decoded += 1
        assert type(request).FromString(request.SerializeToString()) is not None
    assert decoded > ROUNDS // 30


def assert_read_or_refused(
    good: Message,
    convert: Callable[[Any], object],
    outcomes: str,
    allowed: tuple[type[Exception], ...] = (MeijinError,),
) -> None:
    """Have mutated messages read: each outcome comes, and any other exception is a defect."""
    found: set[str] = set()
    for data, request in requests(good, ROUNDS):
        try:
            convert(request)
        except allowed as error:
            found.add(type(error).__name__)
        except Exception as error:
            raise AssertionError(f"seed {SEED}: {type(good).__name__} {data.hex()}") from error
        else:
            found.add("accepted")
    assert found >= {"accepted", "InvalidRequestError", *outcomes.split()}, found


def read_hello(request: pb.PlayRequest) -> None:
    request.hello.protocol_version = 1
    dict(hello_from_proto(request).known_games)


def read_positions(request: analysis_service_pb2.EvaluateRequest) -> None:
    """Whatever their boards, their moves and the limits of their searches are."""
    able = Capabilities(rules=tuple(RULES.values()), min_size=3, max_size=22, any_line=True)
    time = time_from_proto(request)
    for index in range(len(request.positions)):
        search_from_proto(request, index, time, able)


POSITION = analysis_service_pb2.EvaluatedPosition(moves=encode_moves((7, 8)))


@pytest.mark.parametrize(
    ("good", "convert", "outcomes"),
    [
        (pb.PlayRequest(), read_hello, ""),
        (pb.PlayRequest(), lambda each: command_from_proto(each, 5), "TooManyActionsError"),
        (
            analysis_service_pb2.EvaluateRequest(bot="ada", positions=[POSITION]),
            read_positions,
            "",
        ),
    ],
    ids=["hello", "command", "positions"],
)
def test_messages_are_read_or_refused(
    good: Message, convert: Callable[[Any], object], outcomes: str
) -> None:
    assert_read_or_refused(good, convert, outcomes)


def test_tournaments_are_planned_or_refused(tmp_path: Path) -> None:
    """Variants, time controls, formats with their options, openings, names and numbers of games."""
    now = datetime.now(UTC)
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        for name in ("ada", "bob"):
            database.write(add_bot, name=name, now=now, is_open=True)

        actor = Actor(None, "CreateTournament", "ipv4:127.0.0.1:7", "1")
        nowhere: Any = None
        creator = Creator(nowhere, Settings.model_construct())

        def plan(message: tournament_service_pb2.TournamentSettings) -> None:
            settings = settings_from_proto(message)
            _check_room(settings, "")
            database.read(creator._plan, settings, "", actor, owner_id=None, here=frozenset())

        assert_read_or_refused(SETTINGS, plan, "RowNotFoundError", (MeijinError, RowNotFoundError))


def test_tokens_of_pages_and_ids_are_read_or_refused() -> None:
    """Whatever text they are, and whatever size is asked for."""
    rng = random.Random(SEED)
    found: set[str] = set()
    for _ in range(ROUNDS):
        token = mutated_text(rng.choice(("", "1", "123456789012345678", "ada")), rng)
        try:
            assert page_key(token) in {None, int(token or 0)}
            assert number(token or "0", "game_id") >= 0
            assert page_size(rng.choice(NUMBERS)) <= 1000
        except (InvalidRequestError, RowNotFoundError) as error:
            found.add(type(error).__name__)
        else:
            found.add("accepted")
    assert found == {"accepted", "InvalidRequestError"}
