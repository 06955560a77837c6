"""Requests: the messages that a path, a query and a body say."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import TypeAlias, cast
from urllib.parse import parse_qsl

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from starlette.requests import ClientDisconnect, Request

from meijin.web.refusals import Refusal, bad_request
from meijin.wire.json import Form, form_of, json_fields, message_of

MAX_BODY = 256 * 1024
"""Bytes of a request: a tournament with a thousand bots and as many openings takes 100 KB."""

MAX_QUERY = 16_000
"""Characters behind the path: the names of 200 bots, the most that a matrix takes, are 9,000."""

MAX_PARAMETERS = 300

BODY_TIMEOUT = timedelta(seconds=15)
"""How long a body may take to come."""

JSON = "application/json"

TRUTH = {"true": True, "1": True, "": True, "false": False, "0": False}
"""What a query says of a field that holds or not; its name alone says that it does."""

WELL_KNOWN = "google.protobuf."
"""How the names of types begin that are written as one text."""

Value: TypeAlias = "str | bool | list[Value] | dict[str, Value]"
"""What stands in a query, as a body would have it."""


async def read_body(request: Request) -> bytes:
    """What a request sends, which is JSON.

    Raises:
        Refusal: it is too long, of another type, or does not come to its end.
    """
    body = b""
    try:
        async with asyncio.timeout(BODY_TIMEOUT.total_seconds()):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    message = f"a body may have {MAX_BODY} bytes"
                    raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    except (TimeoutError, ClientDisconnect):
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "the body did not come to its end") from None
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and media_type != JSON:
        message = f"a body has to be {JSON}, not {media_type or 'of no type'}; set Content-Type"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
    return body


def message_of_body(kind: type[Message], path: Mapping[str, str], body: bytes) -> Message:
    """The request that a path and a body make.

    Raises:
        Refusal: a field is unknown, or has a value that it can't have.
    """
    found = _read(kind, lambda: _value_of(body))
    for name, value in path.items():
        if getattr(found, name) not in {"", value}:
            raise bad_request(f"{name} is {value!r} in the path and another in the body")
        setattr(found, name, value)
    return found


def message_of_query(kind: type[Message], path: Mapping[str, str], query: str) -> Message:
    """The request that a path and a query make; nested fields are named with dots.

    Raises:
        Refusal: a parameter is unknown, or has a value that it can't have.
    """
    if len(query) > MAX_QUERY:
        message = f"an address may have {MAX_QUERY} characters behind its path"
        raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, message)
    try:
        parameters = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise bad_request(f"an address may have {MAX_PARAMETERS} parameters") from None
    descriptor = cast("Descriptor", kind.DESCRIPTOR)
    values: dict[str, Value] = {}
    for name, value in parameters:
        if name in path:
            raise bad_request(f"{name} stands in the path already")
        _add(values, descriptor, name, value)
    return _read(kind, lambda: {**values, **path})


def _add(values: dict[str, Value], descriptor: Descriptor, name: str, value: str) -> None:
    """Put a parameter where its field stands."""
    first, _, rest = name.partition(".")
    field = _field(descriptor, first)
    if rest:
        inner = field.message_type
        if inner is None or field.is_repeated or inner.full_name.startswith(WELL_KNOWN):
            raise bad_request(f"{first} has no fields of its own")
        nested = values.setdefault(first, {})
        assert isinstance(nested, dict)
        _add(nested, inner, rest, value)
    elif field.message_type and not field.message_type.full_name.startswith(WELL_KNOWN):
        example = next((inner.name for inner in field.message_type.fields), "")
        raise bad_request(f"{first} has fields: name one, such as {first}.{example}")
    elif field.is_repeated or form_of(field) is Form.CELLS:
        several = values.setdefault(first, [])
        assert isinstance(several, list)
        several.append(_scalar(field, value))
    elif first in values:
        raise bad_request(f"{first} is there twice")
    else:
        values[first] = _scalar(field, value)


def _field(descriptor: Descriptor, name: str) -> FieldDescriptor:
    found = json_fields(descriptor).get(name)
    if found is None:
        known = ", ".join(json_fields(descriptor)) or "none"
        raise bad_request(f"no parameter {name[:100]!r}; there are: {known}")
    return found


def _scalar(field: FieldDescriptor, value: str) -> Value:
    if field.type != FieldDescriptor.TYPE_BOOL:
        return value
    if value not in TRUTH:
        raise bad_request(f"{field.name} must be true or false, not {value[:100]!r}")
    return TRUTH[value]


def _read(kind: type[Message], value: Callable[[], object]) -> Message:
    try:
        return message_of(kind, value())
    except (ValueError, RecursionError) as error:
        told = str(error).encode(errors="backslashreplace").decode()  # half a pair of UTF-16
        line, *_ = told.splitlines() or ["it nests too deeply"]
        raise bad_request(f"this is no {kind.DESCRIPTOR.name}: {line[:300]}") from None


def _value_of(body: bytes) -> object:
    return json.loads(body.decode(errors="replace") or "{}", object_pairs_hook=_object)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f'"{name}" is there twice')
        found[name] = value
    return found
