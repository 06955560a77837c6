"""Formats of tournaments and their settings, by the names that the contract gives them.

A format is called ``round-robin`` where its enum value is ``TOURNAMENT_FORMAT_ROUND_ROBIN``, and
what only it has is in the field ``round_robin`` of a message. So a format that is added to the
contract needs nothing here.
"""

from collections.abc import Mapping
from typing import TypeAlias

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.enums import name_prefix, value_name

Options: TypeAlias = Mapping[str, str | int | float]
"""The fields of a format's settings by their names; enum values as words."""

_FORMATS = pb.TournamentFormat.DESCRIPTOR

USUAL_FORMAT = "round-robin"
"""What a format that is not said is read as."""


CHALLENGE = "challenge"
"""The format of challenges, which no tournament is asked to have."""


def format_names() -> list[str]:
    """Every format that a tournament may be asked to have, in the contract's order."""
    names = [_word(_FORMATS, value.number) for value in _FORMATS.values if value.number]
    return [name for name in names if name != CHALLENGE]


def format_to_proto(name: str) -> pb.TournamentFormat.ValueType:
    """Write a format."""
    return pb.TournamentFormat.Value(value_name(_FORMATS, name))


def format_from_proto(value: pb.TournamentFormat.ValueType) -> str:
    """Read a format.

    Raises:
        ValueError: there is no such format, or a later release has added it.
    """
    if value not in _FORMATS.values_by_number:
        raise ValueError(f"no tournament format {value}")
    return _word(_FORMATS, value) if value else USUAL_FORMAT


def format_field(name: str) -> str:
    """The field that only a format has."""
    return name.replace("-", "_")


def detail_field(message: Message, name: str) -> str:
    """The field of a message with what only a format tells of where it stands.

    It is called ``ladder_standing`` where the field ``ladder`` is something else.
    """
    standing = f"{format_field(name)}_standing"
    return standing if standing in message.DESCRIPTOR.fields_by_name else format_field(name)


def options_from_proto(settings: pb.TournamentSettings, name: str) -> Options | None:
    """A format's own settings, those that are set; ``None`` when they were left out.

    Raises:
        ValueError: an enum value is unknown, or settings of another format are there.
    """
    mine = format_field(name)
    own = None
    for field, value in settings.ListFields():
        if field.name == mine:
            own = value
        elif field.name in map(format_field, format_names()):
            raise ValueError(f"{field.name}: for the format {field.name.upper()} and no other")
    if own is None:
        return None
    return {field.name: _read(field, value, mine) for field, value in own.ListFields()}


def set_options(settings: pb.TournamentSettings, name: str, options: Options) -> None:
    """Write a format's own settings; the inverse of `options_from_proto`."""
    own: Message = getattr(settings, format_field(name))
    own.SetInParent()
    for field, value in options.items():
        set_field(own, field, value)


def set_field(message: Message, name: str, value: object) -> None:
    """Write a number, a text, or an enum value by its word."""
    kind = message.DESCRIPTOR.fields_by_name[name].enum_type
    if isinstance(kind, EnumDescriptor) and isinstance(value, str):
        value = kind.values_by_name[value_name(kind, value)].number
    setattr(message, name, value)


def parse_option(name: str, field_name: str, text: str) -> str | float:
    """A value of one of a format's own settings, from text.

    Raises:
        ValueError: the format has no such setting, or it can't have this value.
    """
    field = _own_fields(name).get(field_name)
    if field is None:
        known = ", ".join(_own_fields(name)) or "none"
        raise ValueError(f'{name} has no setting "{field_name}"; there are: {known}')
    kind = field.enum_type
    if isinstance(kind, EnumDescriptor):
        words = [_word(kind, value.number) for value in kind.values if value.number]
        if text not in words:
            raise ValueError(f'{field_name} is {" or ".join(words)}, not "{text}"')
        return text
    read = float if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE else int
    try:
        return read(text)
    except ValueError:
        raise ValueError(f'{field_name} is a number, not "{text}"') from None


def _own_fields(name: str) -> Mapping[str, FieldDescriptor]:
    own = pb.TournamentSettings.DESCRIPTOR.fields_by_name.get(format_field(name))
    return {} if own is None or own.message_type is None else own.message_type.fields_by_name


def _read(field: FieldDescriptor, value: str | float, owner: str) -> str | int | float:
    if field.enum_type is None:
        return value
    if value not in field.enum_type.values_by_number:
        raise ValueError(f"{owner}.{field.name}: there is no {value}")
    return _word(field.enum_type, int(value))


def _word(kind: EnumDescriptor, value: int) -> str:
    name = kind.values_by_number[value].name.removeprefix(name_prefix(kind))
    return name.lower().replace("_", "-")
