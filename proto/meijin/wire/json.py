"""Messages as JSON, in the one spelling of the JSON API, of webhooks, of files and of ``--json``.

Names are the contract's. A field without presence is there with its default, and one with presence
is absent where it is not set. It differs from protobuf's own mapping in this:

- a cell is its name, such as ``h8``; bytes, which hold nothing but cells, are a list of them
- a duration is a number, and ``_seconds`` ends its name
- an enum's value is its word, such as ``finished``, and ``null`` where nothing is said
- a number of 64 bits is a number
"""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import cache
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from meijin.game import GOMOKU, Variant, decode_moves, encode_moves
from meijin.game.board.coordinates import cell_name, parse_cell
from meijin.game.rules.variant import MIN_LINE
from meijin.v1 import game_pb2, webhook_service_pb2
from meijin.wire.enums import name_prefix

M = TypeVar("M", bound=Message)

SECONDS = "_seconds"
"""How the name of a duration ends."""

CELLS = frozenset({"cell", "offered"})
"""The numbers that are cells, by the names of their fields."""

DOTTED = webhook_service_pb2.WebhookEvent.DESCRIPTOR
"""The enum whose words are written as Standard Webhooks has them, ``game.ended``."""


class Form(Enum):
    """How a value is written."""

    PLAIN = auto()
    """As protobuf's own mapping has it, but numbers of 64 bits as numbers."""
    WORD = auto()
    CELL = auto()
    CELLS = auto()
    SECONDS = auto()
    TIME = auto()
    """RFC 3339."""
    STRUCT = auto()
    OBJECT = auto()
    """A message of the contract."""


_WELL_KNOWN = {
    "google.protobuf.Duration": Form.SECONDS,
    "google.protobuf.Struct": Form.STRUCT,
    "google.protobuf.Timestamp": Form.TIME,
}


def form_of(field: FieldDescriptor) -> Form:
    """How a field's value is written, or each of several."""
    if field.message_type is not None:
        return _WELL_KNOWN.get(field.message_type.full_name, Form.OBJECT)
    if field.enum_type is not None:
        return Form.WORD
    if field.type == field.TYPE_BYTES:
        return Form.CELLS
    return Form.CELL if field.name in CELLS else Form.PLAIN


@cache
def json_fields(kind: Descriptor) -> Mapping[str, FieldDescriptor]:
    """The fields of a message by their names in JSON."""
    return {field.name + SECONDS * (form_of(field) is Form.SECONDS): field for field in kind.fields}


@cache
def enum_words(kind: EnumDescriptor) -> Mapping[int, str]:
    """The word of each value, without the zero that says nothing."""
    start, mark = len(name_prefix(kind)), "." if kind is DOTTED else "_"
    return {
        value.number: value.name[start:].lower().replace("_", mark)
        for value in kind.values
        if value.number
    }


def json_object(message: Message, board: Variant = GOMOKU) -> dict[str, object]:
    """A message as JSON.

    Args:
        board: Where its cells are, unless the message says what is played.
    """
    if "variant" in message.DESCRIPTOR.fields_by_name and message.HasField("variant"):
        board = board_of(message.variant)  # type: ignore[attr-defined]
    found: dict[str, object] = {}
    for name, field in json_fields(message.DESCRIPTOR).items():
        if field.has_presence and not message.HasField(field.name):
            continue
        value, write = getattr(message, field.name), _WRITERS[form_of(field)]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            found[name] = dict(value)
        elif field.is_repeated:
            found[name] = [write(each, field, board) for each in value]
        else:
            found[name] = write(value, field, board)
    return found


def cell_names(moves: bytes, board: Variant) -> list[str]:
    """The cells of bytes of the contract."""
    return [cell_name(cell, board) for cell in decode_moves(moves)]


def struct_object(struct: Struct) -> dict[str, Any]:
    """A struct as JSON; it keeps all numbers as floats, and whole ones are none here."""
    return {name: _whole(value) for name, value in json_format.MessageToDict(struct).items()}


def _whole(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {name: _whole(each) for name, each in value.items()}
        case _:
            return value


_WRITERS: Mapping[Form, Callable[[Any, FieldDescriptor, Variant], object]] = {
    Form.PLAIN: lambda value, _field, _board: value,
    Form.WORD: lambda value, field, _: enum_words(field.enum_type).get(value, value or None),
    Form.CELL: lambda value, _, board: cell_name(value, board),
    Form.CELLS: lambda value, _, board: cell_names(value, board),
    Form.SECONDS: lambda value, _field, _board: value.ToNanoseconds() / 1e9,
    Form.TIME: lambda value, _field, _board: value.ToJsonString(),
    Form.STRUCT: lambda value, _field, _board: struct_object(value),
    Form.OBJECT: lambda value, _, board: json_object(value, board),
}


def json_text(message: Message) -> str:
    """A message in one line."""
    return json.dumps(json_object(message), ensure_ascii=False, separators=(",", ":"))


def message_of(kind: type[M], value: object) -> M:
    """The message that `json_object` has written, or that a request says; ``null`` is not said.

    Raises:
        ValueError: a field is unknown, or has a value that it can't have.
    """
    try:
        return json_format.ParseDict(_read_object(value, kind.DESCRIPTOR, GOMOKU), kind())
    except (json_format.Error, OverflowError) as error:
        raise ValueError(str(error)) from None


def _read_object(value: object, kind: Any, board: Variant) -> dict[str, Any]:  # noqa: ANN401 - as in `methods`
    """An object as protobuf's own mapping has it, which tells what else can't be."""
    if not isinstance(value, dict):
        raise ValueError(f"{kind.name} is an object")  # noqa: TRY004 - a request is wrong
    if "variant" in kind.fields_by_name and isinstance(variant := value.get("variant"), dict):
        board = board_of(message_of(game_pb2.Variant, variant))
    found: dict[str, object] = {}
    for name, given in value.items():
        field = json_fields(kind).get(name)
        if field is None:
            known = ", ".join(json_fields(kind)) or "none"
            raise ValueError(f'no field "{name[:100]}"; there are: {known}')
        if field.is_repeated and isinstance(given, list):
            found[field.name] = [_read(each, field, board) for each in given]
        elif given is not None:
            found[field.name] = _read(given, field, board)
    return found


def _read(value: object, field: FieldDescriptor, board: Variant) -> object:
    match form_of(field):
        case Form.WORD:
            return _value_of(value, field)
        case Form.CELL:
            return parse_cell(str(value), board)
        case Form.CELLS if isinstance(value, list):
            moves = encode_moves(parse_cell(str(cell), board) for cell in value)
            return b64encode(moves).decode()
        case Form.CELLS:
            raise ValueError(f'{field.name} is a list of cells, such as ["h8", "i9"]')
        case Form.SECONDS if isinstance(value, (int, float)) and not isinstance(value, bool):
            return f"{value:.9f}s"
        case Form.SECONDS:
            raise ValueError(f"{field.name}{SECONDS} is a number")
        case Form.OBJECT:
            return _read_object(value, field.message_type, board)
        case _:
            return value


def _value_of(word: object, field: FieldDescriptor) -> int:
    for number, known in enum_words(field.enum_type).items():
        if word == known:
            return number
    known_words = ", ".join(enum_words(field.enum_type).values())
    raise ValueError(f"{field.name} can't be {str(word)[:100]!r}; there are: {known_words}")


def board_of(variant: game_pb2.Variant) -> Variant:
    """The board of a variant, be its rule a later release's."""
    return _board(variant.width or GOMOKU.width, variant.height or GOMOKU.height)


@cache
def _board(width: int, height: int) -> Variant:
    """A board of a size, whatever is played on it.

    Raises:
        ValueError: there is no such board.
    """
    return Variant(width=width, height=height, line=MIN_LINE)
