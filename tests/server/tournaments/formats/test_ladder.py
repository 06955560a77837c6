"""Continuous ladders, over the wire and played by scripted bots."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import grpc
import pytest
from sqlalchemy import Connection, select
from structlog.testing import capture_logs

from meijin.game import Variant, encode_moves
from meijin.ladder.refresh import refresh
from meijin.server.errors import StoreAwayError
from meijin.server.tournaments import planner
from meijin.server.tournaments.formats import ladder as ladder_format
from meijin.server.tournaments.formats.base import Capacity, GamePair
from meijin.server.tournaments.formats.ladder import LadderFormat, LadderSettings
from meijin.store import Database
from meijin.store.ladders.runs import standings
from meijin.store.schema import BotId, Game, GameState, LadderId, Pairing, TournamentId
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.server.storage import Storage

BOTS = ("ada", "bob", "cyd", "dan")
OPENINGS = [encode_moves(cells) for cells in itertools.permutations(range(6, 12), 2)]
FORM = pb.TOURNAMENT_FORMAT_LADDER
PATIENCE = 20.0


async def create(
    server: ServerInTest,
    *bots: str,
    games: int = 0,
    until: float = 0,
    rule: dict[str, Any] | None = None,
    **more: Any,
) -> str:
    """Start a continuous ladder."""
    settings: dict[str, Any] = {"format": FORM, "rounds": 0, "openings": OPENINGS} | more
    ladder = pb.LadderRun(confidence=until, most_games=games, **rule or {})
    return await server.tournament(*bots, ladder=ladder, **settings)


async def get(server: ServerInTest, key: str) -> pb.GetTournamentResponse:
    """One tournament and its crosstable."""
    request = pb.GetTournamentRequest(tournament_id=key)
    return await (await server.tournaments()).GetTournament(request)


@asynccontextmanager
async def players(
    server: ServerInTest, *names: str, loser: str = "", max_games: int = 1
) -> AsyncIterator[None]:
    """Bots that take the first free cell at every turn, but for one that resigns all its games."""
    peers = [await server.bot(name, max_games=max_games) for name in names]
    tasks = [
        asyncio.create_task(lose(peer) if name == loser else play(peer))
        for name, peer in zip(names, peers, strict=True)
    ]
    yield
    for task in tasks:
        task.cancel()


async def play(peer: Peer) -> None:
    """Play for ever."""
    await peer.play_out(1_000_000)


async def lose(peer: Peer) -> None:
    """Resign for ever."""
    while True:
        await peer.resign((await peer.started()).game)


def planned(connection: Connection) -> Sequence[Any]:
    """Every planned game with its state, in order."""
    query = select(
        Pairing.number,
        Pairing.black_id,
        Pairing.white_id,
        Pairing.opening,
        Pairing.reason,
        Game.state,
    )
    joined = query.outerjoin(Game, Game.pairing_id == Pairing.id).order_by(Pairing.number)
    return connection.execute(joined).all()


def rows_of(server: ServerInTest) -> Sequence[Any]:
    """What a server that has stopped had planned."""
    with Database(server.settings.database) as database:
        return database.read(planned)


async def test_strangers_are_linked_and_then_taught_by_turns(start_server: StartServer) -> None:
    """Games come in pairs on one opening with both colours, and each says why."""
    async with start_server() as server:
        async with players(server, *BOTS):
            key = await create(server, *BOTS, games=24)
            await server.until_finished(key)
        found = (await get(server, key)).tournament
        assert found.verdict == "24 games, the most there were to be"
        assert (found.finished_games, found.planned_games) == (24, 24)
        assert found.settings.ladder == pb.LadderRun(most_games=24)
        assert list(found.settings.bots) == list(BOTS)
        assert found.ladder == "freestyle-5x5-classical"
    rows = rows_of(server)
    assert {row.state for row in rows} == {GameState.FINISHED}
    for first, second in _twos(rows):
        assert (first.black_id, first.white_id) == (second.white_id, second.black_id)
        assert (first.opening, first.reason) == (second.opening, second.reason)
    reasons = [row.reason.split(" (")[0] for row in rows[::2]]
    assert reasons[:2] == ["no games lead from one to the other"] * 2
    counts = Counter(reasons)
    assert counts["no games lead from one to the other"] == 3
    settled = counts["who of the two is stronger is most in doubt"]
    assert abs(settled - counts["all ratings together become surest"]) == 1


async def test_a_watcher_is_told_why_two_met(server: ServerInTest) -> None:
    """With the game, while it runs and when it ends."""
    ada, bob = [await server.bot(name) for name in ("ada", "bob")]
    key = await create(server, "ada", "bob", games=2)
    first, _ = [await peer.started() for peer in (ada, bob)]
    request = pb.WatchTournamentRequest(tournament_id=key)
    watcher = aiter((await server.tournaments()).WatchTournament(request))
    await anext(watcher)
    await ada.resign(first.game)
    told = [await anext(watcher) for _ in range(2)]
    for game in (told[0].game_ended, told[1].game_started):
        assert game.pairing_reason.startswith("no games lead from one to the other (")


@pytest.mark.parametrize(
    ("trouble", "is_logged"), [(StoreAwayError("no answer"), False), (ZeroDivisionError(), True)]
)
async def test_a_plan_that_fails_ends_nothing(
    start_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
    *,
    is_logged: bool,
) -> None:
    """It is made a little later; a database that is away is told of by the storage."""
    monkeypatch.setattr(planner, "FIRST_RETRY", timedelta(milliseconds=10))
    next_pairs = LadderFormat.next_pairs
    failures: list[Exception] = []

    async def fail_twice(ladder: LadderFormat, capacity: Capacity) -> Sequence[GamePair]:
        if len(failures) < 2:
            failures.append(trouble)
            raise trouble
        return await next_pairs(ladder, capacity)

    monkeypatch.setattr(LadderFormat, "next_pairs", fail_twice)

    async with start_server() as server:
        with capture_logs() as logs:
            async with players(server, "ada", "bob"):
                key = await create(server, "ada", "bob", games=2)
                await server.until_finished(key)
        told = [line for line in logs if line["event"] == "can't plan games"]
        assert len(told) == (2 if is_logged else 0)
    assert len(failures) == 2


def _twos(rows: Sequence[Any]) -> Sequence[tuple[Any, Any]]:
    return list(zip(rows[::2], rows[1::2], strict=True))


async def test_two_bots_get_every_opening_before_one_comes_again(start_server: StartServer) -> None:
    """Who begins with black alternates."""
    async with start_server() as server, players(server, "ada", "bob", max_games=4):
        key = await create(server, "ada", "bob", games=2 * len(OPENINGS) - 2)
        await server.until_finished(key)
    pairs = _twos(rows_of(server))
    assert len({first.opening for first, _ in pairs}) == len(pairs) == len(OPENINGS) - 1
    assert {first.black_id for first, _ in pairs[::2]} != {
        first.black_id for first, _ in pairs[1::2]
    }


async def test_bots_that_always_play_the_same_are_not_paired_for_ever(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once all openings are played and games come again, the two have nothing to teach."""
    few = OPENINGS[:2]
    monkeypatch.setattr(ladder_format, "RUN_POLL_INTERVAL", timedelta(0))

    with Database(server.settings.database) as database:
        async with players(server, "ada", "bob"):
            key = await create(server, "ada", "bob", openings=few)
            await _until(server, key, lambda found: found.finished_games >= 6)
            await asyncio.to_thread(refresh, database, LadderId(1))
            await server.until_finished(key)
    found = (await get(server, key)).tournament
    assert found.verdict.startswith("nothing is left to learn")


async def _until(
    server: ServerInTest, key: str, condition: Callable[[pb.Tournament], bool]
) -> None:
    """Wait for a game after whose end the tournament is as wanted."""
    request = pb.WatchTournamentRequest(tournament_id=key)
    async with asyncio.timeout(PATIENCE):
        async for fact in (await server.tournaments()).WatchTournament(request):
            if not fact.HasField("game_started") and condition((await get(server, key)).tournament):
                return


async def test_certainty_ends_it(server: ServerInTest) -> None:
    """With the first run of the ladder that is sure of every order."""
    with Database(server.settings.database) as database:
        async with players(server, "ada", "bob", loser="bob"):
            key = await create(server, "ada", "bob", until=0.9, rule={"within": 10})
            await _until(server, key, lambda found: found.finished_games >= 30)
            await asyncio.to_thread(refresh, database, LadderId(1))
            await server.until_finished(key)
    found = (await get(server, key)).tournament
    assert found.verdict == "the order of 2 bots sure to 90 % but for differences below 10 Elo"


async def test_whoever_is_there_takes_part(server: ServerInTest) -> None:
    """Without named bots; a newcomer is linked to the others next, and is in the crosstable."""
    async with players(server, "ada", "bob"):
        key = await create(server, games=60)
        await _until(server, key, lambda found: found.finished_games >= 4)
        async with players(server, "cyd"):
            await server.until_finished(key)
    response = await get(server, key)
    assert set(response.tournament.settings.bots) == {"ada", "bob", "cyd"}
    met = {(cell.bot, cell.opponent) for cell in response.crosstable}
    assert ("cyd", "ada") in met or ("cyd", "bob") in met


@pytest.mark.settings(grace=0.0)
async def test_a_bot_that_leaves_holds_up_nobody(server: ServerInTest) -> None:
    """Its planned games wait for it; the others go on without."""
    async with players(server, "ada", "bob"):
        async with players(server, "cyd"):
            key = await create(server, "ada", "bob", "cyd", games=40)
            await _until(server, key, lambda found: found.finished_games >= 3)
        before = (await get(server, key)).tournament.finished_games
        await _until(server, key, lambda found: found.finished_games >= before + 8)
        await server.bot("cyd")
    assert (await get(server, key)).tournament.state == pb.TOURNAMENT_STATE_RUNNING


async def test_it_is_said_who_is_waited_for(server: ServerInTest) -> None:
    """Where nobody plays, those who are away and those who can't play the variant."""
    await server.bot("ada")
    guest = await server.bot("bob")
    key = await create(server, "ada", "bob")
    await guest.started()
    guest.call.cancel()
    await server.away("bob")
    second = await create(server, "bob", "ada", variant=Variant(width=6, height=6))
    assert (await get(server, second)).tournament.waiting_for == "bob is not connected"
    assert (await get(server, key)).tournament.running_games == 1


async def test_a_restarted_server_goes_on(start_server: StartServer) -> None:
    """With the games that were left, the openings that come next, and the same bound."""
    async with start_server() as server, players(server, "ada", "bob", "cyd"):
        key = await create(server, "ada", "bob", "cyd", games=30)
        await _until(server, key, lambda found: found.finished_games >= 7)
    async with start_server() as server:
        async with players(server, "ada", "bob", "cyd"):
            await server.until_finished(key)
        assert (await get(server, key)).tournament.finished_games == 30
    rows = [row for row in rows_of(server) if row.state is not GameState.VOID]
    assert len({row.number for row in rows}) == len(rows) == 30
    dealt = Counter((frozenset((row.black_id, row.white_id)), row.opening) for row in rows[::2])
    assert set(dealt.values()) == {1}


@pytest.mark.parametrize(
    ("bots", "settings", "words"),
    [
        (("ada",), {}, "at least two bots"),
        (("ada", "ada"), {}, "named twice"),
        (("ada", "bob"), {"unrated": True}, "rated"),
        (("ada", "bob"), {"rounds": 2}, "rounds"),
        (("ada", "bob"), {"until": 1.0}, "confidence 1"),
        (("ada", "bob"), {"games": 1_000_001}, "most_games"),
        (("ada", "bob"), {"until": 0.9, "rule": {"within": -1.0}}, "within -1"),
        (("ada", "bob"), {"until": 0.9, "rule": {"within": 1001.0}}, "within 1001"),
        (("ada", "bob"), {"until": 0.9, "rule": {"within": math.nan}}, "within nan"),
        (("ada", "bob"), {"until": 0.9, "rule": {"top": 2}}, "top 2 is not below 2 bots"),
        (("ada", "bob"), {"rule": {"within": 10.0}}, "need ladder.confidence"),
        (("ada", "bob"), {"rule": {"top": 1}}, "need ladder.confidence"),
        (("ada", "bob"), {"rule": {"final": True}}, "without an end"),
        (("ada", "bob"), {"format": pb.TOURNAMENT_FORMAT_GAUNTLET, "rounds": 2}, "ladder:"),
    ],
)
async def test_what_a_ladder_cannot_be(
    server: ServerInTest, bots: tuple[str, ...], settings: dict[str, Any], words: str
) -> None:
    """The field is named."""
    await server.bot("ada")
    await server.bot("bob")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await create(server, *bots, **settings)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(caught.value.details())


async def test_boards_without_own_openings_begin_empty(start_server: StartServer) -> None:
    """Then both bots have played all openings after two games."""
    async with start_server() as server, players(server, "ada", "bob"):
        board = Variant(width=6, height=6)
        key = await create(server, "ada", "bob", games=4, openings=[], variant=board)
        await server.until_finished(key)
    assert {row.opening for row in rows_of(server)} == {b""}


FINAL = {"final": True}


async def test_settling_closes_entries_and_ends_with_a_final_run(server: ServerInTest) -> None:
    """Whoever is there takes part, whoever comes later does not."""
    with Database(server.settings.database) as database:
        async with players(server, "ada", "bob"):
            key = await create(server, games=4, rule=FINAL)
            async with players(server, "cyd"):
                await server.until_finished(key)
        found = (await get(server, key)).tournament
        assert list(found.settings.bots) == ["ada", "bob"]
        assert found.final_run == ""
        await asyncio.to_thread(refresh, database, LadderId(1))
        found = (await get(server, key)).tournament
        run = database.read(lambda at: standings(at, LadderId(1))).run
    assert run is not None
    assert found.final_run == str(run.id)
    assert (run.games, str(run.final_of)) == (4, key)


async def test_a_ladder_is_settled_by_those_who_are_on_it(server: ServerInTest) -> None:
    """Others who are there do not enter, once it has a run."""
    with Database(server.settings.database) as database:
        async with players(server, *BOTS[:3]):
            await server.until_finished(await create(server, "ada", "bob", games=2))
            await asyncio.to_thread(refresh, database, LadderId(1))
            key = await create(server, games=4, rule=FINAL)
            assert list((await get(server, key)).tournament.settings.bots) == ["ada", "bob"]


async def test_nobody_is_settled_alone(server: ServerInTest) -> None:
    """It is said how many are there."""
    await server.bot("ada")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await create(server, games=4, rule=FINAL)
    assert "1 of the ladder freestyle-5x5-classical are connected" in str(caught.value.details())


async def test_open_ladders_leave_bots_to_one_that_is_settled(server: ServerInTest) -> None:
    """Until it ends; named ones do not."""
    guest = await server.bot("bob")
    guest.call.cancel()
    await server.away("bob")
    async with players(server, "ada", "cyd", "dan"):
        settling = await create(server, "ada", "bob", games=2, rule=FINAL)
        key = await create(server, games=8)
        await server.until_finished(key)
        assert set((await get(server, key)).tournament.settings.bots) == {"cyd", "dan"}
        named = await create(server, "ada", "cyd", games=2)
        await server.until_finished(named)
        assert (await get(server, settling)).tournament.state == pb.TOURNAMENT_STATE_RUNNING


async def test_it_is_told_how_sure_the_order_is(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the newest run, with the pair that is least sure."""
    monkeypatch.setattr(ladder_format, "RUN_POLL_INTERVAL", timedelta(0))
    with Database(server.settings.database) as database:
        async with players(server, "ada", "bob", loser="bob"):
            key = await create(server, "ada", "bob", until=0.999999, rule={"within": 10})
            assert not (await get(server, key)).tournament.HasField("ladder_standing")
            await _until(server, key, lambda found: found.finished_games >= 10)
            await asyncio.to_thread(refresh, database, LadderId(1))
            await _until(server, key, lambda found: found.HasField("ladder_standing"))
            told = (await get(server, key)).tournament.ladder_standing
    assert (told.ahead, told.behind) == ("ada", "bob")
    assert 0.5 < told.confidence < 1
    assert told.lead > told.deviation > 0


async def test_time_ends_it() -> None:
    """Counted from its creation, over restarts."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    clock = [begin + timedelta(seconds=7199)]
    ladder = LadderFormat(
        LadderSettings(most_seconds=7200),
        cast("Storage", None),
        (TournamentId(1), LadderId(1)),
        [BotId(1), BotId(2)],
        [b""],
        seed=1,
        planned=Counter(),
        unplayed=Counter(),
        finished=0,
        create_time=begin,
        wall_clock=lambda: clock[0],
    )
    nobody = Capacity({}, waiting=0, held={}, room=0)
    with pytest.raises(AttributeError):
        await ladder.next_pairs(nobody)
    clock[0] += timedelta(seconds=1)
    assert await ladder.next_pairs(nobody) == ()
    assert ladder.verdict == "2:00:00 h, the most time that it had"
