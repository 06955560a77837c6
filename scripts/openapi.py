"""The OpenAPI document of the JSON API, made of the contract's descriptors and its comments."""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import Message

from meijin.v1 import method_pb2, webhook_service_pb2
from meijin.web.api.methods import METHODS, PREFIX, STREAM_TYPE, Method
from meijin.web.refusals import statuses
from meijin.wire.json import Form, enum_words, form_of, json_fields
from meijin.wire.methods import PACKAGE

HOUSE = Path(__file__).resolve().parent.parent
PROTOS = HOUSE / "proto"
DOCUMENT = HOUSE / "web/meijin/web/api/openapi.json"

Schema: TypeAlias = dict[str, object]

Field = FieldDescriptor

VERSION = "3.1.0"
"""Of OpenAPI; its schemas are those of JSON Schema 2020-12."""

MESSAGES, ENUMS, SERVICES = 4, 5, 6
"""Fields of a FileDescriptorProto, as the paths of comments name them."""

SCALARS: Mapping[int, Schema] = {
    Field.TYPE_STRING: {"type": "string"},
    Field.TYPE_BOOL: {"type": "boolean"},
    Field.TYPE_DOUBLE: {"type": "number", "format": "double"},
    Field.TYPE_FLOAT: {"type": "number", "format": "float"},
    Field.TYPE_UINT32: {"type": "integer", "format": "uint32", "minimum": 0},
    Field.TYPE_INT32: {"type": "integer", "format": "int32"},
    Field.TYPE_SINT32: {"type": "integer", "format": "int32"},
    Field.TYPE_UINT64: {"type": "integer", "format": "uint64", "minimum": 0},
    Field.TYPE_INT64: {"type": "integer", "format": "int64"},
}
"""What is written as it is, by the field's type."""

BROKEN: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"$ref": "#/components/schemas/Status"}},
}
"""The last line of a stream that has failed."""

CELL_REFERENCE: Schema = {"$ref": "#/components/schemas/Cell"}

FORMS: Mapping[Form, Schema] = {
    Form.CELL: CELL_REFERENCE,
    Form.CELLS: {"type": "array", "items": CELL_REFERENCE},
    Form.SECONDS: {"type": "number"},
    Form.STRUCT: {"type": "object"},
    Form.TIME: {"type": "string", "format": "date-time"},
}
"""What is written in a way of its own."""

CELL: Schema = {
    "type": "string",
    "description": "A cell: the column from the left as a letter, the row from the bottom.",
    "pattern": "^[a-v][1-9][0-9]?$",
    "examples": ["h8"],
}

STATUS: Schema = {
    "type": "object",
    "description": "Why a call was refused: a `google.rpc.Status`.",
    "required": ["code", "message", "details"],
    "properties": {
        "code": {"type": "integer", "description": "The code of gRPC."},
        "message": {"type": "string", "description": "One sentence for people."},
        "details": {
            "type": "array",
            "description": "A `google.rpc.ErrorInfo` with the reason, and what else is known.",
            "items": {"type": "object", "properties": {"@type": {"type": "string"}}},
        },
    },
}

ABOUT = (
    "The methods of the Meijin arena's contract over HTTP, and what webhooks send. Names are those "
    "of the `.proto` files. Of an answer every field is there, but a message that is absent and "
    "what is said to be optional; an enum's value that says nothing is null. A request with a "
    "field that there is none of is refused."
)

HEADERS = {
    "webhook-id": "Names the delivery, the same at every try.",
    "webhook-timestamp": "When it was sent, in seconds since 1970.",
    "webhook-signature": "`v1,` and the HMAC-SHA256 in base64, as Standard Webhooks has it.",
}
"""Of what webhooks send."""


@dataclass(frozen=True, slots=True)
class Contract:
    """The comments beside the contract, and the schemas that were asked for so far."""

    comments: dict[str, str]
    """By the full names of messages, fields, enums and values, and ``GameService/GetGame``."""
    answered: frozenset[Descriptor]
    """Messages that are answered or sent; one that is asked too has a schema for either."""
    schemas: dict[str, Schema] = field(default_factory=dict)

    @classmethod
    def of(cls, files: FileDescriptorSet) -> "Contract":
        """What a set of files with its source info says."""
        answers = [descriptor_of(method.response) for method in METHODS]
        found = cls({}, frozenset(_within([*answers, *payloads().values()])))
        for file in (file for file in files.file if file.package == PACKAGE):
            found._add(file)
        return found

    def _add(self, file: FileDescriptorProto) -> None:
        said = {
            tuple(place.path): " ".join(place.leading_comments.split())
            for place in file.source_code_info.location
        }
        for number, message in enumerate(file.message_type):
            names = [each.name for each in message.field]
            self._tell(f"{PACKAGE}.{message.name}", (MESSAGES, number), ".", names, said)
        for number, enum in enumerate(file.enum_type):
            names = [each.name for each in enum.value]
            self._tell(f"{PACKAGE}.{enum.name}", (ENUMS, number), ".", names, said)
        for number, service in enumerate(file.service):
            names = [each.name for each in service.method]
            self._tell(service.name, (SERVICES, number), "/", names, said)

    def _tell(
        self,
        name: str,
        path: tuple[int, int],
        mark: str,
        parts: Sequence[str],
        said: Mapping[tuple[int, ...], str],
    ) -> None:
        """Keep the comments of something and of its parts, which stand in field 2 of each kind."""
        self.comments[name] = said.get(path, "")
        for number, part in enumerate(parts):
            self.comments[f"{name}{mark}{part}"] = said.get((*path, 2, number), "")

    def told(self, each: Field) -> str:
        """The comment of a field, without how it is written where that is no JSON."""
        return BINARY.sub("", self.comments[each.full_name]).replace("unspecified", "null")


BINARY = re.compile(r"[:,] (two bytes a cell, little-endian|row \* width \+ column, row 0 on top)")


def write_document() -> None:
    """Write the document where the API serves it from."""
    services = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*_service.proto"))
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder) / "descriptors"
        options = ("--include_imports", "--include_source_info")
        protoc(services, *options, f"--descriptor_set_out={descriptors}")
        contract = Contract.of(FileDescriptorSet.FromString(descriptors.read_bytes()))
    DOCUMENT.write_text(json.dumps(document(contract), indent=1, ensure_ascii=False) + "\n")


def protoc(protos: Sequence[str], *options: str) -> None:
    """Run the compiler of protos, whose names are relative to their folder."""
    well_known = files("grpc_tools") / "_proto"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}", f"-I{well_known}"]
    subprocess.run([*command, *options, *protos], check=True)


def payloads() -> Mapping[int, Descriptor]:
    """The messages that webhooks tell, by their events."""
    file, kind = webhook_service_pb2.DESCRIPTOR, webhook_service_pb2.WebhookEvent.DESCRIPTOR
    names = {each.number: each.GetOptions().Extensions[method_pb2.payload] for each in kind.values}
    return {
        number: file.pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
        for number, name in names.items()
        if name
    }


def _within(messages: Iterable[Descriptor]) -> Iterator[Descriptor]:
    """Messages, and what they hold."""
    waiting, seen = [*messages], set[Descriptor]()
    while waiting:
        message = waiting.pop()
        if message not in seen:
            seen.add(message)
            yield message
            waiting += [each for field in message.fields if (each := held_by(field)) is not None]


def held_by(field: Field) -> Descriptor | None:
    """The message of the contract that a field holds, or each of several."""
    return field.message_type if form_of(field) is Form.OBJECT else None


def descriptor_of(kind: type[Message]) -> Descriptor:
    return cast("Descriptor", kind.DESCRIPTOR)


def document(contract: Contract) -> Schema:
    """The whole document."""
    paths: dict[str, Schema] = {}
    for method in METHODS:
        paths.setdefault(method.full_path, {})[method.verb.lower()] = _operation(contract, method)
    services = sorted({method.name.partition("/")[0] for method in METHODS})
    license_ = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["license"]
    return {
        "openapi": VERSION,
        "info": {
            "title": "Meijin",
            "version": PREFIX.rpartition("/")[2],
            "description": ABOUT,
            "license": {"name": license_, "identifier": license_},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": contract.comments[name]} for name in services],
        "security": [{}, {"token": []}],
        "paths": paths,
        "webhooks": {
            word: {"post": _delivery(contract, event, word)}
            for event, word in enum_words(webhook_service_pb2.WebhookEvent.DESCRIPTOR).items()
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of the server, as `meijin token` makes them.",
                }
            },
            "responses": dict(_refusals()),
            "schemas": {"Status": STATUS, "Cell": CELL, **dict(sorted(contract.schemas.items()))},
        },
    }


def _operation(contract: Contract, method: Method) -> Schema:
    text = contract.comments[method.name]
    in_path = set(re.findall(r"\{(\w+)\}", method.path))
    request = descriptor_of(method.request)
    operation: Schema = {
        "operationId": method.name.replace("/", "_"),
        "tags": [method.name.partition("/")[0]],
        "summary": first_sentence(text),
        "description": text,
        "parameters": [*_parameters(contract, request, method.verb, in_path)],
    }
    if method.verb != "GET" and {each.name for each in request.fields} - in_path:
        content: Schema = {"schema": _message(contract, request, is_asked=True)}
        if method.example:
            content["example"] = json.loads(method.example)
        operation["requestBody"] = {"content": {"application/json": content}}
    media_type = STREAM_TYPE if method.is_stream else "application/json"
    answer = _message(contract, descriptor_of(method.response))
    says = "What the method answers."
    if method.is_stream:
        answer = {"anyOf": [answer, BROKEN]}
        says = "A message a line, and one with `error` where the call fails later."
    operation["responses"] = {
        "200": {"description": says, "content": {media_type: {"schema": answer}}},
        **{str(int(status)): _refusal(status.name) for status in _statuses(method, text)},
        "default": _refusal("REFUSED"),
    }
    return operation


def _statuses(method: Method, text: str) -> Iterator[HTTPStatus]:
    """With what a call may be refused through no fault of the server."""
    yield from (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED)
    if method.verb != "GET" or method.permission not in READABLE:
        yield HTTPStatus.FORBIDDEN
    names = {name.rpartition(".")[2] for name, _ in _fields(descriptor_of(method.request), "")}
    if "{" in method.path or "NOT_FOUND" in text or names & NAMED:
        yield HTTPStatus.NOT_FOUND
    if "ALREADY_EXISTS" in text:
        yield HTTPStatus.CONFLICT
    if method.verb != "GET":
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    yield HTTPStatus.TOO_MANY_REQUESTS


NAMED = {"bot", "bots", "challenger", "ladder", "webhook_id"}
"""Fields of requests that name what there may be none of."""

READABLE = {method_pb2.PERMISSION_ANYONE, method_pb2.PERMISSION_READER}
"""The permissions that no known caller lacks."""


def _refusals() -> Iterator[tuple[str, Schema]]:
    """The responses to calls that are refused; one is left for statuses that none has."""
    codes = statuses()
    named = {status for method in METHODS for status in _statuses(method, _ALL)}
    others = "; ".join(f"{status} {told}" for status, told in codes.items() if status not in named)
    content = {"application/json": {"schema": _reference("Status")}}
    for status in sorted(named):
        told = f" ({codes[status]})" if status in codes else ""
        yield status.name, {"description": f"{status.phrase}{told}.", "content": content}
    yield (
        "REFUSED",
        {"description": f"Refused. By status, the codes: {others}.", "content": content},
    )


_ALL = "NOT_FOUND, ALREADY_EXISTS"


def _refusal(name: str) -> Schema:
    return {"$ref": f"#/components/responses/{name}"}


def _delivery(contract: Contract, event: int, word: str) -> Schema:
    """What a webhook sends of an event."""
    kind = webhook_service_pb2.WebhookEvent.DESCRIPTOR
    text = contract.comments[f"{kind.full_name}.{kind.values_by_number[event].name}"]
    properties = {
        "type": {"const": word},
        "timestamp": {"type": "string", "format": "date-time", "description": "When it happened."},
        "data": _message(contract, payloads()[event]),
    }
    schema = {"type": "object", "required": [*properties], "properties": properties}
    return {
        "operationId": word.replace(".", "_"),
        "summary": first_sentence(text.partition(": ")[2]),
        "description": text,
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": says, "schema": TEXT}
            for name, says in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "It has arrived."}},
    }


TEXT = {"type": "string"}


def _parameters(
    contract: Contract, request: Descriptor, verb: str, in_path: set[str]
) -> Iterator[Schema]:
    for name, each in _fields(request, ""):
        place = "path" if name in in_path else "query"
        if place == "query" and verb != "GET":
            continue
        schema = _schema(contract, each, is_asked=True)
        parameter: Schema = {"name": name, "in": place, "schema": schema}
        if comment := contract.told(each):
            parameter["description"] = comment
        if place == "path":
            parameter["required"] = True
        yield parameter


def _fields(message: Descriptor, prefix: str) -> Iterator[tuple[str, Field]]:
    """The fields of a request as a query names them, those of nested messages with dots."""
    for name, each in json_fields(message).items():
        held = held_by(each)
        if held is None:
            yield prefix + name, each
        elif not each.is_repeated and held != message:
            yield from _fields(held, f"{prefix}{name}.")


def _message(contract: Contract, message: Descriptor, *, is_asked: bool = False) -> Schema:
    """A reference to a message's schema, which is made where there is none yet."""
    name = message.name + "Input" * (is_asked and message in contract.answered)
    if name not in contract.schemas:
        schema: Schema = {"type": "object", "description": contract.comments[message.full_name]}
        contract.schemas[name] = schema
        fields = json_fields(message)
        schema["properties"] = {
            name: {
                **_schema(contract, each, is_asked=is_asked),
                "description": contract.told(each),
            }
            for name, each in fields.items()
        }
        required = [name for name, each in fields.items() if not each.has_presence]
        if required and not is_asked:
            schema["required"] = required
    return _reference(name)


def _enum(contract: Contract, kind: EnumDescriptor) -> Schema:
    if kind.name not in contract.schemas:
        words = enum_words(kind)
        told = {word: kind.values_by_number[number].name for number, word in words.items()}
        lines = (
            f"- `{word}`: {contract.comments[f'{kind.full_name}.{name}']}"
            for word, name in told.items()
        )
        text = "\n".join([contract.comments[kind.full_name], "", *lines])
        schema: Schema = {"type": "string", "enum": [*words.values()], "description": text}
        contract.schemas[kind.name] = schema
    return _reference(kind.name)


def _schema(contract: Contract, each: Field, *, is_asked: bool) -> Schema:
    schema = _item(contract, each, is_asked=is_asked)
    if each.is_repeated:
        return {"type": "array", "items": schema}
    if form_of(each) is Form.WORD and not (is_asked or each.has_presence):
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


def _item(contract: Contract, each: Field, *, is_asked: bool) -> Schema:
    if (held := held_by(each)) is not None:
        return _message(contract, held, is_asked=is_asked)
    if each.enum_type is not None:
        return _enum(contract, each.enum_type)
    return dict(FORMS.get(form_of(each)) or SCALARS[each.type])


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def first_sentence(text: str) -> str:
    """The first sentence of a comment, without its full stop."""
    sentence, _, _ = text.partition(". ")
    return sentence.removesuffix(".")
