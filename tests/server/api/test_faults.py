"""The fault ledger, listed."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from tests.query_plans import statements

from meijin.server.match.live.live_game import SUPPLIER_FAILURES
from meijin.store.faults import add_faults
from meijin.store.schema import Fault, FaultKind, FaultParty
from meijin.v1 import fault_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb

if TYPE_CHECKING:
    from tests.peer import Peer
    from tests.server.conftest import StartServer
    from tests.server_in_test import ServerInTest

SUPPLIER = play_pb.FAILURE_CAUSE_SUPPLIER
VOID = game_pb2.ENDING_VOID


async def faults(server: ServerInTest, **of: str) -> list[pb.Fault]:
    """The ledger's newest entries, without the stalls that a busy machine adds."""
    found = (await server.ask("FaultService/ListFaults", **of)).faults
    return [fault for fault in found if fault.kind != pb.FAULT_KIND_STALL]


async def fail_by_supplier(black: Peer, white: Peer, *, games: int) -> None:
    """Have the supplier of black fail in its games, one after another; the next one starts."""
    for _ in range(games):
        await black.fail((await black.turn()).game, "no licence", SUPPLIER)
        for peer in (black, white):
            assert (await peer.ended()).outcome.ending == VOID
            await peer.started()


@pytest.mark.parametrize("cause", [play_pb.FAILURE_CAUSE_BOT, SUPPLIER])
async def test_a_failure_is_in_the_ledger(
    server: ServerInTest, cause: play_pb.FailureCause.ValueType
) -> None:
    """With the bot, the ply and the evidence; the end of a traceback has a field of its own.

    A supplier's failure voids, and the game is played again.
    """
    black, white = await server.pair()
    text = "x" * 5000 + '\n  File "bot.py", line 12\n\x1b[31mValueError: odd\u202e\0'
    number = (await black.turn()).game
    failure = play_pb.Failure(game=number, message="ValueError: odd", cause=cause, traceback=text)
    game_id = black.start.game_id
    await black.write(actions=play_pb.Actions(failures=[failure]))
    outcome = (await white.ended()).outcome
    (fault,) = await faults(server)
    assert fault.detail == outcome.detail == "ValueError: odd"
    assert (fault.bot, fault.game_id, fault.ply) == (black.name, game_id, 0)
    assert fault.create_time.ToSeconds() > 0
    assert fault.traceback.endswith('x\n  File "bot.py", line 12\n[31mValueError: odd')
    assert len(fault.traceback) <= 4000
    assert "traceback" not in fault.evidence
    if cause == SUPPLIER:
        assert (fault.kind, fault.party) == (pb.FAULT_KIND_SUPPLIER, pb.FAULT_PARTY_SUPPLIER)
        assert fault.ending == outcome.ending == VOID
        assert outcome.at_fault == game_pb2.PARTY_SUPPLIER
        assert (await black.started()).game_id != game_id
    else:
        assert (fault.kind, fault.party) == (pb.FAULT_KIND_CRASH, pb.FAULT_PARTY_BOT)
        assert fault.ending == game_pb2.ENDING_CRASH
        assert fault.evidence["message"] == "ValueError: odd"


async def test_faults_of_one_bot_or_game(server: ServerInTest) -> None:
    """In pages, from the newest to the oldest; an unknown bot is not found."""
    black, white = await server.pair()
    await fail_by_supplier(black, white, games=2)
    assert len(await faults(server, bot=black.name)) == 2
    assert await faults(server, bot=white.name) == []
    assert len(await faults(server, game_id="1")) == 1
    request = {"bot": black.name, "page_size": 1}
    first = await server.ask("FaultService/ListFaults", **request)
    token = first.next_page_token
    second = await server.ask("FaultService/ListFaults", **request, page_token=token)
    assert int(first.faults[0].fault_id) > int(second.faults[0].fault_id)
    assert second.next_page_token == ""
    with pytest.raises(grpc.aio.AioRpcError, match="nobody"):
        await faults(server, bot="nobody")


async def test_faults_in_groups(server: ServerInTest) -> None:
    """Those of one cause are one, with the newest of them whole; in pages, of a bot or a kind."""
    black, white = await server.pair()
    await fail_by_supplier(black, white, games=2)
    groups = "FaultService/ListFaultGroups"
    (group,) = (await server.ask(groups, bot=black.name, page_size=1)).groups
    assert (group.signature, group.count, list(group.bots)) == ("no licence", 2, [black.name])
    assert group.newest == (await faults(server))[0]
    assert 0 < group.first_time.ToNanoseconds() < group.newest.create_time.ToNanoseconds()
    assert not (await server.ask(groups, bot=black.name, kind=pb.FAULT_KIND_CRASH)).groups
    assert not (await server.ask(groups, bot=white.name)).groups


async def test_groups_are_counted_once(server: ServerInTest) -> None:
    """However long a page is: each look goes through the ledger."""
    crash: dict[str, Any] = {
        "kind": FaultKind.CRASH,
        "party": FaultParty.BOT,
        "create_time": datetime.now(UTC),
    }
    details = map("".join, product(ascii_lowercase, repeat=2))
    made = [Fault(detail=each, **crash) for each in islice(details, 250)]
    server.database.write(add_faults, made)
    with statements(server.database.reader) as asked:
        groups = await server.ask("FaultService/ListFaultGroups", page_size=1000)
    assert len(groups.groups) == len(made)
    assert sum("GROUP BY fault.version_id" in each for each in asked) == 1


async def test_a_supplier_that_fails_too_often_forfeits(start_server: StartServer) -> None:
    """The budget is the bot's, also when it comes back or the server was restarted."""
    async with start_server() as server:
        black, white = await server.pair()
        await fail_by_supplier(black, white, games=SUPPLIER_FAILURES - 1)
    async with start_server() as server:
        black, white = [await server.bot(peer.name) for peer in (black, white)]
        for peer in (black, white):
            await peer.started()
        await fail_by_supplier(black, white, games=1)
        await black.fail((await black.turn()).game, "no licence", SUPPLIER)
        outcome = (await white.ended()).outcome
        assert (outcome.ending, outcome.at_fault) == (
            game_pb2.ENDING_CRASH,
            game_pb2.PARTY_BLACK,
        )


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
    await black.hello()
    await black.closed()
    outcome = (await white.ended()).outcome
    assert outcome.ending == game_pb2.ENDING_DISCONNECT
    assert (outcome.winner, outcome.at_fault) == (game_pb2.COLOR_WHITE, game_pb2.PARTY_BLACK)
    (fault,) = await faults(server)
    assert (fault.kind, fault.bot) == (pb.FAULT_KIND_DISCONNECT, black.name)
    evidence = MessageToDict(fault.evidence)
    assert evidence["stream_end"] == "hello is not expected here"
    assert (evidence["last_message"], evidence["messages"]) == (["play 3 at ply 0"], 1)


# -- incidents --------------------------------------------------------------------


async def four_pairs(server: ServerInTest) -> list[tuple[Peer, Peer]]:
    return [await server.pair((f"ada-{number}", f"bob-{number}")) for number in range(4)]


@pytest.mark.settings(grace=1.0)
async def test_bots_that_are_lost_together_lose_nothing(server: ServerInTest) -> None:
    """Half of the bots, and at least four: it was the network, and their games are void."""
    pairs = await four_pairs(server)
    for black, _ in pairs:
        black.call.cancel()
    for _, white in pairs:
        outcome = (await white.ended()).outcome
        assert (outcome.ending, outcome.at_fault) == (VOID, game_pb2.PARTY_NETWORK)
    found = await faults(server)
    assert {fault.kind for fault in found} == {pb.FAULT_KIND_MASS_DISCONNECT}
    incident = found[-1]
    assert (incident.party, incident.game_id) == (pb.FAULT_PARTY_NETWORK, "")
    assert incident.detail == "4 of 8 bots lost their streams within seconds"


@pytest.mark.settings(grace=0.2)
async def test_bots_that_break_the_protocol_together_lose(server: ServerInTest) -> None:
    """What they did themselves is no doing of the network's."""
    pairs = await four_pairs(server)
    for black, _ in pairs:
        await black.hello()
    for _, white in pairs:
        assert (await white.ended()).outcome.ending == game_pb2.ENDING_DISCONNECT


@pytest.mark.settings(max_faults=2)
async def test_a_bot_that_fails_again_and_again_is_paused(server: ServerInTest) -> None:
    """It hears why, whoever asks for it is told while it lasts, and another version plays on."""

    async def pauses(bot: str) -> list[pb.Pause]:
        return list((await server.ask("FaultService/ListFaults", bot=bot)).pauses)

    black, white = await server.pair(rounds=3)
    ada = black if black.name == "ada" else white
    await ada.fail(ada.start.game, "boom")
    assert await pauses("ada") == []
    await ada.fail((await ada.started()).game, "boom")
    paused = await ada.paused()
    (pause,) = await pauses("ada")
    for told in (paused, pause):
        assert "the last 2 games were all forfeited" in told.reason
    assert (paused.duration_ms, 0 < pause.remaining.seconds <= 600) == (600_000, True)
    assert await pauses("") == []
    bots = (await server.ask("BotService/ListBots")).bots
    assert [bot.name for bot in bots if bot.paused] == ["ada"]
    (incident,) = [each for each in await faults(server) if each.kind == pb.FAULT_KIND_PAUSE]
    assert (incident.party, incident.bot, incident.game_id) == (pb.FAULT_PARTY_BOT, "ada", "")
    mended = await server.bot("ada", version="2")
    assert (await mended.started()).game_id
