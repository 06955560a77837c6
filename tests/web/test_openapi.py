"""The OpenAPI document: valid, and true of what the server answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openapi_spec_validator import validate
from tests.openapi import assert_answers, assert_message, document
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest

from meijin.web.api.methods import METHODS
from meijin.web.api.requests import MAX_BODY, message_of_body, message_of_query


def test_document_is_valid() -> None:
    """By a validator of OpenAPI that knows nothing of ours; every component is used."""
    validate(document())
    text = json.dumps(document())
    for kind in ("schemas", "responses"):
        for name in document()["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, name


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_method_is_described(method: Any) -> None:
    """Each has a sentence, every place in its path, and an example that it takes."""
    operation = document()["paths"][method.full_path][method.verb.lower()]
    assert operation["summary"]
    places = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
    assert places == {part.strip("{}") for part in method.path.split("/") if "{" in part}
    kind = method.request
    if method.verb == "GET":
        assert message_of_query(kind, {}, method.example).IsInitialized()
    else:
        assert message_of_body(kind, {}, method.example.encode()).IsInitialized()


async def test_answers_are_as_described(site: SiteInTest, browsing: Browsing) -> None:
    """Lists, one of each, a refusal, and what a stream says."""
    await site.server.pair()
    for path, place in (
        ("/games", "/games"),
        ("/games?with_moves=true", "/games"),
        ("/games/1", "/games/{game_id}"),
        ("/games/1/record?format=sgf", "/games/{game_id}/record"),
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
        assert_answers(f"/api/v1{place}", "get", json.loads(answer.text))
    refused = json.loads((await browsing.get("/api/v1/games/99")).text)
    assert_message("Status", refused)
    served = await browsing.get("/api/v1/openapi.json")
    assert json.loads(served.text) == document()


@pytest.mark.settings(registration="closed")
async def test_refusals_are_described(site: SiteInTest) -> None:
    """Each by its status, where it can happen."""
    await site.server.register("ada")
    operator = {"authorization": f"Bearer {site.server.operator_token}"}
    for verb, path, place, body, headers, status in (
        ("GET", "/games?bots=ada", "/games", b"", {}, 400),
        ("POST", "/bots", "/bots", b"{}", {}, 401),
        ("POST", "/bots", "/bots", b"{}", {"origin": "http://evil.example"}, 403),
        ("GET", "/games/99", "/games/{game_id}", b"", {}, 404),
        ("POST", "/bots", "/bots", b'{"name": "ada"}', operator, 409),
        ("POST", "/bots", "/bots", b" " * (MAX_BODY + 1), {}, 413),
    ):
        typed = {"content_type": "application/json", **headers}
        answer = await site.browse().send(verb, f"/api/v1{path}", body, typed)
        assert answer.status == status
        assert_message("Status", json.loads(answer.text))
        assert str(status) in document()["paths"][f"/api/v1{place}"][verb.lower()]["responses"]
