"""The OpenAPI document: valid, and true of what the server answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest

from meijin.web.api.methods import METHODS
from meijin.web.api.requests import message_of_body, message_of_query
from meijin.web.api.routes import DOCUMENT

Document = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> Document:
    found: Document = json.loads(DOCUMENT.read_bytes())
    return found


def assert_answers(document: Document, path: str, verb: str, value: object) -> None:
    """Fail unless a value is what the document says that a method answers."""
    response = document["paths"][path][verb]["responses"]["200"]
    (content,) = response["content"].values()
    pointer = "document:" + content["schema"]["$ref"]
    resource = Resource.from_contents(_closed(document), default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("document:", resource)
    Draft202012Validator({"$ref": pointer}, registry=registry).validate(value)


def _closed(document: Document) -> Document:
    """The document with schemas that allow no other fields, so that a missing one is noticed."""
    schemas = document["components"]["schemas"]
    closed = {
        name: {**schema, "additionalProperties": False} if "properties" in schema else schema
        for name, schema in schemas.items()
    }
    return {**document, "components": {**document["components"], "schemas": closed}}


def test_document_is_valid(document: Document) -> None:
    """By a validator of OpenAPI that knows nothing of ours."""
    validate(document)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_method_is_described(document: Document, method: Any) -> None:
    """Each has a sentence, every place in its path, and an example that it takes."""
    operation = document["paths"][method.full_path][method.verb.lower()]
    assert operation["summary"]
    places = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
    assert places == {part.strip("{}") for part in method.path.split("/") if "{" in part}
    kind = method.request
    if method.verb == "GET":
        assert message_of_query(kind, {}, method.example).IsInitialized()
    else:
        assert message_of_body(kind, {}, method.example.encode()).IsInitialized()


async def test_answers_are_as_described(
    site: SiteInTest, browsing: Browsing, document: Document
) -> None:
    """Lists, one of each, a refusal, and what a stream says."""
    await site.server.pair()
    for path, place in (
        ("/games", "/games"),
        ("/games?with_moves=true", "/games"),
        ("/games/1", "/games/{game_id}"),
        ("/games/1/record?format=RECORD_FORMAT_SGF", "/games/{game_id}/record"),
        ("/bots", "/bots"),
        ("/bots/ada/versions", "/bots/{name}/versions"),
        ("/tournaments", "/tournaments"),
        ("/tournaments/1", "/tournaments/{tournament_id}"),
        ("/faults", "/faults"),
        ("/ladders", "/ladders"),
        ("/audit", "/audit"),
        ("/status", "/status"),
    ):
        answer = await browsing.get(f"/api/v1{path}")
        assert answer.status == 200, answer.text
        assert_answers(document, f"/api/v1{place}", "get", json.loads(answer.text))
    refused = json.loads((await browsing.get("/api/v1/games/99")).text)
    Draft202012Validator(document["components"]["schemas"]["Status"]).validate(refused)
    served = await browsing.get("/api/v1/openapi.json")
    assert json.loads(served.text) == document
