"""Registering bots, and who is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import text
from tests.query_plans import statements

from meijin.server.access import last_seen
from meijin.testing.server import ServerInTest, until
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import game_pb2, play_service_pb2

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
REGISTER = "/meijin.v1.BotService/RegisterBot"


async def names(server: ServerInTest, **request: Any) -> tuple[list[str], str]:
    """One page of bots, and where the next begins."""
    page = await (await server.bots()).ListBots(pb.ListBotsRequest(**request))
    return [bot.name for bot in page.bots], page.next_page_token


async def register(server: ServerInTest, *bots: str) -> None:
    """Register bots."""
    service = await server.bots()
    for name in bots:
        await service.RegisterBot(pb.RegisterBotRequest(name=name))


async def test_a_registered_bot_has_a_token(server: ServerInTest) -> None:
    """It is shown once; the bot comes in with it, and is listed with its owner."""
    service = await server.bots()
    made = await service.RegisterBot(pb.RegisterBotRequest(name="ada", owner="eve"))
    assert (made.bot.name, made.bot.owner, made.bot.connected) == ("ada", "eve", False)
    assert made.token.startswith("gmk_bot_")
    await server.bot("ada", token=made.token)
    (bot,) = (await service.ListBots(pb.ListBotsRequest())).bots
    assert (bot.name, bot.owner, bot.create_time) == ("ada", "eve", made.bot.create_time)


async def test_a_name_is_taken_once(server: ServerInTest, ending: Callable[..., Any]) -> None:
    """Registered and open bots share their names."""
    await register(server, "ada")
    await server.bot("bob")
    channel = await server.channel()
    for name in ("ada", "bob"):
        request = pb.RegisterBotRequest(name=name).SerializeToString()
        end = await ending(channel, REGISTER, request, None)
        assert (end.code, end.reason) == (Code.ALREADY_EXISTS, "NAME_TAKEN")
        assert f'"{name}"' in end.details


@pytest.mark.parametrize(
    "request_", [{"name": ""}, {"name": "a b"}, {"name": "a" * 41}, {"name": "a", "owner": "e\n"}]
)
async def test_an_impossible_name_is_refused(
    server: ServerInTest, ending: Callable[..., Any], request_: dict[str, str]
) -> None:
    """The error says what a name may be."""
    data = pb.RegisterBotRequest(**request_).SerializeToString()
    end = await ending(await server.channel(), REGISTER, data, None)
    assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert "1 to 40 letters" in end.details


async def test_bots_are_listed_by_name_in_pages(server: ServerInTest) -> None:
    """Each page says where the next begins."""
    await register(server, "cleo", "ada", "bob", "eve", "dan")
    assert await names(server) == (["ada", "bob", "cleo", "dan", "eve"], "")
    first, token = await names(server, page_size=2)
    second, token = await names(server, page_size=2, page_token=token)
    third, token = await names(server, page_size=2, page_token=token)
    assert (first, second, third) == (["ada", "bob"], ["cleo", "dan"], ["eve"])
    assert token == ""


async def test_those_who_are_there_are_listed_with_what_they_play(server: ServerInTest) -> None:
    """A filter leaves out the others, through all pages."""
    await register(server, "a1", "a2", "a3")
    ada = await server.bot("ada", max_games=3)
    await register(server, "b1", "b2")
    await server.bot("bob")
    assert await names(server, connected=True) == (["ada", "bob"], "")
    first, token = await names(server, connected=True, page_size=1)
    second, last = await names(server, connected=True, page_size=1, page_token=token)
    assert (first, second, last) == (["ada"], ["bob"], "")
    await server.tournament("ada", "bob")
    await ada.started()
    page = await (await server.bots()).ListBots(pb.ListBotsRequest())
    bots = {bot.name: bot for bot in page.bots}
    assert (bots["ada"].connected, bots["ada"].running_games) == (True, 1)
    assert bots["ada"].capabilities.max_games == 3
    assert not bots["a1"].connected
    assert not bots["a1"].HasField("capabilities")
    ada.call.cancel()
    await server.away("ada")
    page = await (await server.bots()).ListBots(pb.ListBotsRequest())
    bots = {bot.name: bot for bot in page.bots}
    assert (bots["ada"].connected, bots["ada"].running_games) == (False, 1)
    assert not bots["ada"].HasField("capabilities")


async def test_those_who_are_there_are_found_without_the_others(server: ServerInTest) -> None:
    """They are known: however many bots are stored, theirs alone are read."""
    await register(server, *(f"a{number}" for number in range(150)))
    await server.bot("zoe")
    with statements(server.database.reader) as asked:
        assert await names(server, connected=True) == (["zoe"], "")
    query, ratings = asked
    assert "bot.id IN" in query
    assert "rating" in ratings


async def test_a_list_says_what_a_bot_has_come_to(server: ServerInTest) -> None:
    """Its newest version, games with a result, and when it was seen; nothing of a new one."""
    service = await server.bots()
    await service.RegisterBot(pb.RegisterBotRequest(name="zoe"))
    black, white = await server.pair()
    await black.resign(black.start.game)
    await white.ended()
    await server.bot("ada", version="2.0")
    page = await service.ListBots(pb.ListBotsRequest())
    ada, bob, zoe = page.bots
    assert (ada.version, bob.version, zoe.version) == ("2.0", "", "")
    assert (ada.games, bob.games, zoe.games) == (1, 1, 0)
    assert not ada.HasField("rating")
    assert ada.last_seen_time.ToSeconds() > 0
    assert not zoe.HasField("last_seen_time")
    before = ada.last_seen_time.ToDatetime()
    await server.app.access.seen.note()
    for peer in (black, white):
        peer.call.cancel()
    await server.away("bob")
    (ada, bob, _) = (await service.ListBots(pb.ListBotsRequest())).bots
    assert bob.last_seen_time.ToDatetime() >= before
    stored = "SELECT count(*) FROM bot WHERE last_seen_time IS NOT NULL"
    assert server.database.read(lambda at: at.scalar(text(stored))) == 2


async def test_all_bots_are_seen_in_portions(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are connected, each commit is of a few of them."""
    monkeypatch.setattr(last_seen, "AT_ONCE", 2)
    for name in ("ada", "bob", "zoe"):
        await server.bot(name)
    server.database.write(lambda at: at.execute(text("UPDATE bot SET last_seen_time = NULL")))
    with statements(server.database.writer) as said:
        await server.app.access.seen.note()
    assert len([statement for statement in said if "UPDATE bot" in statement]) == 2
    stored = "SELECT count(*) FROM bot WHERE last_seen_time IS NOT NULL"
    assert server.database.read(lambda at: at.scalar(text(stored))) == 3


async def test_versions_are_listed_oldest_first(server: ServerInTest) -> None:
    """With what the bot said of itself; a version that returns is no new one."""
    for version, digest in (("1", "x"), ("2", "y"), ("1b", "x"), ("3", "")):
        peer = await server.peer()
        engine = play_service_pb2.Engine(version=version, digest=digest, configuration=["depth=4"])
        hello = play_service_pb2.Hello(
            protocol_version=1,
            bot_name="ada",
            engine=engine,
            hardware=f"machine {version}",
            nodes_per_second=ord(version[-1]),
        )
        await peer.write(hello=hello)
        await peer.welcome()
    service = await server.bots()
    (bot,) = (await service.ListBots(pb.ListBotsRequest())).bots
    assert (bot.hardware, bot.nodes_per_second) == ("machine 3", ord("3"))
    page = await service.ListBotVersions(pb.ListBotVersionsRequest(name="ada", page_size=2))
    rest = await service.ListBotVersions(
        pb.ListBotVersionsRequest(name="ada", page_token=page.next_page_token)
    )
    versions = [*page.versions, *rest.versions]
    assert [version.version for version in versions] == ["1", "2", "3"]
    assert [version.digest for version in versions] == ["x", "y", "version:3"]
    assert [version.hardware for version in versions] == ["machine 1b", "machine 2", "machine 3"]
    assert [version.nodes_per_second for version in versions] == [ord(text) for text in "b23"]
    assert list(versions[0].configuration) == ["depth=4"]
    assert versions[0].create_time.seconds > 0
    assert rest.next_page_token == ""


async def test_a_replaced_token_opens_no_stream_that_was_waiting(server: ServerInTest) -> None:
    """A stream from before the rotation may say hello after it, and is refused."""
    service = await server.bots()
    old = (await service.RegisterBot(pb.RegisterBotRequest(name="ada"))).token
    peer = await server.peer(old)
    await until(lambda: server.tasks("Play"))
    await server.rotate("ada")
    await peer.write(hello=play_service_pb2.Hello(protocol_version=1))
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    assert "token was replaced" in end.details
    assert await server.connected() == set()


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_token_that_is_replaced_during_the_hello_opens_no_stream(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch, *, is_open: bool
) -> None:
    """The hello was granted and its answer not yet here; an open bot that gets a token likewise."""
    service = await server.bots()
    await register(server, "bob")
    token = None
    if not is_open:
        token = (await service.RegisterBot(pb.RegisterBotRequest(name="ada"))).token
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
    await peer.write(hello=play_service_pb2.Hello(protocol_version=1, bot_name="ada"))
    await granted.wait()
    await server.rotate("ada")
    gate.set()
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    assert await server.connected() == set()


async def test_bots_are_searched(server: ServerInTest) -> None:
    """In their names and in what people call them; signs of patterns stand for themselves."""
    service = await server.bots()
    for name, called in (("ada", ""), ("bob", "The Adamant"), ("eve_1", ""), ("eve-1", "")):
        await service.RegisterBot(pb.RegisterBotRequest(name=name, display_name=called))
    assert await names(server, search="ADA") == (["ada", "bob"], "")
    assert await names(server, search="_") == (["eve_1"], "")
    assert await names(server, search="%") == ([], "")
    assert await names(server, search="e", page_size=1) == (["bob"], "bob")
    await server.bot("bob", token=await server.rotate("bob"))
    assert await names(server, search="ada", connected=True) == (["bob"], "")
    with pytest.raises(grpc.aio.AioRpcError, match="61 characters; at most 60"):
        await names(server, search="a" * 61)


async def test_a_bot_with_its_results(server: ServerInTest) -> None:
    """What the store has of it, and that it is there; results only where they are asked for."""
    black, _white = await server.pair(rounds=1)
    await black.resign((await black.turn()).game)
    await black.ended()
    service = await server.bots()
    found = await service.GetBot(pb.GetBotRequest(name=black.name, with_results=True))
    (listed,) = [
        bot for bot in (await service.ListBots(pb.ListBotsRequest())).bots if bot.name == black.name
    ]
    assert found.bot.connected
    found.bot.last_seen_time.CopyFrom(listed.last_seen_time)
    assert found.bot == listed
    (version,) = found.versions
    assert (version.parent_version_id, version.HasField("rating")) == ("", False)
    assert (found.results.games, found.results.scores.as_black.losses) == (1, 1)
    assert not found.results.HasField("since")
    (opening,) = found.results.openings
    assert opening.variant.width > 0
    (ending,) = found.results.endings
    assert (ending.ending, ending.score.losses) == (game_pb2.ENDING_RESIGN, 1)
    assert len(found.results.opponents) == 1
    plain = await service.GetBot(pb.GetBotRequest(name=black.name))
    assert not plain.versions
    assert not plain.HasField("results")


async def test_lineage_is_told(server: ServerInTest) -> None:
    """Each version with the one before it, newest first."""
    for digest in ("x", "y"):
        peer = await server.peer()
        engine = play_service_pb2.Engine(version=digest, digest=digest)
        await peer.write(
            hello=play_service_pb2.Hello(protocol_version=1, bot_name="ada", engine=engine)
        )
        await peer.welcome()
    service = await server.bots()
    request = pb.GetBotRequest(name="ada", with_results=True)
    newest, oldest = (await service.GetBot(request)).versions
    assert (newest.version, newest.parent_version_id) == ("y", oldest.version_id)
    assert oldest.parent_version_id == ""


@pytest.mark.parametrize("method", ["GetBot", "ListBotVersions"])
async def test_an_unknown_bot_is_not_found(
    server: ServerInTest, ending: Callable[..., Any], method: str
) -> None:
    """The error names it."""
    request = pb.GetBotRequest(name="nobody").SerializeToString()
    name = f"/meijin.v1.BotService/{method}"
    end = await ending(await server.channel(), name, request, None)
    assert (end.code, end.reason) == (Code.NOT_FOUND, "NOT_FOUND")
    assert 'no bot "nobody"' in end.details


async def test_a_new_token_takes_the_place_of_the_old(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """At once, and for that bot alone."""
    service = await server.bots()
    old = (await service.RegisterBot(pb.RegisterBotRequest(name="ada"))).token
    other = (await service.RegisterBot(pb.RegisterBotRequest(name="bob"))).token
    new = await server.rotate("ada")
    assert new != old
    for token in (new, other):
        end = await ending(await server.channel(), "/meijin.v1.BotService/ListBots", b"", token)
        assert end.code is Code.OK
    end = await ending(await server.channel(), "/meijin.v1.BotService/ListBots", b"", old)
    assert end.code is Code.UNAUTHENTICATED


async def test_an_open_bot_with_a_token_is_its_tokens_alone(server: ServerInTest) -> None:
    """Whoever gave a bot a token meant that nobody else plays under its name."""
    await server.bot("ada")
    token = await server.rotate("ada")
    thief = await server.peer()
    hello = play_service_pb2.Hello(protocol_version=1, bot_name="ada")
    await thief.write(hello=hello)
    assert (await thief.closed()).code is Code.UNAUTHENTICATED
    await server.bot("ada", token=token)


async def test_text_that_the_database_can_not_hold_is_refused(
    start_server: StartServer, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL knows no NUL: that is the caller's fault, and no incident."""
    url: str = request.getfixturevalue("postgresql").new_database()
    async with start_server(database_url=url) as server, server.innocents():
        peer = await server.peer()
        engine = play_service_pb2.Engine(version="\0")
        hello = play_service_pb2.Hello(protocol_version=1, bot_name="ada", engine=engine)
        await peer.write(hello=hello)
        end = await peer.closed()
        assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST")
        with pytest.raises(grpc.aio.AioRpcError, match="can't hold") as caught:
            await server.rotate("a\0")
        assert caught.value.code() is Code.INVALID_ARGUMENT
