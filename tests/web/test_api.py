"""The JSON API: the contract's methods over HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from tests.openapi import assert_answers
from tests.peer import play_moves
from tests.server_in_test import FIVE
from tests.web.browsing import Answer, Browsing
from tests.web.conftest import SiteInTest

from meijin.v1 import game_service_pb2
from meijin.web.api import streams
from meijin.web.api.methods import LEFT_OUT, METHODS
from meijin.web.api.requests import MAX_BODY
from meijin.web.cache import PageCache
from meijin.web.gateway import RemoteGateway
from meijin.web.policy import Hosts
from meijin.web.refusals import Refusal
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState
from meijin.web.streaming import OpenStreams, PartedAnswer
from meijin.wire.methods import contract_methods, method_name


def sent(answer: Answer) -> Any:
    assert answer.headers["content-type"].startswith("application/json"), answer.body
    return json.loads(answer.text)


async def post(browsing: Browsing, path: str, value: object, **headers: str) -> Answer:
    body = json.dumps(value).encode()
    return await browsing.send("POST", path, body, {"content_type": "application/json", **headers})


def test_every_method_is_offered_or_left_out_for_a_reason() -> None:
    """What the contract grows by is in the table, and what is there is in the contract."""
    contract = set(map(method_name, contract_methods()))
    offered = [method.name for method in METHODS]
    assert len(offered) == len(set(offered))
    assert set(offered) | set(LEFT_OUT) == contract
    assert not set(offered) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


def test_every_place_has_one_method_a_verb() -> None:
    """No two methods answer the same, and braces in a path are fields of texts."""
    assert len({(method.verb, method.path) for method in METHODS}) == len(METHODS)
    for method in METHODS:
        fields = method.request.DESCRIPTOR.fields_by_name
        for part in method.path.split("/"):
            if part.startswith("{"):
                assert fields[part.strip("{}")].type == fields[part.strip("{}")].TYPE_STRING


async def test_games_are_looked_up(site: SiteInTest, browsing: Browsing) -> None:
    """Lists, one of them, and its record."""
    await site.server.pair()
    listed = sent(await browsing.get("/api/v1/games?state=running&page_size=1"))
    (game,) = listed["games"]
    assert game["variant"]["width"] == 5
    assert listed["next_page_token"] == ""
    one = sent(await browsing.get(f"/api/v1/games/{game['game_id']}"))
    assert one["game"]["game_id"] == game["game_id"]
    path = f"/api/v1/games/{game['game_id']}/record?format=json"
    assert json.loads(sent(await browsing.get(path))["text"])


async def test_answer_is_sent_once(site: SiteInTest, browsing: Browsing) -> None:
    """Who has it already is told so, unless it was for a token."""
    first = await browsing.get("/api/v1/bots")
    assert first.headers["cache-control"] == "no-cache"
    again = await browsing.get("/api/v1/bots", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    token = {"authorization": f"Bearer {site.server.operator_token}"}
    shown = await browsing.get("/api/v1/bots", **token)
    assert (shown.status, shown.headers["cache-control"]) == (200, "no-store")


@pytest.mark.settings(registration="closed")
async def test_changes_need_a_token_and_no_cookie_counts(
    site: SiteInTest, browsing: Browsing
) -> None:
    """A session of the pages opens nothing here."""
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


async def test_path_and_body_make_a_request(site: SiteInTest, browsing: Browsing) -> None:
    """A field that stands in the path may stand in the body too, if it is the same."""
    await site.server.register("ada")
    path, json_type = "/api/v1/bots/ada", {"content_type": "application/json"}
    body = b'{"name": "ada", "hidden": true}'
    hidden = sent(await browsing.send("PATCH", path, body, json_type))
    assert hidden["bot"]["hidden"] is True
    wrong = b'{"name": "bea", "hidden": false}'
    assert (await browsing.send("PATCH", path, wrong, json_type)).status == 400
    shown = sent(await browsing.send("PATCH", path, b'{"hidden": false}', json_type))
    assert shown["bot"]["hidden"] is False


JSON_TYPE = {"content_type": "application/json"}


def looked(path: str, words: str, status: int = 400, **headers: str) -> Any:
    return "GET", path, b"", headers, status, words


def sent_bots(body: bytes, words: str, status: int = 400, **headers: str) -> Any:
    """A bot that is registered in a way that can't be."""
    return "POST", "/bots", body, {**JSON_TYPE, **headers}, status, words


REFUSED: tuple[Any, ...] = (
    looked("/games?bots=ada", "no parameter 'bots'; there are: tournament_id, bot"),
    looked("/games?page_size=many", "page_size"),
    looked("/games?page_size=1&page_size=2", "twice"),
    looked("/games?state=none", "state"),
    looked("/games?with_moves=perhaps", "with_moves must be true or false"),
    looked("/games?start_time=now", "start_time"),
    looked("/games?start_time.seconds=1", "start_time has no fields"),
    looked("/games/1?game_id=2", "game_id stands in the path"),
    looked("/games?" + "&".join(["bot=a"] * 301), "300 parameters"),
    looked("/bots?page_size=" + "9" * 5000, "page_size"),
    looked("/bots?" + "a" * 17_000, "characters behind its path", 414),
    looked("/bots", "Authorization: Bearer TOKEN", 401, authorization="Bearer " + "a" * 300),
    looked("/nothing", "nothing here", 404),
    looked("/games/99", "no game 99", 404),
    looked("/games/99/watch", "no game 99", 404),
    ("PATCH", "/games", b"", {}, 405, "GET, HEAD, OPTIONS"),
    sent_bots(b'{"nickname": "ada"}', 'no field "nickname"'),
    sent_bots(b'{"name": 7}', "name"),
    sent_bots(b'{"name": "a", "name": "b"}', "name"),
    sent_bots(b"[" * 100_000, "RegisterBotRequest"),
    sent_bots(b'{"name": "\\ud800"}', "RegisterBotRequest"),
    sent_bots(b'{"\\ud800": 1}', 'no field "\\ud800"'),
    sent_bots(b"\xff", "RegisterBotRequest"),
    sent_bots(b'{"name": ' + b"9" * 5000 + b"}", "RegisterBotRequest"),
    sent_bots(b" " * (MAX_BODY + 1), "bytes", 413),
    sent_bots(b'{"name": "cy"}', "other hosts", 403, origin="http://evil.example"),
    sent_bots(b'{"name": "cy"}', "other hosts", 403, origin="null"),
    sent_bots(b'{"name": "cy"}', "other hosts", 403, sec_fetch_site="cross-site"),
    sent_bots(b'{"name": "cy"}', "has to be application/json", 415, content_type="text/plain"),
)


async def test_what_is_wrong_is_told_in_a_line(site: SiteInTest) -> None:
    """Whatever is sent; what a browser sends for a page elsewhere changes nothing."""
    for verb, path, body, headers, status, words in REFUSED:
        answer = await site.browse().send(verb, f"/api/v1{path}", body, headers)
        said = (verb, path[:100], body[:100], answer.text[:500])
        assert answer.status == status, said
        message = sent(answer)["message"]
        assert words.lower() in message.lower(), said
        assert "\n" not in message, said
        assert len(message) < 500, said
    assert sent(await site.browse().get("/api/v1/bots"))["bots"] == []


async def test_verbs_that_are_offered(browsing: Browsing) -> None:
    """A look may ask for the head alone, or for what there is."""
    assert (await browsing.send("HEAD", "/api/v1/games", b"", {})).status == 200
    options = await browsing.send("OPTIONS", "/api/v1/tournaments", b"", {})
    assert options.headers["allow"] == "GET, HEAD, OPTIONS, POST"


async def test_other_pages_read_what_is_public_alone(site: SiteInTest) -> None:
    """A server that only this machine reaches is not read by pages that its browser shows."""
    own = await site.browse().get("/api/v1/games")
    assert "access-control-allow-origin" not in own.headers
    settings = SiteSettings(Hosts(public_url="http://127.0.0.1"))
    public = SiteState(site.state.gateway, settings)
    answer = await Browsing(application(public)).get("/api/v1/games")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    public.cache.close()


@pytest.mark.settings(registration="closed", reading="token")
async def test_unknown_token_is_refused(site: SiteInTest, browsing: Browsing) -> None:
    """It is not taken for nobody's."""
    assert (await browsing.get("/api/v1/games")).status == 401
    assert (await browsing.get("/api/v1/games", authorization="Bearer mj_no")).status == 401
    assert (await browsing.get("/api/v1/games", authorization="Basic x")).status == 401
    right = f"Bearer {site.server.operator_token}"
    assert (await browsing.get("/api/v1/games", authorization=right)).status == 200


async def test_game_is_followed_by_lines(site: SiteInTest) -> None:
    """Each message is a line, and the stream ends with the game."""
    peers = await site.server.pair()
    game = sent(await site.browse().get("/api/v1/games"))["games"][0]
    watching = asyncio.create_task(site.browse().get(f"/api/v1/games/{game['game_id']}/watch"))
    await play_moves(peers, FIVE[:2])
    await void(site, game["game_id"])
    answer = await watching
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[-1]["game"]["state"] == "void"
    assert [move["cell"] for move in lines[-1]["game"]["moves"]] == ["a5", "a4"]
    refused = sent(await site.browse().get("/api/v1/games/99/watch"))
    for line in (*lines, {"error": refused}):
        assert_answers("/api/v1/games/{game_id}/watch", "get", line)


async def void(site: SiteInTest, game_id: str) -> None:
    path = f"/api/v1/games/{game_id}/void"
    assert (await post(site.browse(), path, {"reason": "a test"})).status == 200


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

    answer = PartedAnswer(streams.lines_of(Mock(read=read), cache), [], closing)
    await answer.send(receive, send, None, streams.WRITE_TIMEOUT)
    assert [message.get("more_body") for message in sent_messages] == [None, True, False]
    cache.close()


async def test_reader_who_reads_nothing_is_cut_off() -> None:
    """What waits for it takes no memory for longer than a moment."""
    transport, cache = Mock(), PageCache()
    call = Mock(read=AsyncMock(return_value=game_service_pb2.WatchGameResponse()))
    answer = PartedAnswer(streams.lines_of(call, cache), [], asyncio.Event())

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    await answer.send(receive, send, transport, timedelta(milliseconds=1))
    transport.abort.assert_called_once_with()
    call.cancel.assert_called_once_with()
    cache.close()


def test_streams_are_bounded() -> None:
    """An address has this many at once, and a place is free again after each."""
    places = OpenStreams(5, of_host=2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(places.hold("192.0.2.1"))
        with pytest.raises(Refusal, match="too many streams"), places.hold("192.0.2.1"):
            pass
        with places.hold("192.0.2.2"):
            pass
    with places.hold("192.0.2.1"):
        pass


@pytest.mark.settings(registration="closed")
async def test_server_elsewhere_answers_too(site: SiteInTest) -> None:
    """By a connection, with the token, the refusals and the streams of a server in the process."""
    ada, bob = [await site.server.register(name) for name in ("ada", "bob")]
    for name, token in (("ada", ada), ("bob", bob)):
        await site.server.bot(name, token=token)
    await site.server.tournament("ada", "bob")
    await site.server.until(lambda: site.server.running)
    state = SiteState(RemoteGateway(await site.server.channel()), SiteSettings())
    browsing = Browsing(application(state))
    shown = {"authorization": f"Bearer {site.server.operator_token}"}
    game = sent(await browsing.get("/api/v1/games", **shown))["games"][0]["game_id"]
    assert (await browsing.get("/api/v1/games/99/watch")).status == 404
    assert (await post(browsing, "/api/v1/bots", {"name": "cy"})).status == 401
    watching = asyncio.create_task(browsing.get(f"/api/v1/games/{game}/watch"))
    await post(browsing, f"/api/v1/games/{game}/void", {"reason": "a test"}, **shown)
    lines = (await watching).text.splitlines()
    assert json.loads(lines[-1])["game"]["state"] == "void"
    state.cache.close()
