"""Registering bots, and who is there."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import text
from tests.query_plans import statements

from meijin.server.access import last_seen
from meijin.server.api.services import bots
from meijin.server.api.streams import play
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer
    from tests.server_in_test import ServerInTest

LIST, GET = "BotService/ListBots", "BotService/GetBot"
DISPLAY_NAMES = "BotService/ListDisplayNames"
SEEN = text("SELECT count(*) FROM bot WHERE last_seen_time IS NOT NULL")


async def names(server: ServerInTest, **request: Any) -> tuple[list[str], str]:
    page = await server.ask(LIST, **request)
    return [bot.name for bot in page.bots], page.next_page_token


async def listed(server: ServerInTest) -> dict[str, pb.Bot]:
    return {bot.name: bot for bot in (await server.ask(LIST)).bots}


async def test_a_registered_bot_has_a_token(server: ServerInTest) -> None:
    """It is shown once; the bot comes in with it, and is listed with its owner."""
    made = await server.ask("BotService/RegisterBot", name="ada", owner="eve")
    assert (made.bot.name, made.bot.owner, made.bot.connected) == ("ada", "eve", False)
    assert made.token.startswith("gmk_bot_")
    await server.bot("ada", token=made.token)
    bot = (await listed(server))["ada"]
    assert (bot.name, bot.owner, bot.create_time) == ("ada", "eve", made.bot.create_time)


async def test_those_who_are_there_are_listed_with_what_they_play(server: ServerInTest) -> None:
    """By name, in pages; a filter leaves out the others, through all pages."""
    for name in ("b1", "a1", "a2"):
        await server.register(name)
    ada, _ = await server.bot("ada", max_games=3), await server.bot("bob")
    assert await names(server) == (["a1", "a2", "ada", "b1", "bob"], "")
    for filters, wanted in (
        ({}, ["a1", "a2", "ada", "b1", "bob"]),
        ({"connected": True}, ["ada", "bob"]),
    ):
        found, token = await names(server, **filters, page_size=1)
        while token:
            more, token = await names(server, **filters, page_size=1, page_token=token)
            found += more
        assert found == wanted
    await server.tournament("ada", "bob")
    await ada.started()
    bots = await listed(server)
    assert (bots["ada"].connected, bots["ada"].running_games) == (True, 1)
    assert bots["ada"].capabilities.max_games == 3
    assert (bots["a1"].connected, bots["a1"].HasField("capabilities")) == (False, False)
    ada.call.cancel()
    await server.away("ada")
    bot = (await listed(server))["ada"]
    assert (bot.connected, bot.running_games, bot.HasField("capabilities")) == (False, 1, False)


async def test_those_who_are_there_are_found_without_the_others(server: ServerInTest) -> None:
    """They are known: however many bots are stored, theirs alone are read."""
    for number in range(3):
        await server.register(f"a{number}")
    await server.bot("zoe")
    with statements(server.database.reader) as asked:
        assert await names(server, connected=True) == (["zoe"], "")
    (query,) = [words for words in asked if "FROM bot" in words and "rating" not in words]
    assert "bot.id IN" in query


async def test_a_list_says_what_a_bot_has_come_to(server: ServerInTest) -> None:
    """Its newest version, games with a result, and when it was seen; nothing of a new one."""
    await server.register("zoe")
    black, white = await server.pair()
    await black.resign(black.start.game)
    await white.ended()
    await server.bot("ada", version="2.0")
    bots = await listed(server)
    ada, bob, zoe = (bots[name] for name in ("ada", "bob", "zoe"))
    assert (ada.version, bob.version, zoe.version) == ("2.0", "", "")
    assert (ada.games, bob.games, zoe.games) == (1, 1, 0)
    assert not ada.HasField("rating")
    assert ada.last_seen_time.ToSeconds() > 0
    assert not zoe.HasField("last_seen_time")
    before = ada.last_seen_time.ToDatetime()
    await server.parts.seen.note()
    for peer in (black, white):
        peer.call.cancel()
    await server.away("bob")
    assert (await listed(server))["bob"].last_seen_time.ToDatetime() >= before
    assert server.database.read(lambda at: at.scalar(SEEN)) == 2


async def test_two_versions_are_compared(server: ServerInTest) -> None:
    """By their ids, with what the published run says of them; others are not found."""
    for version in ("1.0", "2.0"):
        await server.bot("ada", version=version)
    versions = (await server.ask(GET, name="ada", with_results=True)).versions
    newer, older = (each.version_id for each in versions)
    asked = {"name": "ada", "version_id": older, "other_version_id": newer}
    found = await server.ask("BotService/CompareVersions", **asked)
    assert (found.one.version, found.other.version) == ("1.0", "2.0")
    assert (found.one_games, found.other_games, found.positions) == (0, 0, 0)
    assert not found.one.HasField("score")
    for missing in ({"name": "bob"}, {"version_id": "77"}):
        end = await server.refusal("BotService/CompareVersions", **asked | missing)
        assert end.reason == "NOT_FOUND"


async def test_all_bots_are_seen_in_portions(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are connected, each commit is of a few of them."""
    monkeypatch.setattr(last_seen, "AT_ONCE", 2)
    for name in ("ada", "bob", "zoe"):
        await server.bot(name)
    server.database.write(lambda at: at.execute(text("UPDATE bot SET last_seen_time = NULL")))
    with statements(server.database.writer) as said:
        await server.parts.seen.note()
    assert len([statement for statement in said if "UPDATE bot" in statement]) == 2
    assert server.database.read(lambda at: at.scalar(SEEN)) == 3


async def test_versions_are_listed_oldest_first(server: ServerInTest) -> None:
    """With what the bot said of itself; a version that returns is no new one.

    With a bot's results they come newest first, each with the one before it.
    """
    for version, digest in (("1", "x"), ("2", "y"), ("1b", "x"), ("3", "")):
        peer = await server.peer()
        await peer.hello(
            "ada",
            engine=play_pb.Engine(version=version, digest=digest, configuration=["depth=4"]),
            hardware=f"machine {version[0]}",
            nodes_per_second=ord(version[0]),
        )
        await peer.welcome()
    bot = (await listed(server))["ada"]
    assert (bot.hardware, bot.nodes_per_second) == ("machine 3", ord("3"))
    assert (bot.digest, list(bot.configuration)) == ("version:3", ["depth=4"])
    page = await server.ask("BotService/ListBotVersions", name="ada", page_size=2)
    token = page.next_page_token
    rest = await server.ask("BotService/ListBotVersions", name="ada", page_token=token)
    versions = [*page.versions, *rest.versions]
    assert rest.next_page_token == ""
    assert [(each.version, each.digest, each.hardware) for each in versions] == [
        ("1", "x", "machine 1"),
        ("2", "y", "machine 2"),
        ("3", "version:3", "machine 3"),
    ]
    assert [version.nodes_per_second for version in versions] == [ord(each) for each in "123"]
    assert list(versions[0].configuration) == ["depth=4"]
    assert versions[0].create_time.seconds > 0
    found = (await server.ask(GET, name="ada", with_results=True)).versions
    parents = [versions[1].version_id, versions[0].version_id, ""]
    assert [each.version for each in found] == ["3", "2", "1"]
    assert [each.parent_version_id for each in found] == parents


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_token_that_is_replaced_during_the_hello_opens_no_stream(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch, *, is_open: bool
) -> None:
    """Before it, or when it was granted and the answer not yet here; an open bot's likewise."""
    monkeypatch.setattr(play, "HELLO_TIMEOUT", timedelta(minutes=1))
    token = None if is_open else await server.register("ada")
    await server.register("bob")
    waiting = await server.peer(token)
    await server.until(lambda: server.tasks("Play"))
    storage, write = server.parts.storage, server.parts.storage.write
    granted, gate = asyncio.Event(), asyncio.Event()

    async def slow_write(work: Any, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(storage, "write", write)
        answer = await write(work, *args, **kwargs)
        granted.set()
        await gate.wait()
        return answer

    monkeypatch.setattr(storage, "write", slow_write)
    peer = await server.peer(token)
    await peer.hello("ada")
    await granted.wait()
    await server.rotate("ada")
    gate.set()
    await waiting.hello("ada")
    for stream in (peer, waiting):
        assert (await stream.closed()).reason == "UNKNOWN_TOKEN"
    assert await server.connected() == set()


async def test_bots_are_searched(server: ServerInTest) -> None:
    """In their names and in what people call them; signs of patterns stand for themselves."""
    for name, called in (("ada", ""), ("bob", "The Adamant"), ("eve_1", ""), ("eve-1", "")):
        await server.ask("BotService/RegisterBot", name=name, display_name=called)
    assert await names(server, search="ADA") == (["ada", "bob"], "")
    assert await names(server, search="_") == (["eve_1"], "")
    assert await names(server, search="%") == ([], "")
    assert await names(server, search="e", page_size=1) == (["bob"], "bob")
    await server.bot("bob", token=await server.rotate("bob"))
    assert await names(server, search="ada", connected=True) == (["bob"], "")


async def test_a_bot_with_its_results(server: ServerInTest) -> None:
    black, _white = await server.pair(rounds=1)
    await black.resign((await black.turn()).game)
    await black.ended()
    found = await server.ask(GET, name=black.name, with_results=True)
    bot = (await listed(server))[black.name]
    assert found.bot.connected
    found.bot.last_seen_time.CopyFrom(bot.last_seen_time)
    assert found.bot == bot
    (version,) = found.versions
    assert (version.parent_version_id, version.HasField("rating")) == ("", False)
    assert (found.results.games, found.results.scores.as_black.losses) == (1, 1)
    assert found.results.openings[0].variant.width > 0
    assert found.results.endings[0].ending == game_pb2.ENDING_RESIGN
    plain = await server.ask(GET, name=black.name)
    assert (len(plain.versions), plain.HasField("results")) == (0, False)


async def test_text_that_the_database_can_not_hold_is_refused(
    start_server: StartServer, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL knows no NUL: that is the caller's fault, and no incident."""
    url: str = request.getfixturevalue("postgresql").new_database()
    async with start_server(database_url=url) as server, server.innocents():
        peer = await server.peer()
        await peer.hello("ada", engine=play_pb.Engine(version="\0"))
        assert (await peer.closed()).reason == "INVALID_REQUEST"
        with pytest.raises(grpc.aio.AioRpcError, match="can't hold"):
            await server.rotate("a\0")


async def test_display_names_are_told_once(server: ServerInTest) -> None:
    """Of all that have one and are not hidden; again when any has changed, under another version."""
    for name, called in (("ada", ""), ("bob", "Bob the Bold"), ("eve", "夏娃"), ("old", "Old")):
        await server.ask("BotService/RegisterBot", name=name, display_name=called)
    await server.ask("BotService/UpdateBot", name="old", hidden=True)
    person = await server.ask("ChallengeService/EnterAsPerson", display_name="Zoë")
    first = await server.ask(DISPLAY_NAMES)
    assert first.display_names == {"bob": "Bob the Bold", "eve": "夏娃", person.name: "Zoë"}
    again = await server.ask(DISPLAY_NAMES, version=first.version)
    assert (again.version, again.display_names) == (first.version, {})
    await server.ask("BotService/UpdateBot", name="eve", new_name="eva")
    changed = await server.ask(DISPLAY_NAMES, version=first.version)
    assert changed.version != first.version
    assert changed.display_names["eva"] == "夏娃"


async def test_display_names_page_by_page(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots before people, and newest first."""
    monkeypatch.setattr(bots, "DISPLAY_NAMES", 2)
    await server.ask("ChallengeService/EnterAsPerson", display_name="Zoë")
    for name in ("ada", "bob"):
        await server.ask("BotService/RegisterBot", name=name, display_name=name.title())
    first = await server.ask(DISPLAY_NAMES)
    assert first.display_names == {"bob": "Bob", "ada": "Ada"}
    last = await server.ask(DISPLAY_NAMES, page_token=first.next_page_token)
    assert (list(last.display_names.values()), last.next_page_token) == (["Zoë"], "")
