"""Records as messages, and messages as records, by the names of their fields.

A field of a message is the record's attribute of the same name. Two names differ by rule: a flag
``paused`` is the record's ``is_paused``, and the ``webhook_id`` of a ``Webhook`` its ``id``. What
differs otherwise is passed by name.

| in the record | in the message |
|---|---|
| `None` | absent, or the field's zero |
| an enum's member, or its word | the enum's value of that name |
| an aware `datetime`, a `timedelta` | `Timestamp`, `Duration` |
| an id | text |
| a rule, variant, time control, outcome or analysis of the game | as `values` writes it |
| capabilities | as `capabilities` writes them |
| another record | the message of the field |
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from meijin.game import (
    Analysis,
    Color,
    Ending,
    OpeningRule,
    Outcome,
    Rule,
    TimeControl,
    Variant,
)
from meijin.wire import values
from meijin.wire.capabilities import Capabilities, capabilities_to_proto
from meijin.wire.enums import name_prefix, value_name

M = TypeVar("M", bound=Message)
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=Enum)

_Convert = Callable[[Any], Any]
_Field: TypeAlias = Any
"""A `FieldDescriptor`, which is another class in each of protobuf's implementations."""

_WRITERS: Mapping[type, _Convert] = {
    Analysis: values.analysis_to_proto,
    Capabilities: capabilities_to_proto,
    OpeningRule: values.opening_rule_to_proto,
    Outcome: values.outcome_to_proto,
    Rule: values.rule_to_proto,
    TimeControl: values.time_control_to_proto,
    Variant: values.variant_to_proto,
}
_READERS: Mapping[type, _Convert] = {
    Color: values.color_from_proto,
    Ending: values.ending_from_proto,
    OpeningRule: values.opening_rule_from_proto,
    Outcome: values.outcome_from_proto,
    Rule: values.rule_from_proto,
    TimeControl: values.time_control_from_proto,
    Variant: values.variant_from_proto,
    datetime: lambda message: message.ToDatetime(UTC),
    timedelta: lambda message: message.ToTimedelta(),
}


def to_message(record: object, kind: type[M], /, **differing: object) -> M:
    """Write a record as a message.

    Args:
        record: A dataclass, a row or any other object with attributes.
        kind: The class of the message.
        differing: Fields that are not the record's attribute of their name; `None` leaves one out.

    Raises:
        TypeError: the record has no attribute for a field, or the message no such field.
    """
    given = {
        name: value if write is None else write(value)
        for name, get, write in _getters(type(record), kind, frozenset(differing))
        if (value := get(record)) is not None
    }
    by_name = kind.DESCRIPTOR.fields_by_name
    for name, value in differing.items():
        if name not in by_name:
            raise TypeError(f"{kind.__name__} has no field {name}")
        if value is not None:
            write = _writer(by_name[name])
            given[name] = value if write is None else write(value)
    return kind(**given)


def from_message(message: Message, kind: type[R], /, **differing: object) -> R:
    """Read a message as a dataclass.

    What is absent is ``None`` where the dataclass allows it, or else its default, or the zero.

    Args:
        message: What was sent.
        kind: The dataclass.
        differing: Its fields that are not the message's field of their name.

    Raises:
        ValueError: a value can't be, or a later release has added it; the message names the field.
        TypeError: the message has no field of a name.
    """
    read: dict[str, Any] = {}
    for name, field, hint, default in _plan(kind, message.__class__, frozenset(differing)):
        try:
            read[name] = _read(message, field, hint, default)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{field.name}: {error}") from None
    return kind(
        **{name: value for name, value in read.items() if value is not MISSING}, **differing
    )


def _cached(function: F) -> F:
    """`cache` for arguments that are classes, which mypy does not know to be hashable."""
    return cache(function)  # type: ignore[return-value]


@_cached
def _getters(
    record: type,
    kind: type[Message],
    differing: frozenset[str],
) -> list[tuple[str, _Convert, _Convert | None]]:
    """For each field of a message that is the record's: its name, what takes it, what writes it."""
    names = set(dir(record)) | set(get_type_hints(record) if is_dataclass(record) else ())
    getters: list[tuple[str, _Convert, _Convert | None]] = []
    for field in kind.DESCRIPTOR.fields:
        if field.name not in differing:
            attributes = [name for name in _attributes(field) if name in names]
            if not attributes:
                raise TypeError(f"{record.__name__} has no {field.name} for {kind.__name__}")
            getters.append((field.name, attrgetter(attributes[0]), _writer(field)))
    return getters


@_cached
def _plan(
    kind: type,
    message: type[Message],
    differing: frozenset[str],
) -> list[tuple[str, _Field, Any, object]]:
    """For each of a dataclass's fields its name, the message's field, its type and default."""
    hints = get_type_hints(kind)
    by_attribute = {
        name: field for field in message.DESCRIPTOR.fields for name in reversed(_attributes(field))
    }
    plan = []
    for each in fields(kind):
        if each.init and each.name not in differing:
            if each.name not in by_attribute:
                raise TypeError(f"{message.__name__} has no field {each.name}")
            plan.append((each.name, by_attribute[each.name], hints[each.name], each.default))
    return plan


def _attributes(field: _Field) -> list[str]:
    """The names that a field may have in a record, the likeliest first."""
    names = [field.name]
    if field.type == FieldDescriptor.TYPE_BOOL:
        names.append(f"is_{field.name}")
    owner = field.containing_type.name.lower()
    if field.name.endswith("_id") and owner.endswith(field.name[:-3].replace("_", "")):
        names.append("id")
    return names


@_cached
def _writer(field: _Field) -> _Convert | None:
    """What writes a value that is not ``None`` into a field; ``None`` where it is written as it is."""
    write: _Convert | None = None
    if field.enum_type is not None:
        write = partial(_enum_value, field.enum_type)
    elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
        write = partial(_part, GetMessageClass(field.message_type))
    elif field.type == FieldDescriptor.TYPE_STRING:
        write = str
    if write is None or not field.is_repeated:
        return write
    return partial(_each, write)


def _each(write: _Convert, values: Iterable[object]) -> list[object]:
    return [write(value) for value in values]


def _part(kind: type[Message], value: Any) -> Any:  # noqa: ANN401 - any message's value
    if (write := _WRITERS.get(type(value))) is not None:
        return write(value)
    is_record = is_dataclass(value) or hasattr(value, "_fields")  # of a NamedTuple
    return to_message(value, kind) if is_record else value


def _enum_value(kind: EnumDescriptor, value: object) -> object:
    """The name in the contract of a member, or of a word; a number is left as it is."""
    if (write := _WRITERS.get(type(value))) is not None:
        return write(value)
    name = value.name if isinstance(value, Enum) else value
    if not isinstance(name, str):
        return value
    return value_name(kind, name)


def _read(message: Message, field: _Field, hint: Any, default: object) -> Any:  # noqa: ANN401 - any field's value
    value = getattr(message, field.name)
    kind, may_be_none = _without_none(hint)
    if field.is_repeated:
        of = get_args(kind)[0]
        return tuple(_read_one(field, each, of) for each in value)
    if not (message.HasField(field.name) if field.has_presence else value):
        if may_be_none:
            return None
        if default is not MISSING:
            return MISSING
    return _read_one(field, value, kind)


def _without_none(hint: Any) -> tuple[Any, bool]:  # noqa: ANN401 - any annotation
    """An annotation without its ``None``, and whether it has one."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    kinds = [each for each in get_args(hint) if each is not NoneType]
    return kinds[0], len(kinds) < len(get_args(hint))


def _read_one(field: _Field, value: Any, kind: Any) -> Any:  # noqa: ANN401 - any field's value
    kind = getattr(kind, "__supertype__", kind)  # of a NewType
    if (read := _READERS.get(kind)) is not None:
        return read(value)
    if field.enum_type is not None:
        return member_of(field, value, kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return from_message(value, kind)
    return kind(value) if field.type == FieldDescriptor.TYPE_STRING else value


def member_of(field: _Field, value: int, members: type[E]) -> E:
    """The member that has the name of a value of a field.

    Raises:
        ValueError: none has, or a later release has added it.
    """
    kind = field.enum_type
    found = kind.values_by_number.get(value)
    name = "" if found is None else found.name.removeprefix(name_prefix(kind))
    if name not in members.__members__:
        raise ValueError(f"there is no {kind.name} {value}")
    return members[name]
