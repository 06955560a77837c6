"""Messages as JSON: what differs from protobuf's own mapping, and back again."""

from __future__ import annotations

import json
from random import Random
from typing import Any, cast

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import encode_moves
from meijin.v1 import fault_service_pb2, game_pb2, opening_service_pb2, webhook_service_pb2
from meijin.v1.challenge_service_pb2 import ChallengeSettings
from meijin.v1.owner_service_pb2 import CreateInvitationRequest
from meijin.web.api.methods import METHODS
from meijin.wire.json import Form, form_of, json_fields, json_object, message_of, struct_object

LATER = cast("game_pb2.Ending.ValueType", 99)
"""An ending that a later release has added."""

KINDS = [kind for method in METHODS for kind in (method.request, method.response)]


def move(cell: int, **fields: Any) -> game_pb2.Move:
    return game_pb2.Move(cell=cell, raw_time=Duration(nanos=113_000_000), **fields)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            game_pb2.Outcome(ending=game_pb2.ENDING_FIVE),
            {"winner": None, "ending": "five", "at_fault": None, "detail": ""},
        ),
        (
            game_pb2.Outcome(ending=LATER),
            {"winner": None, "ending": 99, "at_fault": None, "detail": ""},
        ),
        (move(112), {"cell": "h8", "raw_time_seconds": 0.113}),
        (game_pb2.MoveAnalysis(depth=0, nodes=2**62), {"depth": 0, "nodes": 2**62, "pv": []}),
        (game_pb2.MoveAnalysis(pv=encode_moves([0, 224])), {"pv": ["a15", "o1"]}),
        (
            webhook_service_pb2.CreateWebhookRequest(
                events=[webhook_service_pb2.WEBHOOK_EVENT_GAME_ENDED]
            ),
            {"url": "", "format": None, "events": ["game.ended"]}
            | {"bot": "", "tournament_id": "", "ladder": ""},
        ),
    ],
)
def test_spelling(message: Message, found: object) -> None:
    """Cells are names, durations numbers, enums words, and what says nothing is null."""
    assert json_object(message) == found


def test_cells_are_named_by_their_board() -> None:
    """The same cell has another name on another board; absent sides are of 15."""
    variant = game_pb2.Variant(width=5, height=7)
    assert json_object(game_pb2.Game(variant=variant, moves=[move(5)]))["moves"] == [
        {"cell": "a6", "raw_time_seconds": 0.113}
    ]
    explored = opening_service_pb2.ExploreResponse(
        variant=game_pb2.Variant(height=20),
        continuations=[opening_service_pb2.Continuation(cell=0, same_cells=encode_moves([14]))],
    )
    continuations: Any = json_object(explored)["continuations"]
    assert (continuations[0]["cell"], continuations[0]["same_cells"]) == ("a20", ["o20"])


def test_struct_has_whole_numbers() -> None:
    struct = Struct()
    struct.update({"games": 2000, "share": 0.5, "of": [1, {"two": 2}]})
    assert str(struct_object(struct)["of"]) == "[1, {'two': 2}]"
    found = json_object(fault_service_pb2.Fault(evidence=struct))["evidence"]
    assert (
        json.dumps(found, sort_keys=True) == '{"games": 2000, "of": [1, {"two": 2}], "share": 0.5}'
    )


def test_bytes_are_cells() -> None:
    """The converter takes all bytes for cells: none of what is offered are others, or a map."""
    for kind in KINDS:
        for field in _fields_within(kind.DESCRIPTOR, set()):
            assert field.message_type is None or not field.message_type.GetOptions().map_entry
            if field.type == FieldDescriptor.TYPE_BYTES:
                assert field.name in {"moves", "pv", "same_cells", "openings"}, field.full_name


def _fields_within(kind: Any, seen: set[Any]) -> list[Any]:
    seen.add(kind)
    inner = [
        each.message_type
        for each in kind.fields
        if form_of(each) is Form.OBJECT and each.message_type not in seen
    ]
    return [*kind.fields, *(found for each in inner for found in _fields_within(each, seen))]


@given(st.sampled_from(KINDS), st.randoms(use_true_random=False))
def test_what_is_written_is_read(kind: type[Message], rng: Random) -> None:
    """Any message that the API takes or answers comes back as it was."""
    message = random_message(kind, rng)
    assert message_of(kind, json.loads(json.dumps(json_object(message)))) == message


def random_message(kind: type[Message], rng: Random, depth: int = 4) -> Message:
    """A message with some of its fields; its cells are on the smallest of its boards."""
    message = kind()
    for field in json_fields(kind.DESCRIPTOR).values():
        if rng.random() < 0.5 and (depth or form_of(field) is not Form.OBJECT):
            _fill(message, field, rng, depth)
    return message


def _fill(message: Message, field: FieldDescriptor, rng: Random, depth: int) -> None:
    if field.is_repeated:
        values = getattr(message, field.name)
        if field.message_type is not None:
            for _ in range(2):
                inner = values.add()
                inner.CopyFrom(_submessage(inner, field, rng, depth))
        else:
            values.extend(_scalar(field, rng) for _ in range(2))
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        inner.CopyFrom(_submessage(inner, field, rng, depth))
    else:
        setattr(message, field.name, _scalar(field, rng))


def _submessage(inner: Any, field: FieldDescriptor, rng: Random, depth: int) -> Message:
    found: Any = type(inner)()
    match form_of(field):
        case Form.SECONDS:
            found.FromNanoseconds(rng.randrange(10**15))
        case Form.TIME:
            found.FromNanoseconds(rng.randrange(2**60))
        case Form.STRUCT:
            found.update({"games": 3, "words": ["a", 0.5]})
        case _ if field.name == "variant":
            found.width, found.height = rng.choice([0, 17, 22]), rng.choice([0, 16])
        case _:
            found = random_message(type(inner), rng, depth - 1)
    return found  # type: ignore[no-any-return]


def _scalar(field: FieldDescriptor, rng: Random) -> Any:
    form = form_of(field)
    if form is Form.CELLS:
        return encode_moves(rng.sample(range(225), 3))
    if form is Form.WORD:
        assert field.enum_type is not None
        known = [each.number for each in field.enum_type.values if each.number]
        return rng.choice(known if field.is_repeated or field.has_presence else [0, *known])
    values = {
        FieldDescriptor.TYPE_STRING: rng.choice(["", "ada", "\N{SNOWMAN}"]),
        FieldDescriptor.TYPE_BOOL: rng.random() < 0.5,
        FieldDescriptor.TYPE_DOUBLE: rng.uniform(-1e6, 1e6),
        FieldDescriptor.TYPE_UINT64: rng.randrange(2**63),
    }
    return rng.randrange(225) if form is Form.CELL else values.get(field.type, rng.randrange(2**31))


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (game_pb2.Move, {"cell": "z9"}, "off the 15x15 board"),
        (game_pb2.Move, {"cell": 112}, "is no cell"),
        (game_pb2.Move, {"rawTime": 1}, 'no field "rawTime"; there are: cell, raw_time_seconds'),
        (game_pb2.Move, {"raw_time_seconds": "1s"}, "raw_time_seconds is a number"),
        (game_pb2.Move, {"raw_time_seconds": True}, "raw_time_seconds is a number"),
        (game_pb2.Move, {"raw_time_seconds": float("inf")}, "raw_time"),
        (game_pb2.Game, {"state": "GAME_STATE_VOID"}, "there are: running, finished, void"),
        (game_pb2.Game, {"state": 2}, "state can't be '2'"),
        (game_pb2.Game, {"variant": {"width": "x"}, "moves": []}, "width"),
        (game_pb2.Game, {"variant": {"width": 4000}, "moves": []}, "width 4000 is out of range"),
        (ChallengeSettings, {"openings": ["h8i9"]}, 'a list of cells, such as ["h8", "i9"]'),
        (game_pb2.Game, [], "Game is an object"),
        (game_pb2.Game, {"moves": [None]}, "Move is an object"),
        (CreateInvitationRequest, {"lifetime_seconds": 1e300}, "lifetime"),
        (CreateInvitationRequest, {"lifetime_seconds": 10**4000}, "too large"),
    ],
)
def test_what_cannot_be_read(kind: type[Message], value: object, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are below
        message_of(kind, value)
    assert words in str(caught.value)
