"""The page about the JSON API: its commands are carried out, its tables are true."""

from __future__ import annotations

import shlex
from urllib.parse import urlsplit

import pytest
from tests.docs.pages import page
from tests.web.browsing import Answer
from tests.web.conftest import SiteInTest, site  # noqa: F401 - a fixture

from meijin.web.api.methods import LEFT_OUT


@pytest.mark.settings(registration="closed")
async def test_commands_are_answered(site: SiteInTest) -> None:  # noqa: F811 - the fixture
    """Each is sent as curl sends it, and gets what it asks for."""
    for command in page("docs/api.md").commands():
        answer = await curl(site, command.text)
        path = urlsplit(shlex.split(command.text)[-1]).path
        if "/games/1/" in path or "/ladders/" in path:  # nothing was played here
            assert answer.status == 404
            assert "game" in answer.text or "ladder" in answer.text
        else:
            assert answer.status == 200, f"{command.text}: {answer.text}"


async def curl(site: SiteInTest, text: str) -> Answer:  # noqa: F811 - the fixture
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


def test_what_is_left_out_is_told() -> None:
    """The table has every method that the API does not offer, and the reason."""
    rows = page("docs/api.md").table("## What is not offered")
    assert {name.strip("`"): reason for name, reason in rows} == LEFT_OUT
