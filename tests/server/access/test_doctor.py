"""A server on which rated games are for versions that have passed the doctor."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from meijin.testing.desk import Desk
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb

Code = grpc.StatusCode
DOCTOR = pytest.mark.settings(registration="closed", admission="doctor")
ENGINE = play_pb.Engine(version="1.0")


async def report(desk: Desk, token: str, *, passed: bool, version: str = "1.0") -> pb.BotVersion:
    """Say how the doctor has found a version."""
    engine = play_pb.Engine(version=version)
    answer = await desk.ask("BotService/ReportDoctor", token, engine=engine, passed=passed)
    found: pb.BotVersion = answer.version
    return found


async def waiting_for(server: ServerInTest, tournament_id: str) -> str:
    """What keeps a tournament from going on."""
    request = tournament_pb.GetTournamentRequest(tournament_id=tournament_id)
    answer = await (await server.tournaments()).GetTournament(request)
    return answer.tournament.waiting_for


async def two(server: ServerInTest, desk: Desk) -> tuple[list[str], list[Peer]]:
    """Two bots that are there, and their tokens."""
    tokens = [await desk.bot(name) for name in ("ada", "bob")]
    peers = [
        await server.bot(name, token=token, version="1.0", max_games=2)
        for name, token in zip(("ada", "bob"), tokens, strict=True)
    ]
    return tokens, peers


@DOCTOR
async def test_rated_games_wait_for_the_doctor(server: ServerInTest, desk: Desk) -> None:
    """They begin when both versions have passed, on the streams that are open."""
    tokens, peers = await two(server, desk)
    tournament = await server.tournament("ada", "bob", token=server.operator_token)
    reason = "has not passed the doctor, which rated games here ask for"
    assert await waiting_for(server, tournament) == f"ada {reason}; bob {reason}"
    await report(desk, tokens[0], passed=True)
    assert await waiting_for(server, tournament) == f"bob {reason}"
    assert peers[0].unread("started") == 0
    await report(desk, tokens[1], passed=True)
    await asyncio.gather(*(peer.started() for peer in peers))
    assert await waiting_for(server, tournament) == ""


@DOCTOR
async def test_unrated_games_are_for_everybody(server: ServerInTest, desk: Desk) -> None:
    """So that a bot can be tried there."""
    _, peers = await two(server, desk)
    await server.tournament("ada", "bob", token=server.operator_token, unrated=True)
    await asyncio.gather(*(peer.started() for peer in peers))


@DOCTOR
async def test_a_report_is_kept_for_its_version(server: ServerInTest, desk: Desk) -> None:
    """A new version is to be examined anew, and a failure takes the pass back."""
    (token, _), _ = await two(server, desk)
    assert (await report(desk, token, passed=True)).HasField("doctor_time")
    assert not await is_unexamined(server, "ada")
    await server.bot("ada", token=token, version="2.0")
    assert await is_unexamined(server, "ada")
    await server.bot("ada", token=token, version="1.0")
    assert not await is_unexamined(server, "ada")
    assert not (await report(desk, token, passed=False)).HasField("doctor_time")
    assert await is_unexamined(server, "ada")


async def is_unexamined(server: ServerInTest, name: str) -> bool:
    """What the list of bots says of one."""
    response = await (await server.bots()).ListBots(pb.ListBotsRequest())
    return next(bot.unexamined for bot in response.bots if bot.name == name)


@DOCTOR
async def test_a_bot_is_told_at_once(server: ServerInTest, desk: Desk) -> None:
    """By its welcome, as long as it has not passed."""
    token = await desk.bot("ada")
    for has_passed in (False, True):
        peer = await server.peer(token)
        await peer.write(hello=play_pb.Hello(protocol_version=1, engine=ENGINE))
        welcome = await peer.welcome()
        assert ("meijin bot doctor" in welcome.notice) is not has_passed
        await report(desk, token, passed=True)


@pytest.mark.settings(registration="closed")
async def test_other_servers_ask_for_nothing(server: ServerInTest, desk: Desk) -> None:
    """A report is kept there too."""
    (token, _), peers = await two(server, desk)
    await server.tournament("ada", "bob", token=server.operator_token)
    await asyncio.gather(*(peer.started() for peer in peers))
    assert (await report(desk, token, passed=False)).version == "1.0"
    assert not await is_unexamined(server, "ada")


@DOCTOR
async def test_nobody_reports_of_another_bot(desk: Desk) -> None:
    """The token says whose version it is, as at a hello."""
    token = await desk.bot("ada")
    await desk.bot("bob")
    refused = await desk.refusal("BotService/ReportDoctor", token, name="bob", engine=ENGINE)
    assert refused.code is Code.PERMISSION_DENIED
    refused = await desk.refusal("BotService/ReportDoctor", None, name="bob", engine=ENGINE)
    assert refused.code is Code.UNAUTHENTICATED


@DOCTOR
async def test_a_report_leaves_the_hardware(server: ServerInTest, desk: Desk) -> None:
    """What the bot itself said last stands."""
    token = await desk.bot("ada")
    peer = await server.peer(token)
    hello = play_pb.Hello(protocol_version=1, engine=ENGINE, hardware="a small machine")
    await peer.write(hello=hello)
    await peer.welcome()
    assert (await report(desk, token, passed=True)).hardware == "a small machine"
