"""The metrics of a server in which something happens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest
from prometheus_client import generate_latest
from tests.peer import play_moves
from tests.server_in_test import FIVE

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

METHOD = "/meijin.v1.BotService"


@pytest.fixture
async def value(server: ServerInTest) -> Callable[..., float | None]:
    """What a metric is, by its name without prefix and its labels."""
    registry = server.app.registry()
    return lambda name, **labels: registry.get_sample_value(f"meijin_{name}", labels)


async def test_moves_and_games_are_counted(
    server: ServerInTest, value: Callable[..., float | None]
) -> None:
    """A game of nine moves is one start, nine moves, one end and two streams.

    A move that was refused is none. Names of bots are nowhere, so that nobody can make series
    without end.
    """
    black, white = await server.pair(("mallory", "trudy"), rounds=2)
    assert value("games_running") == value("tournaments_running") == value("games_pending") == 1
    await play_moves((black, white), FIVE)
    await black.ended()
    await server.until(lambda: value("games_started_total") == 2)
    assert value("moves_total") == 9
    assert value("games_ended_total", ending="five", party="nobody") == 1
    assert value("streams_opened_total") == value("bots_connected") == 2
    await white.play(await white.turn(), 999)  # which has black now
    await black.ended()
    assert value("games_ended_total", ending="illegal", party="black") == 1
    assert value("moves_total") == 9
    await black.resign(7)
    await black.notice()
    assert value("notices_total", reason="unknown_game") == 1
    await server.until(lambda: value("games_running") == value("tournaments_running") == 0)
    text = generate_latest(server.app.registry()).decode()
    assert not {"mallory", "trudy"} & set(text.split('"'))
    assert 'meijin_build_info{version="' in text
    assert "process_open_fds" in text


async def test_calls_are_counted_by_end(
    server: ServerInTest, value: Callable[..., float | None]
) -> None:
    """By method, code and reason; failed sign-ins are a reason of their own.

    A stream that is left counts as cancelled, or as one that has ended where that is read
    first; its length is no latency, and not measured.
    """
    bot = await server.bot("ada")
    for token in (None, "wrong"):
        await server.refusal("BotService/ListBots", token)
    await server.refusal("BotService/ListBotVersions", name="nobody")
    bot.call.cancel()
    play = "/meijin.v1.PlayService/Play"

    def count(**labels: str) -> bool:
        return value("calls_total", **labels) == 1

    def is_left() -> bool:
        return any(count(method=play, code=code, reason="") for code in ("CANCELLED", "OK"))

    for method, code, reason in (
        (f"{METHOD}/ListBots", "OK", ""),
        (f"{METHOD}/ListBots", "UNAUTHENTICATED", "UNKNOWN_TOKEN"),
        (f"{METHOD}/ListBotVersions", "NOT_FOUND", "NOT_FOUND"),
    ):
        labels = {"method": method, "code": code, "reason": reason}
        await server.until(partial(count, **labels))
    await server.until(is_left)
    await server.until(lambda: value("call_seconds_count", method=f"{METHOD}/ListBots") == 2)
    assert value("call_seconds_count", method=play) is None


async def test_a_commit_that_waits_is_told_while_it_waits(
    server: ServerInTest, value: Callable[..., float | None]
) -> None:
    """A scrape sees it before it has ended, and then how long it took."""
    black, _ = await server.pair()
    turn = await black.turn()
    assert value("journal_waiting_seconds") == 0
    before = value("journal_commit_seconds_count")
    assert before is not None
    with server.held():
        await black.play(turn, 0)
        await server.until(lambda: (value("journal_waiting_seconds") or 0) > 0)
    await server.until(lambda: value("journal_commit_seconds_count") == before + 1)
    assert value("journal_batch_moves_sum") == 1


async def test_stalls_never_shrink(
    server: ServerInTest, value: Callable[..., float | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter that went back would be read as a restart."""
    moment = server.parts.watch.moment()
    higher = moment._replace(stall_ns=moment.stall_ns + 3_000_000_000)
    with monkeypatch.context() as patched:
        patched.setattr(type(server.parts.watch), "moment", lambda _: higher)
        seen = value("event_loop_stall_seconds_total")
    assert seen is not None
    assert seen >= 3
    assert value("event_loop_stall_seconds_total") == seen


async def test_lag_is_told_of_all_streams(
    server: ServerInTest, value: Callable[..., float | None]
) -> None:
    """As quantiles, whose number does not grow with the bots."""
    for name in ("ada", "bob"):
        await server.bot(name)
    for lag_s, session in enumerate(server.parts.lobby.sessions, start=1):
        session.lag_ns = lag_s * 10**9
    assert value("stream_lag_seconds", quantile="1") == 2
