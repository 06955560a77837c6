"""The fault ledger, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf.json_format import MessageToDict

from meijin.server.match.live.supplier import SUPPLIER_FAILURES
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import fault_service_pb2 as pb
from meijin.v1 import game_pb2, play_service_pb2

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
SUPPLIER = play_service_pb2.FAILURE_CAUSE_SUPPLIER


async def faults(server: ServerInTest, *, bot: str = "", game_id: str = "") -> list[pb.Fault]:
    """The ledger's newest entries, without the stalls that a busy machine adds."""
    response = await (await server.faults()).ListFaults(
        pb.ListFaultsRequest(bot=bot, game_id=game_id)
    )
    return [fault for fault in response.faults if fault.kind != pb.FAULT_KIND_STALL]


async def test_a_forfeit_is_in_the_ledger(server: ServerInTest) -> None:
    """With the bot, the ply, what it ended the game by, and the evidence."""
    black, white = await server.pair()
    await black.fail((await black.turn()).game, "ValueError: odd")
    await white.ended()
    (fault,) = await faults(server)
    assert (fault.kind, fault.party) == (pb.FAULT_KIND_CRASH, pb.FAULT_PARTY_BOT)
    assert (fault.bot, fault.game_id, fault.ply) == (black.name, black.start.game_id, 0)
    assert (fault.ending, fault.detail) == (game_pb2.ENDING_CRASH, "ValueError: odd")
    assert fault.evidence["message"] == "ValueError: odd"
    assert fault.create_time.ToSeconds() > 0


@pytest.mark.parametrize("cause", [play_service_pb2.FAILURE_CAUSE_BOT, SUPPLIER])
async def test_a_traceback_is_kept(
    server: ServerInTest, cause: play_service_pb2.FailureCause.ValueType
) -> None:
    """The end of it, without control characters; it has a field of its own."""
    black, white = await server.pair()
    number = (await black.turn()).game
    text = "x" * 5000 + '\n  File "bot.py", line 12\n\x1b[31mValueError: odd\u202e\0'
    failure = play_service_pb2.Failure(game=number, message="odd", cause=cause, traceback=text)
    await black.write(actions=play_service_pb2.Actions(failures=[failure]))
    await white.ended()
    (fault,) = await faults(server)
    assert fault.traceback.endswith('x\n  File "bot.py", line 12\n[31mValueError: odd')
    assert len(fault.traceback) <= 4000
    assert "traceback" not in fault.evidence


async def test_faults_of_one_bot_or_game(server: ServerInTest) -> None:
    """Others are left out, and an unknown bot is not found."""
    black, white = await server.pair()
    await black.fail((await black.turn()).game, "boom")
    await white.ended()
    assert len(await faults(server, bot=black.name)) == 1
    assert await faults(server, bot=white.name) == []
    assert len(await faults(server, game_id=black.start.game_id)) == 1
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await faults(server, bot="nobody")
    assert caught.value.code() is Code.NOT_FOUND


async def test_faults_are_paged(server: ServerInTest) -> None:
    """From the newest to the oldest."""
    black, white = await server.pair()
    await fail_by_supplier(black, white, games=2)
    service = await server.faults()
    first = await service.ListFaults(pb.ListFaultsRequest(page_size=1))
    token = first.next_page_token
    second = await service.ListFaults(pb.ListFaultsRequest(page_size=1, page_token=token))
    assert int(first.faults[0].fault_id) > int(second.faults[0].fault_id)
    assert second.next_page_token == ""


async def test_a_suppliers_failure_voids(server: ServerInTest) -> None:
    """Nobody loses; the game is played again, and the bot is named."""
    black, white = await server.pair()
    first = black.start.game_id
    await black.fail((await black.turn()).game, "the model's host is away", SUPPLIER)
    ended = await white.ended()
    assert ended.outcome.ending == game_pb2.ENDING_VOID
    assert ended.outcome.at_fault == game_pb2.PARTY_SUPPLIER
    assert ended.outcome.detail == "the model's host is away"
    (fault,) = await faults(server, bot=black.name)
    assert (fault.kind, fault.party) == (pb.FAULT_KIND_SUPPLIER, pb.FAULT_PARTY_SUPPLIER)
    assert fault.ending == game_pb2.ENDING_VOID
    assert (await black.started()).game_id != first


async def test_a_supplier_that_fails_too_often_forfeits(start_server: StartServer) -> None:
    """The budget is the bot's, also when it comes back or the server was restarted."""
    async with start_server() as server:
        black, white = await server.pair()
        await fail_by_supplier(black, white, games=SUPPLIER_FAILURES - 1)
    async with start_server() as server:
        black = await server.bot(black.name)
        white = await server.bot(white.name)
        await black.started()
        await white.started()
        await fail_by_supplier(black, white, games=1)
        await black.fail((await black.turn()).game, "no licence", SUPPLIER)
        ended = await white.ended()
        assert ended.outcome.ending == game_pb2.ENDING_CRASH
        assert ended.outcome.at_fault == game_pb2.PARTY_BLACK


async def fail_by_supplier(black: Peer, white: Peer, *, games: int) -> None:
    """Have the supplier of black fail in its games, one after another; the next one starts."""
    for _ in range(games):
        await black.fail((await black.turn()).game, "no licence", SUPPLIER)
        for peer in (black, white):
            assert (await peer.ended()).outcome.ending == game_pb2.ENDING_VOID
            await peer.started()


async def test_a_forfeit_holds_what_the_bot_said_last(server: ServerInTest) -> None:
    """In this game, in words; how many of its messages had an effect, and how long ago it was."""
    black, white = await server.pair()
    await black.play(await black.turn(), 3)
    await white.play(await white.turn(), 3)
    await black.ended()
    (fault,) = await faults(server)
    assert (fault.kind, fault.bot) == (pb.FAULT_KIND_ILLEGAL, white.name)
    evidence = MessageToDict(fault.evidence)
    assert evidence["last_message"] == ["play 3 at ply 1"]
    assert evidence["messages"] == evidence["refused"] == 0
    assert 0 <= evidence["silent_us"] < 60_000_000
    assert "stream_end" not in evidence


@pytest.mark.settings(grace=0.2)
async def test_an_absence_holds_why_the_server_ended_the_stream(server: ServerInTest) -> None:
    """The bot has broken the protocol, and said something before."""
    black, white = await server.pair()
    await black.play(await black.turn(), 3)
    await white.turn()
    await black.write(hello=play_service_pb2.Hello())
    await black.closed()
    await white.ended()
    (fault,) = await faults(server)
    assert (fault.kind, fault.bot) == (pb.FAULT_KIND_DISCONNECT, black.name)
    evidence = MessageToDict(fault.evidence)
    assert evidence["stream_end"] == "hello is not expected here"
    assert (evidence["last_message"], evidence["messages"]) == (["play 3 at ply 0"], 1)


# -- incidents --------------------------------------------------------------------


@pytest.mark.settings(grace=1.0)
async def test_bots_that_are_lost_together_lose_nothing(server: ServerInTest) -> None:
    """Half of the bots, and at least four: it was the network, and their games are void."""
    pairs = [await server.pair((f"ada-{number}", f"bob-{number}")) for number in range(4)]
    for black, _white in pairs:
        black.call.cancel()
    for _black, white in pairs:
        outcome = (await white.ended()).outcome
        assert (outcome.ending, outcome.at_fault) == (
            game_pb2.ENDING_VOID,
            game_pb2.PARTY_NETWORK,
        )
    found = await faults(server)
    assert {fault.kind for fault in found} == {pb.FAULT_KIND_MASS_DISCONNECT}
    incident = found[-1]
    assert (incident.party, incident.game_id) == (pb.FAULT_PARTY_NETWORK, "")
    assert incident.detail == "4 of 8 bots lost their streams within seconds"


@pytest.mark.settings(grace=0.2)
async def test_bots_that_break_the_protocol_together_lose(server: ServerInTest) -> None:
    """What they did themselves is no doing of the network's."""
    pairs = [await server.pair((f"ada-{number}", f"bob-{number}")) for number in range(4)]
    for black, _white in pairs:
        await black.write(hello=play_service_pb2.Hello())
    for _black, white in pairs:
        assert (await white.ended()).outcome.ending == game_pb2.ENDING_DISCONNECT


@pytest.mark.settings(grace=1.0)
async def test_bots_that_leave_and_return_together_play_on(server: ServerInTest) -> None:
    """As if nothing had been."""
    pairs = [await server.pair((f"ada-{number}", f"bob-{number}")) for number in range(4)]
    for black, _white in pairs:
        black.call.cancel()
        await server.away(black.name)
    for black, white in pairs:
        back = await server.bot(black.name)
        await back.resign((await back.started()).game)
        assert (await white.ended()).outcome.ending == game_pb2.ENDING_RESIGN


@pytest.mark.settings(max_faults=2)
async def test_a_bot_that_fails_again_and_again_is_paused(server: ServerInTest) -> None:
    """It hears why, the ledger says so, and another version of it plays on."""
    black, white = await server.pair(rounds=3)
    ada = black if black.name == "ada" else white
    await ada.fail(ada.start.game, "boom")
    await ada.fail((await ada.started()).game, "boom")
    paused = await ada.paused()
    assert "the last 2 games were all forfeited" in paused.reason
    assert paused.duration_ms == 600_000
    (incident,) = [each for each in await faults(server) if each.kind == pb.FAULT_KIND_PAUSE]
    assert (incident.party, incident.bot, incident.game_id) == (pb.FAULT_PARTY_BOT, "ada", "")
    mended = await server.bot("ada", version="2")
    assert (await mended.started()).game_id


@pytest.mark.settings(max_faults=1)
async def test_a_pause_is_shown_to_who_asks_for_the_bot(server: ServerInTest) -> None:
    """While it lasts, and among others' faults it is not."""
    ada, _ = await server.pair(rounds=3)
    service = await server.faults()

    async def pauses(bot: str) -> list[pb.Pause]:
        return list((await service.ListFaults(pb.ListFaultsRequest(bot=bot))).pauses)

    assert await pauses(ada.name) == []
    await ada.fail(ada.start.game, "boom")
    await ada.paused()
    (pause,) = await pauses(ada.name)
    assert "the last 1 games were all forfeited" in pause.reason
    assert 0 < pause.remaining.seconds <= 600
    assert await pauses("") == []
    listed = (await (await server.bots()).ListBots(bot_pb.ListBotsRequest())).bots
    assert [bot.name for bot in listed if bot.paused] == [ada.name]
