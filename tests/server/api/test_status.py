"""How a server is doing, over the contract."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.exc import OperationalError

from meijin.store.backup import backup_name
from meijin.testing.peer import bearer
from meijin.v1 import status_service_pb2 as pb
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.wire.contract import BACKUP_FOLDER

if TYPE_CHECKING:
    from meijin.testing.server import ServerInTest


async def status(server: ServerInTest) -> pb.GetStatusResponse:
    """Ask as an operator."""
    service = StatusServiceStub(await server.channel())
    response: pb.GetStatusResponse = await service.GetStatus(
        pb.GetStatusRequest(), metadata=bearer(server.operator_token)
    )
    return response


async def test_a_server_with_a_game(server: ServerInTest) -> None:
    """What is connected, played and planned."""
    await server.pair(rounds=3)
    seen = await status(server)
    assert seen.version == version("meijin")
    assert (seen.connected_bots, seen.running_tournaments) == (2, 1)
    assert (seen.running_games, seen.pending_games) == (1, 2)
    assert (seen.draining, seen.store_failing) == (False, False)
    assert seen.outdated_ladders == 0
    assert seen.start_time.ToDatetime(UTC) <= datetime.now(UTC)


async def activity(server: ServerInTest) -> pb.GetActivityResponse:
    """Ask without a token."""
    service = StatusServiceStub(await server.channel())
    response: pb.GetActivityResponse = await service.GetActivity(pb.GetActivityRequest())
    return response


async def test_anyone_may_know_what_goes_on(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who plays, what has ended, and how far the ladders are; void games are no ended ones."""
    monkeypatch.setattr("meijin.server.api.status.LOOK_INTERVAL", timedelta(0))
    black, _white = await server.pair(rounds=2)
    first = await black.turn()
    seen = await activity(server)
    assert (seen.version, seen.connected_bots) == (version("meijin"), 2)
    assert (seen.running_tournaments, seen.running_games, seen.pending_games) == (1, 1, 1)
    assert (seen.games_last_hour, seen.games_last_day) == (0, 0)
    await black.resign(first.game)
    await black.ended()
    seen = await activity(server)
    assert (seen.games_last_hour, seen.games_last_day) == (1, 1)
    (ladder,) = seen.ladders
    assert (ladder.games, ladder.games_behind, ladder.HasField("run_time")) == (1, 1, False)
    assert seen.start_time.ToDatetime() <= seen.time.ToDatetime()
    stalls = seen.stalls
    assert stalls.longest.ToTimedelta() <= stalls.total.ToTimedelta()
    assert stalls.longest_loop_cpu_time.ToTimedelta() <= stalls.longest.ToTimedelta()
    assert stalls.longest_process_cpu_time.ToTimedelta() <= stalls.longest.ToTimedelta()


async def test_what_goes_on_is_looked_up_once_a_second(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many ask."""
    monkeypatch.setattr("meijin.server.api.status.LOOK_INTERVAL", timedelta(hours=1))
    first = await activity(server)
    await server.bot("ada")
    assert await activity(server) == first


async def test_what_does_not_answer_is_absent(server: ServerInTest) -> None:
    """The test's server has no Redis, and no backup was taken."""
    seen = await status(server)
    assert not seen.HasField("queued_jobs")
    assert not seen.HasField("backup_time")
    assert not seen.HasField("oldest_run_time")


async def test_the_newest_backup_is_told(server: ServerInTest) -> None:
    """By its name in the data folder."""
    folder = server.settings.data / BACKUP_FOLDER
    noon = datetime(2026, 3, 4, 12, tzinfo=UTC)
    await asyncio.to_thread(folder.mkdir)
    for when in (noon, noon.replace(hour=11)):
        (folder / backup_name(when)).touch()
    assert (await status(server)).backup_time.ToDatetime(UTC) == noon


async def test_a_store_that_is_away_is_told(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call succeeds all the same."""

    def locked(_query: object) -> None:
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    service = StatusServiceStub(await server.channel())
    assert not (await service.GetStatus(pb.GetStatusRequest())).store_failing
    monkeypatch.setattr(server.database, "read", locked)
    seen = await service.GetStatus(pb.GetStatusRequest())
    assert seen.store_failing
    assert not seen.HasField("outdated_ladders")


async def test_a_server_that_is_about_to_stop_says_so(server: ServerInTest) -> None:
    """It still answers."""
    server.parts.lobby.drain()
    assert (await status(server)).draining
