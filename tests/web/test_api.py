"""The JSON API: the contract's methods over HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from tests.web.browsing import Answer, Browsing
from tests.web.conftest import OpenSite, SiteInTest

from meijin.server.settings import Reading, Registration
from meijin.v1 import game_service_pb2
from meijin.web.api import streams
from meijin.web.api.contract import load, signature
from meijin.web.api.methods import LEFT_OUT, METHODS, PACKAGE
from meijin.web.api.requests import MAX_BODY
from meijin.web.cache import PageCache
from meijin.web.policy import Hosts
from meijin.web.refusals import Refusal
from meijin.web.remote import RemoteGateway
from meijin.web.shell import Shell, SiteSettings
from meijin.web.site import application


def sent(answer: Answer) -> Any:
    """What an answer says."""
    assert answer.headers["content-type"].startswith("application/json"), answer.body
    return json.loads(answer.text)


async def post(browsing: Browsing, path: str, value: object, **headers: str) -> Answer:
    """Send a value."""
    body = json.dumps(value).encode()
    return await browsing.send("POST", path, body, {"content_type": "application/json", **headers})


def test_every_method_is_offered_or_left_out_for_a_reason() -> None:
    """What the contract grows by is in the table, and what is there is in the contract."""
    contract = set()
    for name in load():
        module = __import__(f"{PACKAGE}.{name}", fromlist=["DESCRIPTOR"])
        for service in module.DESCRIPTOR.services_by_name.values():
            contract |= {f"{service.name}/{method.name}" for method in service.methods}
    offered = [method.name for method in METHODS]
    assert len(offered) == len(set(offered))
    assert set(offered) | set(LEFT_OUT) == contract
    assert not set(offered) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


def test_every_place_has_one_method_a_verb() -> None:
    """No two methods answer the same, and braces in a path are fields of texts."""
    assert len({(method.verb, method.path) for method in METHODS}) == len(METHODS)
    for method in METHODS:
        fields = signature(method.name).request.DESCRIPTOR.fields_by_name
        for part in method.path.split("/"):
            if part.startswith("{"):
                assert fields[part.strip("{}")].type == fields[part.strip("{}")].TYPE_STRING


async def test_games_are_looked_up(open_site: OpenSite) -> None:
    """Lists, one of them, and its record, in protobuf's JSON mapping."""
    async with open_site() as site:
        await site.server.pair()
        browsing = site.browse()
        listed = sent(await browsing.get("/api/v1/games?state=GAME_STATE_RUNNING&page_size=1"))
        (game,) = listed["games"]
        assert game["variant"]["width"] == 5
        assert listed["next_page_token"] == ""
        one = sent(await browsing.get(f"/api/v1/games/{game['game_id']}"))
        assert one["game"]["game_id"] == game["game_id"]
        path = f"/api/v1/games/{game['game_id']}/record?format=RECORD_FORMAT_JSON"
        assert json.loads(sent(await browsing.get(path))["text"])


async def test_answer_is_sent_once(open_site: OpenSite) -> None:
    """Who has it already is told so, unless it was for a token."""
    async with open_site() as site:
        browsing = site.browse()
        first = await browsing.get("/api/v1/bots")
        assert first.headers["cache-control"] == "no-cache"
        again = await browsing.get("/api/v1/bots", if_none_match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        token = {"authorization": f"Bearer {site.server.operator_token}"}
        shown = await browsing.get("/api/v1/bots", **token)
        assert (shown.status, shown.headers["cache-control"]) == (200, "no-store")


async def test_changes_need_a_token_and_no_cookie_counts(open_site: OpenSite) -> None:
    """A session of the pages opens nothing here."""
    async with open_site(registration=Registration.CLOSED) as site:
        browsing = site.browse()
        await browsing.post("/sign-in", token=site.server.operator_token, next="/")
        assert browsing.cookies
        refused = await post(browsing, "/api/v1/bots", {"name": "cy"})
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        token = {"authorization": f"Bearer {site.server.operator_token}"}
        made = sent(await post(browsing, "/api/v1/bots", {"name": "cy"}, **token))
        assert (made["bot"]["name"], bool(made["token"])) == ("cy", True)
        twice = await post(browsing, "/api/v1/bots", {"name": "cy"}, **token)
        status = sent(twice)
        assert (twice.status, status["code"]) == (409, 6)
        assert status["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"


async def test_path_and_body_make_a_request(open_site: OpenSite) -> None:
    """A field that stands in the path may stand in the body too, if it is the same."""
    async with open_site() as site:
        await site.server.register("ada")
        browsing = site.browse()
        path, json_type = "/api/v1/bots/ada", {"content_type": "application/json"}
        body = b'{"name": "ada", "hidden": true}'
        hidden = sent(await browsing.send("PATCH", path, body, json_type))
        assert hidden["bot"]["hidden"] is True
        wrong = b'{"name": "bea", "hidden": false}'
        assert (await browsing.send("PATCH", path, wrong, json_type)).status == 400
        shown = sent(await browsing.send("PATCH", path, b'{"hidden": false}', json_type))
        assert shown["bot"]["hidden"] is False


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/v1/games?bots=ada", "no parameter 'bots'; there are: tournament_id, bot"),
        ("/api/v1/games?page_size=many", "page_size"),
        ("/api/v1/games?page_size=1&page_size=2", "twice"),
        ("/api/v1/games?state=GAME_STATE_NONE", "state"),
        ("/api/v1/games?with_moves=perhaps", "with_moves must be true or false"),
        ("/api/v1/games?start_time=now", "start_time"),
        ("/api/v1/games?start_time.seconds=1", "start_time has no fields"),
        ("/api/v1/games/1?game_id=2", "game_id stands in the path"),
        ("/api/v1/games?" + "&".join(["bot=a"] * 301), "300 parameters"),
        ("/api/v1/bots?page_size=" + "9" * 5000, "page_size"),
    ],
)
async def test_wrong_parameters_are_named(open_site: OpenSite, path: str, words: str) -> None:
    """A request that can't be is told what is wrong with it, in one line."""
    async with open_site() as site:
        answer = await site.browse().get(path)
        status = sent(answer)
        assert answer.status == 400
        assert words.lower() in status["message"].lower()
        assert "\n" not in status["message"]
        assert len(status["message"]) < 500


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"nickname": "ada"}', 'no field named "nickname"'),
        (b'{"name": 7}', "name"),
        (b'{"name": "a", "name": "b"}', "name"),
        (b"[" * 100_000, "RegisterBotRequest"),
        (b'{"name": "\\ud800"}', "RegisterBotRequest"),
        (b"\xff", "RegisterBotRequest"),
        (b'{"name": ' + b"9" * 5000 + b"}", "RegisterBotRequest"),
    ],
)
async def test_wrong_bodies_are_told(open_site: OpenSite, body: bytes, words: str) -> None:
    """Whatever is sent, the answer is a sentence about it."""
    async with open_site() as site:
        headers = {"content_type": "application/json"}
        answer = await site.browse().send("POST", "/api/v1/bots", body, headers)
        assert answer.status == 400
        assert words in sent(answer)["message"]
        assert "\n" not in sent(answer)["message"]


async def test_sizes_are_bounded(open_site: OpenSite) -> None:
    """Neither a body nor an address is as long as its sender likes."""
    async with open_site() as site:
        browsing = site.browse()
        json_body = {"content_type": "application/json"}
        long_body = await browsing.send("POST", "/api/v1/bots", b" " * (MAX_BODY + 1), json_body)
        assert long_body.status == 413
        assert (await browsing.get("/api/v1/bots?" + "a" * 17_000)).status == 414
        token = {"authorization": "Bearer " + "a" * 300}
        assert (await browsing.get("/api/v1/bots", **token)).status == 401


async def test_nothing_and_other_verbs(open_site: OpenSite) -> None:
    """They are refused in JSON, with what there is instead."""
    async with open_site() as site:
        browsing = site.browse()
        nothing = await browsing.get("/api/v1/nothing")
        assert (nothing.status, sent(nothing)["code"]) == (404, 5)
        assert (await browsing.get("/api/v1/games/99")).status == 404
        refused = await browsing.send("PATCH", "/api/v1/games", b"", {})
        assert (refused.status, "GET, HEAD, OPTIONS" in sent(refused)["message"]) == (405, True)
        head = await browsing.send("HEAD", "/api/v1/games", b"", {})
        assert head.status == 200
        options = await browsing.send("OPTIONS", "/api/v1/tournaments", b"", {})
        assert options.headers["allow"] == "GET, HEAD, OPTIONS, POST"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"content_type": "text/plain"},
    ],
)
async def test_other_pages_change_nothing(open_site: OpenSite, headers: dict[str, str]) -> None:
    """What a browser sends for a page elsewhere is refused, also where nobody needs a token."""
    async with open_site() as site:
        told = {"content_type": "application/json", **headers}
        answer = await site.browse().send("POST", "/api/v1/bots", b'{"name": "cy"}', told)
        assert answer.status in {403, 415}
        assert sent(await site.browse().get("/api/v1/bots"))["bots"] == []


async def test_other_pages_read_what_is_public_alone(open_site: OpenSite) -> None:
    """A server that only this machine reaches is not read by pages that its browser shows."""
    async with open_site() as site:
        own = await site.browse().get("/api/v1/games")
        assert "access-control-allow-origin" not in own.headers
        settings = SiteSettings(Hosts(public_url="http://127.0.0.1"))
        public = Shell(site.shell.gateway, settings)
        answer = await Browsing(application(public)).get("/api/v1/games")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        public.cache.close()


async def test_unknown_token_is_refused(open_site: OpenSite) -> None:
    """It is not taken for nobody's."""
    async with open_site(registration=Registration.CLOSED, reading=Reading.TOKEN) as site:
        browsing = site.browse()
        assert (await browsing.get("/api/v1/games")).status == 401
        assert (await browsing.get("/api/v1/games", authorization="Bearer mj_no")).status == 401
        assert (await browsing.get("/api/v1/games", authorization="Basic x")).status == 401
        right = f"Bearer {site.server.operator_token}"
        assert (await browsing.get("/api/v1/games", authorization=right)).status == 200


async def test_game_is_followed_by_lines(open_site: OpenSite) -> None:
    """Each message is a line, and the stream ends with the game."""
    async with open_site() as site:
        peers = await site.server.pair()
        assert peers
        game = sent(await site.browse().get("/api/v1/games"))["games"][0]
        watching = asyncio.create_task(site.browse().get(f"/api/v1/games/{game['game_id']}/watch"))
        await void(site, game["game_id"])
        answer = await watching
        assert answer.headers["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert lines[-1]["game"]["state"] == "GAME_STATE_VOID"


async def void(site: SiteInTest, game_id: str) -> None:
    """End a game."""
    path = f"/api/v1/games/{game_id}/void"
    assert (await post(site.browse(), path, {"reason": "a test"})).status == 200


async def test_stream_that_is_refused_has_its_status(open_site: OpenSite) -> None:
    """As any other call that is refused before its first message."""
    async with open_site() as site:
        answer = await site.browse().get("/api/v1/games/99/watch")
        assert (answer.status, sent(answer)["code"]) == (404, 5)


async def test_stream_ends_with_the_site() -> None:
    """An open stream does not keep a server from stopping: it ends in order."""
    closing, cache = asyncio.Event(), PageCache()
    unread = [game_service_pb2.WatchGameResponse()]
    sent_messages: list[Any] = []

    async def read() -> Any:
        return unread.pop() if unread else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent_messages.append(message)
        if message["type"] == "http.response.body":
            closing.set()

    async def receive() -> Any:
        await asyncio.Event().wait()

    await streams.Lines(Mock(read=read), cache, closing).send(receive, send, [], None)
    assert [message.get("more_body") for message in sent_messages] == [None, True, False]
    cache.close()


async def test_reader_who_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for it takes no memory for longer than a moment."""
    monkeypatch.setattr(streams, "WRITE_TIMEOUT", timedelta(milliseconds=1))
    transport, cache = Mock(), PageCache()
    call = Mock(read=AsyncMock(return_value=game_service_pb2.WatchGameResponse()))
    lines = streams.Lines(call, cache, asyncio.Event())

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    await lines.send(receive, send, [], transport)
    transport.abort.assert_called_once_with()
    call.cancel.assert_called_once_with()
    cache.close()


def test_streams_are_bounded() -> None:
    """An address has so many at once, and a place is free again after each."""
    places = streams.Places()
    with ExitStack() as stack:
        for _ in range(streams.MAX_STREAMS_OF_HOST):
            stack.enter_context(places.hold("192.0.2.1"))
        with pytest.raises(Refusal, match="too many streams"), places.hold("192.0.2.1"):
            pass
        with places.hold("192.0.2.2"):
            pass
    with places.hold("192.0.2.1"):
        pass


async def test_server_elsewhere_answers_too(open_site: OpenSite) -> None:
    """By a connection, with the token, the refusals and the streams of a server in the process."""
    async with open_site(registration=Registration.CLOSED) as site:
        ada, bob = [await site.server.register(name) for name in ("ada", "bob")]
        for name, token in (("ada", ada), ("bob", bob)):
            await site.server.bot(name, token=token)
        await site.server.tournament("ada", "bob", token=site.server.operator_token)
        await site.server.until(lambda: site.server.running)
        shell = Shell(RemoteGateway(await site.server.channel()), SiteSettings())
        browsing = Browsing(application(shell))
        shown = {"authorization": f"Bearer {site.server.operator_token}"}
        game = sent(await browsing.get("/api/v1/games", **shown))["games"][0]["game_id"]
        assert (await browsing.get("/api/v1/games/99/watch")).status == 404
        assert (await post(browsing, "/api/v1/bots", {"name": "cy"})).status == 401
        watching = asyncio.create_task(browsing.get(f"/api/v1/games/{game}/watch"))
        await post(browsing, f"/api/v1/games/{game}/void", {"reason": "a test"}, **shown)
        lines = (await watching).text.splitlines()
        assert json.loads(lines[-1])["game"]["state"] == "GAME_STATE_VOID"
        shell.cache.close()
