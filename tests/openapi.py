"""The OpenAPI document, by which what a server sends is validated."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from meijin.web.api.routes import DOCUMENT

Document = dict[str, Any]


@cache
def document() -> Document:
    found: Document = json.loads(DOCUMENT.read_bytes())
    return found


def assert_answers(path: str, verb: str, value: object) -> None:
    """Fail unless a value is what the document says that a method answers."""
    response = document()["paths"][path][verb]["responses"]["200"]
    (content,) = response["content"].values()
    assert_is(content["schema"], value)


def assert_sent(body: dict[str, Any]) -> None:
    """Fail unless the body of a webhook is what the document says of its event."""
    asked = document()["webhooks"][body["type"]]["post"]["requestBody"]
    assert_is(asked["content"]["application/json"]["schema"], body)


def assert_message(name: str, value: object) -> None:
    """Fail unless a value is a message of the contract."""
    assert_is({"$ref": f"#/components/schemas/{name}"}, value)


def assert_is(schema: dict[str, Any], value: object) -> None:
    """Fail unless a schema of the document describes a value, and all of its fields."""
    Draft202012Validator(_bound(schema), registry=_registry()).validate(value)


@cache
def _registry() -> Registry[Any]:
    resource = Resource.from_contents(_closed(document()), default_specification=DRAFT202012)
    empty: Registry[Any] = Registry()
    registry: Registry[Any] = empty.with_resource("document:", resource)
    return registry


def _closed(document: Document) -> Document:
    """The document with schemas that allow no other fields, so that a missing one is noticed."""
    schemas = document["components"]["schemas"]
    closed = {
        name: {**schema, "additionalProperties": False} if "properties" in schema else schema
        for name, schema in schemas.items()
    }
    return {**document, "components": {**document["components"], "schemas": closed}}


def _bound(part: Any) -> Any:
    """A part of the document whose references lead into it."""
    match part:
        case {"$ref": str(place)}:
            return {"$ref": f"document:{place}"}
        case dict():
            return {name: _bound(each) for name, each in part.items()}
        case list():
            return [_bound(each) for each in part]
        case _:
            return part
