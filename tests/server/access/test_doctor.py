"""A server on which rated games are for versions that have passed the doctor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.server_in_test import ServerInTest

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import play_service_pb2 as play_pb

if TYPE_CHECKING:
    from tests.peer import Peer

DOCTOR = pytest.mark.settings(registration="closed", admission="doctor")
ENGINE = play_pb.Engine(version="1.0")
REPORT = "BotService/ReportDoctor"


async def report(server: ServerInTest, token: str, *, passed: bool) -> pb.BotVersion:
    found = (await server.ask(REPORT, token, engine=ENGINE, passed=passed)).version
    assert isinstance(found, pb.BotVersion)
    return found


async def waiting_for(server: ServerInTest) -> str:
    found = await server.report()
    return str(found.tournament.waiting_for)


async def is_unexamined(server: ServerInTest) -> bool:
    return bool((await server.ask("BotService/GetBot", name="ada")).bot.unexamined)


async def two(server: ServerInTest, *, unrated: bool = False) -> tuple[list[str], list[Peer]]:
    """The tokens and streams of two bots, which are to play."""
    tokens = [await server.register(name) for name in ("ada", "bob")]
    peers = [await server.bot("", token=token, version="1.0", max_games=2) for token in tokens]
    await server.tournament("ada", "bob", unrated=unrated)
    return tokens, peers


@DOCTOR
async def test_rated_games_wait_for_the_doctor(server: ServerInTest) -> None:
    """They begin when both versions have passed, on the streams that are open."""
    tokens, peers = await two(server)
    reason = "has not passed the doctor, which rated games here ask for"
    assert await waiting_for(server) == f"ada {reason}; bob {reason}"
    await report(server, tokens[0], passed=True)
    assert await waiting_for(server) == f"bob {reason}"
    assert peers[0].unread("started") == 0
    await report(server, tokens[1], passed=True)
    await asyncio.gather(*(peer.started() for peer in peers))
    assert await waiting_for(server) == ""


@DOCTOR
async def test_unrated_games_are_for_everybody(server: ServerInTest) -> None:
    _, peers = await two(server, unrated=True)
    await asyncio.gather(*(peer.started() for peer in peers))


@DOCTOR
async def test_a_report_is_kept_for_its_version(server: ServerInTest) -> None:
    """A new version is to be examined anew, and a failure takes the pass back.

    What the bot itself said last of its machine stands.
    """
    token = await server.register("ada")
    peer = await server.peer(token)
    await peer.hello(engine=ENGINE, hardware="a small machine")
    assert "meijin bot doctor" in (await peer.welcome()).notice
    found = await report(server, token, passed=True)
    assert (found.HasField("doctor_time"), found.hardware) == (True, "a small machine")
    assert not await is_unexamined(server)
    again = await server.peer(token)
    await again.hello(engine=ENGINE)
    assert "meijin bot doctor" not in (await again.welcome()).notice
    for version, is_new in (("2.0", True), ("1.0", False)):
        await server.bot("ada", token=token, version=version)
        assert await is_unexamined(server) is is_new
    assert not (await report(server, token, passed=False)).HasField("doctor_time")
    assert await is_unexamined(server)


@pytest.mark.settings(registration="closed")
async def test_other_servers_ask_for_nothing(server: ServerInTest) -> None:
    """A report is kept there too."""
    (token, _), peers = await two(server)
    await asyncio.gather(*(peer.started() for peer in peers))
    assert (await report(server, token, passed=False)).version == "1.0"
    assert not await is_unexamined(server)


@DOCTOR
async def test_nobody_reports_of_another_bot(server: ServerInTest) -> None:
    """The token says whose version it is, as at a hello."""
    token = await server.register("ada")
    await server.register("bob")
    for who, reason in ((token, "NOT_ALLOWED"), (None, "UNKNOWN_TOKEN")):
        assert (await server.refusal(REPORT, who, name="bob", engine=ENGINE)).reason == reason
