"""The OpenAPI document of the JSON API, made of the contract's descriptors and its comments."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

from meijin.web.api.methods import METHODS, PREFIX, STREAM_TYPE, Method
from meijin.web.refusals import statuses
from meijin.wire.methods import PACKAGE

HOUSE = Path(__file__).resolve().parent.parent
PROTOS = HOUSE / "proto"
DOCUMENT = HOUSE / "web/meijin/web/api/openapi.json"

Schema: TypeAlias = dict[str, object]

Field = FieldDescriptorProto

VERSION = "3.1.0"
"""Of OpenAPI; its schemas are those of JSON Schema 2020-12."""

MESSAGES, ENUMS, SERVICES = 4, 5, 6
"""Fields of a FileDescriptorProto, as the paths of comments name them."""

FORMATS: Mapping[int, Schema] = {
    Field.TYPE_STRING: {"type": "string"},
    Field.TYPE_BOOL: {"type": "boolean"},
    Field.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    Field.TYPE_DOUBLE: {"type": "number", "format": "double"},
    Field.TYPE_FLOAT: {"type": "number", "format": "float"},
    Field.TYPE_UINT32: {"type": "integer", "format": "uint32", "minimum": 0},
    Field.TYPE_FIXED32: {"type": "integer", "format": "uint32", "minimum": 0},
    Field.TYPE_INT32: {"type": "integer", "format": "int32"},
    Field.TYPE_SINT32: {"type": "integer", "format": "int32"},
    Field.TYPE_UINT64: {"type": "string", "format": "uint64", "pattern": "^[0-9]+$"},
    Field.TYPE_FIXED64: {"type": "string", "format": "uint64", "pattern": "^[0-9]+$"},
    Field.TYPE_INT64: {"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"},
    Field.TYPE_SINT64: {"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"},
}
"""How protobuf's JSON mapping writes a field's type; a request may give 64 bits as a number too."""

WELL_KNOWN: Mapping[str, Schema] = {
    ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    ".google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    ".google.protobuf.Struct": {"type": "object"},
}
"""Messages that the mapping writes in a way of their own."""

STATUS: Schema = {
    "type": "object",
    "description": "Why a call was refused: a `google.rpc.Status`.",
    "required": ["code", "message"],
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
    "The methods of the Meijin arena's contract over HTTP. Messages are in protobuf's JSON "
    "mapping, with names as in the `.proto` files and the fields that have their defaults; numbers "
    "of 64 bits are texts. A request with a field that there is none of is refused."
)


@dataclass(frozen=True, slots=True)
class Contract:
    """The descriptors by their full names, and the comments beside them."""

    messages: dict[str, DescriptorProto]
    enums: dict[str, EnumDescriptorProto]
    methods: dict[str, MethodDescriptorProto]
    """By names such as ``GameService/GetGame``."""
    comments: dict[str, str]
    """By the full names of messages, fields, enums, values and methods."""

    @classmethod
    def of(cls, files: FileDescriptorSet) -> "Contract":
        """What a set of files describes, with its source info."""
        found = cls({}, {}, {}, {})
        for file in (file for file in files.file if file.package == PACKAGE):
            found._add(file)
        return found

    def _add(self, file: FileDescriptorProto) -> None:
        said = {
            tuple(place.path): " ".join(place.leading_comments.split())
            for place in file.source_code_info.location
        }
        for number, message in enumerate(file.message_type):
            name = f".{PACKAGE}.{message.name}"
            self.messages[name] = message
            self._tell(name, (MESSAGES, number), ".", [each.name for each in message.field], said)
        for number, enum in enumerate(file.enum_type):
            name = f".{PACKAGE}.{enum.name}"
            self.enums[name] = enum
            self._tell(name, (ENUMS, number), ".", [each.name for each in enum.value], said)
        for number, service in enumerate(file.service):
            methods = {f"{service.name}/{each.name}": each for each in service.method}
            self.methods.update(methods)
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


def document(contract: Contract) -> Schema:
    """The whole document."""
    paths: dict[str, Schema] = {}
    for method in METHODS:
        paths.setdefault(method.full_path, {})[method.verb.lower()] = _operation(contract, method)
    services = sorted({method.name.partition("/")[0] for method in METHODS})
    return {
        "openapi": VERSION,
        "info": {"title": "Meijin", "version": PREFIX.rpartition("/")[2], "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": contract.comments[name]} for name in services],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of the server, as `meijin token` makes them.",
                }
            },
            "responses": {
                "refused": {
                    "description": "Refused. By status, the codes of gRPC: " + _refusals(),
                    "content": {"application/json": {"schema": _reference("Status")}},
                }
            },
            "schemas": {"Status": STATUS, **dict(sorted(_schemas(contract)))},
        },
    }


def _operation(contract: Contract, method: Method) -> Schema:
    called, text = contract.methods[method.name], contract.comments[method.name]
    in_path = set(re.findall(r"\{(\w+)\}", method.path))
    request = contract.messages[called.input_type]
    operation: Schema = {
        "operationId": method.name.replace("/", "_"),
        "tags": [method.name.partition("/")[0]],
        "summary": first_sentence(text),
        "description": text,
        "parameters": [*_parameters(contract, called.input_type, method.verb, in_path)],
    }
    if method.verb in {"POST", "PUT"} and {field.name for field in request.field} - in_path:
        content: Schema = {"schema": _reference(request.name)}
        if method.example:
            content["example"] = json.loads(method.example)
        operation["requestBody"] = {"content": {"application/json": content}}
    media_type = STREAM_TYPE if called.server_streaming else "application/json"
    answer = _reference(called.output_type.rpartition(".")[2])
    says = "A message a line." if called.server_streaming else "What the method answers."
    operation["responses"] = {
        "200": {"description": says, "content": {media_type: {"schema": answer}}},
        "default": {"$ref": "#/components/responses/refused"},
    }
    return operation


def _parameters(contract: Contract, request: str, verb: str, in_path: set[str]) -> Iterator[Schema]:
    for name, field, comment in _fields(contract, request, ""):
        place = "path" if name in in_path else "query"
        if place == "query" and verb in {"POST", "PUT"}:
            continue
        parameter: Schema = {"name": name, "in": place, "schema": _schema(field)}
        if comment:
            parameter["description"] = comment
        if place == "path":
            parameter["required"] = True
        yield parameter


def _fields(contract: Contract, message: str, prefix: str) -> Iterator[tuple[str, Field, str]]:
    """The fields of a request as a query names them, those of nested messages with dots."""
    for field in contract.messages[message].field:
        name = f"{prefix}{field.name}"
        is_nested = field.type == Field.TYPE_MESSAGE and field.type_name not in WELL_KNOWN
        if not is_nested:
            yield name, field, contract.comments[f"{message}.{field.name}"]
        elif field.label != Field.LABEL_REPEATED and field.type_name != message:
            yield from _fields(contract, field.type_name, f"{name}.")


def _schemas(contract: Contract) -> Iterator[tuple[str, Schema]]:
    """The messages and enums that the methods take and answer, and what these hold."""
    called = [contract.methods[method.name] for method in METHODS]
    waiting = [name for method in called for name in (method.input_type, method.output_type)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name in WELL_KNOWN:
            continue
        seen.add(name)
        short = name.rpartition(".")[2]
        if name in contract.enums:
            yield short, _enum(contract, name)
            continue
        message = contract.messages[name]
        waiting += [field.type_name for field in message.field if field.type_name]
        properties = {}
        for field in message.field:
            comment = contract.comments[f"{name}.{field.name}"]
            properties[field.name] = {**_schema(field), "description": comment}
        yield (
            short,
            {
                "type": "object",
                "description": contract.comments[name],
                "properties": properties,
            },
        )


def _enum(contract: Contract, name: str) -> Schema:
    values = [value.name for value in contract.enums[name].value]
    lines = [f"- `{value}`: {contract.comments[f'{name}.{value}']}" for value in values]
    text = "\n".join([contract.comments[name], "", *lines])
    return {"type": "string", "enum": values, "description": text}


def _schema(field: Field) -> Schema:
    schema = dict(_item(field))
    if field.label == Field.LABEL_REPEATED:
        return {"type": "array", "items": schema}
    return schema


def _item(field: Field) -> Schema:
    if field.type_name in WELL_KNOWN:
        return dict(WELL_KNOWN[field.type_name])
    if field.type_name:
        return _reference(field.type_name.rpartition(".")[2])
    return dict(FORMATS[field.type])


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _refusals() -> str:
    return "; ".join(f"{status} {codes}" for status, codes in statuses().items()) + "."


def first_sentence(text: str) -> str:
    """The first sentence of a comment, without its full stop."""
    sentence, _, _ = text.partition(". ")
    return sentence.removesuffix(".")
