"""The metrics of a server in which something happens."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import grpc
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from meijin.testing.server import FIVE
from meijin.v1 import bot_service_pb2

if TYPE_CHECKING:
    from meijin.testing.server import ServerInTest

Line = Callable[..., Awaitable[None]]
METHOD = "/meijin.v1.BotService"


@pytest.fixture
async def registry(server: ServerInTest) -> CollectorRegistry:
    """The server's metrics."""
    return server.app.registry()


async def test_moves_and_games_are_counted(
    server: ServerInTest, registry: CollectorRegistry, line: Line
) -> None:
    """A game of nine moves is one start, nine moves, one end and two streams."""
    black, white = await server.pair()
    assert registry.get_sample_value("meijin_games_running") == 1
    assert registry.get_sample_value("meijin_tournaments_running") == 1
    await line((black, white), FIVE)
    await black.ended()
    await server.until(lambda: not server.running)
    assert registry.get_sample_value("meijin_moves_total") == 9
    assert registry.get_sample_value("meijin_games_started_total") == 1
    ended = {"ending": "five", "party": "nobody"}
    assert registry.get_sample_value("meijin_games_ended_total", ended) == 1
    assert registry.get_sample_value("meijin_streams_opened_total") == 2
    assert registry.get_sample_value("meijin_bots_connected") == 2
    assert registry.get_sample_value("meijin_games_running") == 0


async def test_a_forfeit_is_counted_with_the_party(
    server: ServerInTest, registry: CollectorRegistry
) -> None:
    """The move that was refused is none."""
    black, white = await server.pair()
    turn = await black.turn()
    await black.play(turn, 999)
    await white.ended()
    labels = {"ending": "illegal", "party": "black"}
    assert registry.get_sample_value("meijin_games_ended_total", labels) == 1
    assert registry.get_sample_value("meijin_moves_total") == 0


async def test_pairings_wait_for_bots(server: ServerInTest, registry: CollectorRegistry) -> None:
    """Games that can't start yet are told."""
    await server.bot("ada")
    await (await server.bot("bob")).call.done_writing()
    await server.away("bob")
    await server.tournament("ada", "bob", rounds=4)
    assert registry.get_sample_value("meijin_games_pending") == 4


async def test_notices_are_counted_by_reason(
    server: ServerInTest, registry: CollectorRegistry
) -> None:
    """An action in a game that isn't there."""
    bot = await server.bot("ada")
    await bot.resign(7)
    await bot.notice()
    labels = {"reason": "unknown_game"}
    assert registry.get_sample_value("meijin_notices_total", labels) == 1


async def test_calls_are_counted_by_end(server: ServerInTest, registry: CollectorRegistry) -> None:
    """By method, code and reason; failed sign-ins are a reason of their own."""
    service = await server.bots()
    await service.ListBots(bot_service_pb2.ListBotsRequest())
    with pytest.raises(grpc.aio.AioRpcError):
        await service.ListBots(
            bot_service_pb2.ListBotsRequest(), metadata=(("authorization", "Bearer wrong"),)
        )
    with pytest.raises(grpc.aio.AioRpcError):
        await service.ListBotVersions(bot_service_pb2.ListBotVersionsRequest(name="nobody"))

    def count(method: str, code: str, reason: str) -> float | None:
        labels = {"method": f"{METHOD}/{method}", "code": code, "reason": reason}
        return registry.get_sample_value("meijin_calls_total", labels)

    await server.until(lambda: count("ListBots", "OK", "") == 1)
    await server.until(lambda: count("ListBots", "UNAUTHENTICATED", "UNKNOWN_TOKEN") == 1)
    await server.until(lambda: count("ListBotVersions", "NOT_FOUND", "NOT_FOUND") == 1)
    timed = {"method": f"{METHOD}/ListBots"}
    seconds = "meijin_call_seconds_count"
    await server.until(lambda: registry.get_sample_value(seconds, timed) == 2)


async def test_a_stream_that_is_left_counts_as_cancelled(
    server: ServerInTest, registry: CollectorRegistry
) -> None:
    """Its length is no latency, and not measured."""
    bot = await server.bot("ada")
    bot.call.cancel()
    await server.away("ada")
    labels = {"method": "/meijin.v1.PlayService/Play", "code": "CANCELLED", "reason": ""}
    await server.until(lambda: registry.get_sample_value("meijin_calls_total", labels) == 1)
    timed = {"method": "/meijin.v1.PlayService/Play"}
    assert registry.get_sample_value("meijin_call_seconds_count", timed) is None


async def test_a_commit_that_waits_is_told_while_it_waits(
    server: ServerInTest, registry: CollectorRegistry
) -> None:
    """A scrape sees it before it has ended, and then how long it took."""
    black, _ = await server.pair()
    turn = await black.turn()
    assert registry.get_sample_value("meijin_journal_waiting_seconds") == 0
    before = registry.get_sample_value("meijin_journal_commit_seconds_count")
    assert before is not None
    with server.held():
        await black.play(turn, 0)
        await server.until(
            lambda: (registry.get_sample_value("meijin_journal_waiting_seconds") or 0) > 0
        )
    await server.until(
        lambda: registry.get_sample_value("meijin_journal_commit_seconds_count") == before + 1
    )
    assert registry.get_sample_value("meijin_journal_batch_moves_sum") == 1


async def test_stalls_never_shrink(
    server: ServerInTest, registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter that went back would be read as a restart."""
    moment = server.parts.watch.moment()
    higher = moment._replace(stall_ns=moment.stall_ns + 3_000_000_000)
    with monkeypatch.context() as patched:
        patched.setattr(type(server.parts.watch), "moment", lambda _: higher)
        seen = registry.get_sample_value("meijin_event_loop_stall_seconds_total")
    assert seen is not None
    assert seen >= 3
    assert registry.get_sample_value("meijin_event_loop_stall_seconds_total") == seen


async def test_lag_is_told_of_all_streams(
    server: ServerInTest, registry: CollectorRegistry
) -> None:
    """As quantiles, whose number does not grow with the bots."""
    bots = [await server.bot(name) for name in ("ada", "bob")]
    for lag_ns, bot in enumerate(bots, start=1):
        (player,) = (each for each in server.parts.lobby.players.values() if each.name == bot.name)
        assert player.session is not None
        player.session.lag_ns = lag_ns * 10**9
    slowest = registry.get_sample_value("meijin_stream_lag_seconds", {"quantile": "1"})
    assert slowest == 2


async def test_no_label_holds_what_strangers_say(
    server: ServerInTest, registry: CollectorRegistry, line: Line
) -> None:
    """Names of bots are nowhere, so that nobody can make series without end."""
    black, white = await server.pair(("mallory", "trudy"))
    await line((black, white), FIVE)
    await white.ended()
    text = generate_latest(registry).decode()
    assert not re.search("mallory|trudy", text)
    assert 'meijin_build_info{version="' in text
    assert "process_open_fds" in text
