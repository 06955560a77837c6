"""How a server is doing, over the contract."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import OperationalError

from meijin.server.api.services import status
from meijin.store.backup import backup_name
from meijin.v1 import status_service_pb2 as pb
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.wire.contract import BACKUP_FOLDER

if TYPE_CHECKING:
    import pytest
    from tests.server_in_test import ServerInTest

STATUS, ACTIVITY = "StatusService/GetStatus", "StatusService/GetActivity"


async def test_a_server_with_a_game(server: ServerInTest) -> None:
    """What is connected, played and planned; what does not answer, such as Redis, is absent."""
    await server.pair(rounds=3)
    seen = await server.ask(STATUS)
    assert seen.version == version("meijin")
    assert (seen.connected_bots, seen.running_tournaments) == (2, 1)
    assert (seen.running_games, seen.pending_games) == (1, 2)
    assert (seen.draining, seen.store_failing, seen.outdated_ladders) == (False, False, 0)
    assert seen.start_time.ToDatetime(UTC) <= datetime.now(UTC)
    for absent in ("queued_jobs", "backup_time", "oldest_run_time"):
        assert not seen.HasField(absent)
    server.parts.lobby.drain()
    assert (await server.ask(STATUS)).draining


async def test_anyone_may_know_what_goes_on(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who plays, what has ended, and how far the ladders are; looked up once a second at most."""
    monkeypatch.setattr(status, "LOOK_INTERVAL", timedelta(0))
    black, _white = await server.pair(rounds=2)
    first = await black.turn()
    seen = await server.ask(ACTIVITY)
    assert (seen.version, seen.connected_bots) == (version("meijin"), 2)
    assert (seen.running_tournaments, seen.running_games, seen.pending_games) == (1, 1, 1)
    assert (seen.games_last_hour, seen.games_last_day) == (0, 0)
    await black.resign(first.game)
    await black.ended()
    seen = await server.ask(ACTIVITY)
    assert (seen.games_last_hour, seen.games_last_day) == (1, 1)
    (ladder,) = seen.ladders
    assert (ladder.games, ladder.games_behind, ladder.HasField("run_time")) == (1, 1, False)
    assert seen.start_time.ToDatetime() <= seen.time.ToDatetime()
    stalls = seen.stalls
    longest = stalls.longest.ToTimedelta()
    assert longest <= stalls.total.ToTimedelta()
    assert stalls.longest_loop_cpu_time.ToTimedelta() <= longest
    assert stalls.longest_process_cpu_time.ToTimedelta() <= longest
    monkeypatch.setattr(status, "LOOK_INTERVAL", timedelta(hours=1))
    await server.bot("cleo")
    assert await server.ask(ACTIVITY) == seen


async def test_the_newest_backup_is_told(server: ServerInTest) -> None:
    """By its name in the data folder."""
    folder = server.settings.data / BACKUP_FOLDER
    noon = datetime(2026, 3, 4, 12, tzinfo=UTC)
    await asyncio.to_thread(folder.mkdir)
    for when in (noon, noon.replace(hour=11)):
        (folder / backup_name(when)).touch()
    assert (await server.ask(STATUS)).backup_time.ToDatetime(UTC) == noon


async def test_a_store_that_is_away_is_told(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call, which shows no token that would be looked up, succeeds all the same."""

    def locked(*_: object, **__: object) -> Any:
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    service = StatusServiceStub(await server.channel())
    monkeypatch.setattr(server.database, "read", locked)
    seen = await service.GetStatus(pb.GetStatusRequest())
    assert seen.store_failing
    assert not seen.HasField("outdated_ladders")
