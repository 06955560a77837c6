"""The page about the JSON API: its commands are carried out, its tables are true."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.web.browsing import Answer
from tests.web.conftest import SiteInTest, open_site  # noqa: F401 - a fixture

from meijin.server.settings import Registration
from meijin.web.api import requests, streams
from meijin.web.api.methods import LEFT_OUT

if TYPE_CHECKING:
    from tests.docs.conftest import Page


async def test_commands_are_answered(
    pages: Callable[[str], Page],
    open_site: Any,  # noqa: F811 - the fixture
) -> None:
    """Each is sent as curl sends it, and gets what it asks for."""
    commands = pages("docs/api.md").commands
    async with open_site(registration=Registration.CLOSED) as site:
        for command in commands:
            answer = await curl(site, command.text)
            path = urlsplit(shlex.split(command.text)[-1]).path
            if "/games/1/" in path or "/ladders/" in path:  # nothing was played here
                assert answer.status == 404
                assert "game" in answer.text or "ladder" in answer.text
            else:
                assert answer.status == 200, f"{command.text}: {answer.text}"


async def curl(site: SiteInTest, text: str) -> Answer:
    """Send what a command of curl does."""
    program, *words = shlex.split(text.replace("$TOKEN", site.server.operator_token))
    assert program == "curl"
    *options, address = words
    verb, body, headers = "GET", b"", {}
    while options:
        match options:
            case ["-N", *options]:
                pass
            case ["-X", verb, *options]:
                pass
            case ["-H", header, *options]:
                name, _, value = header.partition(": ")
                headers[name] = value
            case ["--json", data, *options]:
                verb, body = "POST", data.encode()
                headers["content-type"] = "application/json"
            case _:
                pytest.fail(f"unknown option in {text}")
    url = urlsplit(address)
    assert url.netloc == "127.0.0.1:7465"
    return await site.browse().send(verb, f"{url.path}?{url.query}", body, headers)


def test_what_is_left_out_is_told(pages: Callable[[str], Page]) -> None:
    """The table has every method that the API does not offer, and the reason."""
    rows = pages("docs/api.md").table("## What is not offered")
    assert {name.strip("`"): reason for name, reason in rows} == LEFT_OUT


def test_bounds_are_as_told(pages: Callable[[str], Page]) -> None:
    """The table has the numbers that hold."""
    body, address, open_streams, line = (row[1] for row in pages("docs/api.md").table("## Bounds"))
    assert body == f"{requests.MAX_BODY:,} bytes"
    assert address == (f"{requests.MAX_QUERY:,} characters, {requests.MAX_PARAMETERS} parameters")
    held = (streams.MAX_STREAMS_OF_HOST, streams.MAX_STREAMS)
    assert open_streams == "{} of an address, {} of all".format(*held)
    assert line == f"{streams.WRITE_TIMEOUT.seconds} s"


def test_example_of_a_body_is_json(pages: Callable[[str], Page]) -> None:
    """What a command sends can be read."""
    bodies = [
        words[words.index("--json") + 1]
        for command in pages("docs/api.md").commands
        if "--json" in (words := shlex.split(command.text))
    ]
    assert bodies
    assert all(json.loads(body) for body in bodies)
