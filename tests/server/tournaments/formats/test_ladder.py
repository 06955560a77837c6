"""Continuous ladders, over the wire and played by scripted bots."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.rows import tournament_row
from tests.server.tournaments.formats.judged import NO_STORAGE, NOBODY
from tests.server.tournaments.formats.players import (
    OPENINGS,
    planned_games,
    players,
    until,
)
from tests.server_in_test import ServerInTest

from meijin.ladder.refresh import refresh
from meijin.server.tournaments.formats import ladder as ladder_format
from meijin.server.tournaments.formats.ladder import LadderFormat
from meijin.store.ladders.runs import standings
from meijin.store.schema import BotId, GameState, LadderId
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer


BOTS = ("ada", "bob", "cyd", "dan")
PAIR = BOTS[:2]
RUNNING = pb.TOURNAMENT_STATE_RUNNING
FINAL = {"final": True}


async def create(server: ServerInTest, *bots: str, games: int = 0, **more: Any) -> str:
    """A ladder of this many games, with other settings and another end as told."""
    names = {"confidence", "within", "final"}
    end = pb.LadderRun(most_games=games, **{key: more.pop(key) for key in names & more.keys()})
    settings: dict[str, Any] = {
        "format": pb.TOURNAMENT_FORMAT_LADDER,
        "rounds": 0,
        "openings": OPENINGS,
    }
    return await server.tournament(*bots, ladder=end, **settings | more)


async def tournament(server: ServerInTest, key: str) -> pb.Tournament:
    return (await server.report(key)).tournament


async def publish(server: ServerInTest) -> None:
    """Have the only ladder's newest run be of all games that have ended."""
    await asyncio.to_thread(refresh, server.database, LadderId(1))


async def test_strangers_are_linked_and_then_taught_by_turns(start_server: StartServer) -> None:
    """Games come in pairs on one opening with both colours, and each says why."""
    async with start_server() as server:
        async with players(server, *BOTS):
            key = await create(server, *BOTS, games=24)
            await server.until_finished(key)
        found = await tournament(server, key)
        assert found.verdict == "24 games, the most there were to be"
        assert (found.finished_games, found.planned_games) == (24, 24)
        assert found.settings.ladder == pb.LadderRun(most_games=24)
        assert tuple(found.settings.bots) == BOTS
        assert found.ladder == "freestyle-5x5-classical"
    rows = planned_games(server.settings.database)
    assert {row.state for row in rows} == {GameState.FINISHED}
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert (first.black_id, first.white_id) == (second.white_id, second.black_id)
        assert (first.opening, first.reason) == (second.opening, second.reason)
    reasons = [row.reason.split(" (")[0] for row in rows[::2]]
    assert reasons[:2] == ["no games lead from one to the other"] * 2
    counts = Counter(reasons)
    assert counts["no games lead from one to the other"] == 3
    settled = counts["the order becomes surest"]
    assert abs(settled - counts["all ratings together become surest"]) == 1


async def test_bots_that_always_play_the_same_are_not_paired_for_ever(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once all openings are played and games come again, the two have nothing to teach."""
    monkeypatch.setattr(ladder_format, "RUN_POLL_INTERVAL", timedelta(0))
    async with players(server, *PAIR):
        key = await create(server, *PAIR, openings=OPENINGS[:2])
        await until(server, key, lambda found: found.finished_games >= 6)
        await publish(server)
        await server.until_finished(key)
    assert (await tournament(server, key)).verdict.startswith("nothing is left to learn")


async def test_certainty_ends_it(server: ServerInTest) -> None:
    """With the first run of the ladder that is sure of every order."""
    async with players(server, *PAIR, order=PAIR):
        key = await create(server, *PAIR, confidence=0.9, within=10)
        await until(server, key, lambda found: found.finished_games >= 30)
        await publish(server)
        await server.until_finished(key)
    verdict = (await tournament(server, key)).verdict
    reason, sure, weakest = verdict.split("; ")
    assert reason.endswith(" games were enough")
    assert float(re.findall(r"\d+\.?\d*", sure)[0]) >= 90
    assert sure.endswith(" % but for differences below 10 Elo")
    assert weakest.startswith("least sure: ada before bob (")


async def test_whoever_is_there_takes_part(server: ServerInTest) -> None:
    """Without named bots; a newcomer is linked to the others next, and is in the crosstable."""
    async with players(server, *PAIR):
        key = await create(server, games=60)
        await until(server, key, lambda found: found.finished_games >= 4)
        async with players(server, "cyd"):
            await server.until_finished(key)
    response = await server.report(key)
    assert set(response.tournament.settings.bots) == {"ada", "bob", "cyd"}
    met = {(cell.bot, cell.opponent) for cell in response.crosstable}
    assert ("cyd", "ada") in met or ("cyd", "bob") in met


async def test_a_restarted_server_goes_on(start_server: StartServer) -> None:
    """With the games that were left, the openings that come next, and the same bound."""
    bots = BOTS[:3]
    async with start_server() as server, players(server, *bots):
        key = await create(server, *bots, games=30)
        await until(server, key, lambda found: found.finished_games >= 7)
    async with start_server() as server:
        async with players(server, *bots):
            await server.until_finished(key)
        assert (await tournament(server, key)).finished_games == 30
    rows = planned_games(server.settings.database)
    rows = [row for row in rows if row.state is not GameState.VOID]
    assert len({row.number for row in rows}) == len(rows) == 30
    dealt = Counter((frozenset((row.black_id, row.white_id)), row.opening) for row in rows[::2])
    assert set(dealt.values()) == {1}


async def test_settling_closes_entries_and_ends_with_a_final_run(server: ServerInTest) -> None:
    """Whoever is there takes part, whoever comes later does not."""
    async with players(server, *PAIR):
        key = await create(server, games=4, **FINAL)
        async with players(server, "cyd"):
            await server.until_finished(key)
    found = await tournament(server, key)
    assert tuple(found.settings.bots) == PAIR
    assert found.final_run == ""
    await publish(server)
    run = server.database.read(lambda at: standings(at, LadderId(1))).run
    assert run is not None
    assert (await tournament(server, key)).final_run == str(run.id)
    assert (run.games, str(run.final_of)) == (4, key)
    verdict = (await tournament(server, key)).verdict
    assert verdict.startswith("4 games, the most there were to be; the order is sure to ")
    assert "; least sure: " in verdict


async def test_a_ladder_is_settled_by_those_who_are_on_it(server: ServerInTest) -> None:
    """Others who are there do not enter, once it has a run."""
    async with players(server, *BOTS[:3]):
        await server.until_finished(await create(server, *PAIR, games=2))
        await publish(server)
        key = await create(server, games=4, **FINAL)
        assert tuple((await tournament(server, key)).settings.bots) == PAIR


async def test_open_ladders_leave_bots_to_one_that_is_settled(server: ServerInTest) -> None:
    guest = await server.bot("bob")
    guest.call.cancel()
    await server.away("bob")
    async with players(server, "ada", "cyd", "dan"):
        settling = await create(server, *PAIR, games=2, **FINAL)
        key = await create(server, games=8)
        await server.until_finished(key)
        assert set((await tournament(server, key)).settings.bots) == {"cyd", "dan"}
        await server.until_finished(await create(server, "ada", "cyd", games=2))
        assert (await tournament(server, settling)).state == RUNNING


async def test_it_is_told_how_sure_the_order_is(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the newest run, with the pair that is least sure."""
    monkeypatch.setattr(ladder_format, "RUN_POLL_INTERVAL", timedelta(0))
    async with players(server, *PAIR, order=PAIR):
        key = await create(server, *PAIR, confidence=0.999999, within=10)
        assert not (await tournament(server, key)).HasField("ladder_standing")
        await until(server, key, lambda found: found.finished_games >= 10)
        await publish(server)
        await until(server, key, lambda found: found.HasField("ladder_standing"))
        told = (await tournament(server, key)).ladder_standing
    assert (told.ahead, told.behind) == PAIR
    assert 0.5 < told.confidence < 1
    assert told.lead > told.deviation > 0


async def test_time_ends_it() -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    clock = [begin + timedelta(seconds=7199)]
    ladder = LadderFormat(
        tournament_row(
            ladder_id=LadderId(1),
            openings=(b"",),
            options={"most_seconds": 7200},
            create_time=begin,
        ),
        [BotId(1), BotId(2)],
        planned=Counter(),
        unplayed=Counter(),
        clock=lambda: clock[0],
    )
    with pytest.raises(AttributeError):
        await ladder.next_pairs(NOBODY, NO_STORAGE)
    clock[0] += timedelta(seconds=1)
    assert await ladder.next_pairs(NOBODY, NO_STORAGE) == ()
    assert ladder.verdict == "2:00:00 h, the most time that it had"
