"""Messages that are full: every field of them set, to look at pages of whatever there may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from tests.web.addresses import OWN_PAGES, PAGES

from meijin.game import encode_moves
from meijin.v1 import game_pb2, token_service_pb2

PACKAGE = "meijin.v1."
MOVES = (24, 25, 17)
FIT = {"day": "2026-01-02", "next_page_token": "", "webhook_id": "3"}
"""Texts that have a form, by their fields."""
PLACES = dict.fromkeys(
    (
        "game",
        "faulty_game",
        "swapped_game",
        "live_game",
        "program",
        "open_program",
        "tournament",
        "bracket",
        "test",
        "live",
    ),
    "3",
) | dict.fromkeys(
    ("bot", "other_bot", "failing_bot", "hosted_bot", "ladder", "school_class"), "ada"
)
"""What stands for the names in braces of an address."""
FORMS = [form for table in (PAGES, OWN_PAGES) for forms in table.values() for form in forms]

BOT_FIELDS = {"bot", "bots", "black", "white", "opponent", "challenger", "first", "second"}
"""That hold the names of bots, in whatever message."""

Text = Callable[[str], str]
"""The text of a field, such as ``Bot.name``."""


def _known(text: Text) -> Mapping[str, Message]:
    """Messages whose fields have to fit together."""
    return {
        "Variant": game_pb2.Variant(width=7, height=7, line=5),
        "Outcome": game_pb2.Outcome(
            winner=game_pb2.COLOR_BLACK, ending=game_pb2.ENDING_FIVE, detail=text("Outcome.detail")
        ),
        "Token": token_service_pb2.Token(
            kind=token_service_pb2.TOKEN_KIND_OPERATOR, owner=text("Token.owner")
        ),
    }


def fill(message: Message, text: Text, depth: int = 0) -> None:
    """Set every field, with one message in each list."""
    for field in cast("Descriptor", message.DESCRIPTOR).fields:
        if field.message_type is None:
            value = _scalar(field, text)
            if field.is_repeated:
                getattr(message, field.name).extend([value, value])
            else:
                setattr(message, field.name, value)
        elif depth < 5 and not field.message_type.GetOptions().map_entry:
            inner = getattr(message, field.name)
            _fill_message(inner.add() if field.is_repeated else inner, text, depth + 1)


def _fill_message(inner: Message, text: Text, depth: int) -> None:
    name = inner.DESCRIPTOR.full_name
    known = _known(text).get(inner.DESCRIPTOR.name)
    if known is not None:
        inner.CopyFrom(known)
    elif name == "google.protobuf.Struct":
        cast("Any", inner).update(
            {text("Struct.key"): text("Struct.value"), "list": [text("Struct.value")]}
        )
    elif name.startswith("google."):
        cast("Any", inner).seconds = 1_790_000_000 if name.endswith("Timestamp") else 60
    else:
        fill(inner, text, depth)


def _scalar(field: FieldDescriptor, text: Text) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return (
                FIT[field.name]
                if field.name in FIT
                else text(field.full_name.removeprefix(PACKAGE))
            )
        case FieldDescriptor.TYPE_BYTES:
            return encode_moves(MOVES)
        case FieldDescriptor.TYPE_ENUM:
            return field.enum_type.values[-1].number if field.enum_type else 0
        case FieldDescriptor.TYPE_BOOL:
            return field.name != "more"
    return 1


def filled(message: Message, text: Text) -> Message:
    """A message that is full, with games that can have been."""
    fill(message, text)
    for game in [getattr(message, "game", None), *(getattr(message, "games", None) or ())]:
        if isinstance(game, game_pb2.Game):
            game.state = game_pb2.GAME_STATE_FINISHED
            del game.moves[:]
            game.moves.extend(game_pb2.Move(cell=cell) for cell in MOVES)
            game.opening_plies, game.ply = 0, len(MOVES)
            game.ClearField("decisions")
    return message
