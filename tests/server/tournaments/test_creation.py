"""How tournaments are made: bounded before anything is built, and stored part by part."""

import asyncio
import itertools
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection, func, select, update

from meijin.game import GOMOKU, TIME_CLASSES, TimeClasses, TimeControl
from meijin.server.errors import BusyError, InvalidRequestError, NotFoundError, QuotaError
from meijin.server.storage import Storage
from meijin.server.tournaments import creation
from meijin.server.tournaments.creation import (
    CHUNK,
    MAX_BOTS,
    MAX_INCREMENT,
    MAX_RUNNING,
    MAX_WAITING,
    Creator,
    TournamentSettings,
)
from meijin.server.tournaments.formats.base import Request
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.owner_limits import HOUR, OwnerLimits
from meijin.store import Database, Writer
from meijin.store.access.audit import Actor
from meijin.store.access.owners import add_owner
from meijin.store.bots import add_bot
from meijin.store.schema import (
    BotId,
    FormatName,
    OwnerId,
    Pairing,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import (
    TournamentRow,
    get_tournament,
    list_tournaments,
    load_of,
    set_state,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ACTOR = Actor(None, "CreateTournament", "ipv4:127.0.0.1:7", "1")
PARTS = 12
LIMITS = OwnerLimits(games=100_000, at_once=100, an_hour=100)
LARGE = TournamentSettings(
    name="spring",
    format=FormatName("round-robin"),
    options=None,
    bots=("ada", "bob"),
    rounds=PARTS * CHUNK,
    variant=GOMOKU,
    time_control=TimeControl.parse("60"),
    seed=1,
    openings=(),
    max_games=0,
    is_rated=True,
)


def test_the_longest_game_can_be_told() -> None:
    """No clock under a time control that is accepted outgrows the wire's 32 bits."""
    longest = TimeControl.parse(f"604800+{MAX_INCREMENT.total_seconds():g}")
    assert longest.initial is not None
    moves_of_a_side = 22 * 22 // 2
    most = longest.initial + moves_of_a_side * longest.increment
    assert most // timedelta(milliseconds=1) < 2**32


def test_too_many_games_are_refused_before_any_is_made() -> None:
    """They are counted by arithmetic: 12.5 million pairs would take a gigabyte."""
    request = Request(
        bots=tuple(map(BotId, range(1, 5001))),
        rounds=1,
        seed=1,
        openings=((),),
        ladder="",
        is_rated=True,
        options=None,
    )
    tracemalloc.start()
    with pytest.raises(InvalidRequestError, match="5000 bots and rounds 1 make 12497500 games"):
        RoundRobin.plan(cast("Connection", None), request)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_a_schedule_is_no_objects() -> None:
    """A million games take a fraction of what they are as objects, also while they are read."""
    request = Request(tuple(map(BotId, range(1, 101))), 200, 1, ((), (1,)), "", True, None)  # noqa: FBT003
    tracemalloc.start()
    games = RoundRobin.plan(cast("Connection", None), request).games
    reader = iter(games)
    for _ in range(10_000):
        next(reader)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(games) == 990_000
    assert peak < 2_000_000


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    """An empty store with two bots."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        writer = Writer(database)
        storage = Storage(database, writer)
        for name in ("ada", "bob"):
            await storage.write(partial(add_bot, name=name, now=NOON))
        yield storage
        writer.close()


def games_stored(connection: Connection) -> int:
    """How many games are planned by now."""
    return connection.scalar(select(func.count(Pairing.id))) or 0


def listed(connection: Connection) -> list[TournamentId]:
    """The tournaments that everybody sees."""
    return [row.id for row in list_tournaments(connection, limit=10)]


async def tournament(storage: Storage, key: TournamentId) -> TournamentRow:
    """One tournament."""
    return await storage.read(partial(get_tournament, tournament_id=key))


async def test_others_write_between_the_parts_of_a_large_tournament(storage: Storage) -> None:
    """A commit waits for one part at most; nobody sees the tournament before its last."""
    creating = asyncio.create_task(Creator(storage, LIMITS).create(LARGE, "r", ACTOR))
    counts = [0]
    while not creating.done():
        counts.append(await storage.write(games_stored))
        if 0 < counts[-1] < PARTS * CHUNK:
            assert await storage.write(listed) == []
            with pytest.raises(NotFoundError):
                await tournament(storage, TournamentId(1))
    steps = {after - before for before, after in itertools.pairwise(counts)}
    assert len(set(counts)) > PARTS // 2
    assert max(steps) <= 2 * CHUNK
    assert (await tournament(storage, await creating)).planned == PARTS * CHUNK


@asynccontextmanager
async def cleaning(creator: Creator) -> AsyncIterator[None]:
    """A creator that drops what is left over."""
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(creator.run())
        yield
        running.cancel()


async def begin_and_leave(storage: Storage, request_id: str) -> None:
    """Store parts of a large tournament and end, as a server that is killed does."""
    creating = asyncio.create_task(Creator(storage, LIMITS).create(LARGE, request_id, ACTOR))
    while not await storage.read(games_stored):
        assert not creating.done()
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating


async def test_what_was_left_in_planning_is_dropped(storage: Storage) -> None:
    """All of it, part by part; tournaments that are made are left alone."""
    small = await Creator(storage, LIMITS).create(replace(LARGE, rounds=2), "", ACTOR)
    await begin_and_leave(storage, "r")
    async with cleaning(Creator(storage, LIMITS)):
        async with asyncio.timeout(20):
            while await storage.read(games_stored) > 2:
                await storage.write(games_stored)
    tournaments = select(Tournament.id)
    assert await storage.read(lambda at: list(at.scalars(tournaments))) == [small]


async def test_a_request_that_was_cut_off_can_be_repeated(storage: Storage) -> None:
    """It makes one tournament, which is whole, though the remains of the first are there."""
    await begin_and_leave(storage, "r")
    creator = Creator(storage, LIMITS)
    made = await creator.create(LARGE, "r", ACTOR)
    assert await creator.create(LARGE, "r", ACTOR) == made
    assert await storage.read(listed) == [made]
    async with cleaning(creator):
        async with asyncio.timeout(20):
            while await storage.read(games_stored) > PARTS * CHUNK:
                await storage.write(games_stored)
    assert (await tournament(storage, made)).planned == PARTS * CHUNK


async def test_a_large_request_that_comes_twice_at_once_makes_one(storage: Storage) -> None:
    """The others wait for the first, and find it; more than may wait are refused."""
    creator = Creator(storage, LIMITS)
    same = [creator.create(LARGE, "r", ACTOR) for _ in range(MAX_WAITING + 1)]
    found = await asyncio.gather(*same, return_exceptions=True)
    made = [each for each in found if not isinstance(each, BusyError)]
    assert made == [TournamentId(1)] * MAX_WAITING
    assert await storage.read(games_stored) == PARTS * CHUNK


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (TIME_CLASSES, ("freestyle-15x15-bullet", "freestyle-15x15-blitz")),
        (TimeClasses.parse("all"), ("freestyle-15x15-all",) * 2),
    ],
)
async def test_the_ladder_is_of_the_time_controls_class(
    storage: Storage, classes: TimeClasses, names: tuple[str, str]
) -> None:
    """By the classes that the server has."""
    creator = Creator(storage, LIMITS, classes)
    for control, name in zip(("0.1/move", "60"), names, strict=True):
        wanted = replace(LARGE, rounds=2, time_control=TimeControl.parse(control))
        made = await creator.create(wanted, "", ACTOR)
        row = await storage.read(partial(get_tournament, tournament_id=made))
        assert row.ladder == name


async def test_there_are_only_so_many_games_to_be_played(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tournaments together: each of them is held in memory."""
    monkeypatch.setattr(creation, "MAX_LOAD", 10)
    creator = Creator(storage, LIMITS)
    await creator.create(replace(LARGE, rounds=8), "", ACTOR)
    with pytest.raises(BusyError, match="8 games are to be played and these are 4; at most 10"):
        await creator.create(replace(LARGE, rounds=4), "", ACTOR)
    await creator.create(replace(LARGE, rounds=2), "", ACTOR)


async def test_there_are_only_so_many_tournaments_to_be_played(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler looks at each of them whenever bots are free."""
    assert MAX_RUNNING == 1000
    monkeypatch.setattr(creation, "MAX_RUNNING", 1)
    await Creator(storage, LIMITS).create(replace(LARGE, rounds=2), "", ACTOR)
    with pytest.raises(BusyError, match="1 tournaments are running"):
        await Creator(storage, LIMITS).create(replace(LARGE, rounds=2), "", ACTOR)


@pytest.fixture
async def eve(storage: Storage) -> OwnerId:
    """An owner."""
    return await storage.write(partial(add_owner, name="eve", now=NOON))


SMALL = replace(LARGE, rounds=10)


async def test_an_owner_has_so_many_games_to_be_played(storage: Storage, eve: OwnerId) -> None:
    """Over all of its tournaments; those of operators and of others are not counted."""
    bob = await storage.write(partial(add_owner, name="bob", now=NOON))
    creator = Creator(storage, OwnerLimits(games=25, at_once=9, an_hour=9))
    for owner in (None, bob, eve, eve, None):
        await creator.create(SMALL, "", ACTOR, owner)
    words = (
        "20 games of your tournaments run or wait and these are 10, at most 25 at once; ask for "
        "fewer, or come back when some have ended"
    )
    with pytest.raises(QuotaError, match=f"^{words}$"):
        await creator.create(SMALL, "", ACTOR, eve)
    await creator.create(replace(SMALL, rounds=5), "", ACTOR, eve)


@pytest.mark.parametrize("state", [TournamentState.CANCELLED, TournamentState.FINISHED])
async def test_what_is_over_gives_its_games_back(
    storage: Storage, eve: OwnerId, state: TournamentState
) -> None:
    """A tournament that is played no more takes nothing of what is bounded at once."""
    creator = Creator(storage, OwnerLimits(games=10, at_once=1, an_hour=9))
    made = await creator.create(SMALL, "", ACTOR, eve)
    with pytest.raises(QuotaError, match="1 tournaments of yours are being played, at most 1 at"):
        await creator.create(SMALL, "", ACTOR, eve)
    await storage.write(partial(set_state, tournament_id=made, state=state))
    await creator.create(SMALL, "", ACTOR, eve)


async def test_games_that_have_ended_are_given_back(storage: Storage, eve: OwnerId) -> None:
    """One by one, by the tournament's own counter."""
    creator = Creator(storage, OwnerLimits(games=15, at_once=9, an_hour=9))
    await creator.create(SMALL, "", ACTOR, eve)
    await storage.write(lambda to: to.execute(update(Tournament).values(finished=5)))
    await creator.create(SMALL, "", ACTOR, eve)


async def test_an_owner_makes_so_many_in_an_hour(storage: Storage, eve: OwnerId) -> None:
    """However they end; the refusal says when the next may be made."""
    creator = Creator(storage, OwnerLimits(games=1000, at_once=9, an_hour=2))
    for _ in range(2):
        made = await creator.create(SMALL, "", ACTOR, eve)
        cancel = partial(set_state, tournament_id=made, state=TournamentState.CANCELLED)
        await storage.write(cancel)
    with pytest.raises(QuotaError, match="you may make 2 tournaments in an hour; come") as caught:
        await creator.create(SMALL, "", ACTOR, eve)
    assert caught.value.retry_after is not None
    assert timedelta() < caught.value.retry_after <= HOUR
    await creator.create(SMALL, "", ACTOR)
    first = update(Tournament).where(Tournament.id == 1)
    await storage.write(lambda to: to.execute(first.values(create_time=NOON)))
    await Creator(storage, creator._limits).create(SMALL, "", ACTOR, eve)


@pytest.mark.parametrize("wanted", [[SMALL] * 5, [LARGE] * 3, [SMALL, LARGE, SMALL, LARGE]])
async def test_requests_at_once_do_not_lead_beyond_a_limit(
    storage: Storage, eve: OwnerId, wanted: list[TournamentSettings]
) -> None:
    """Each is counted where it is stored, small ones and large ones alike."""
    most = max(each.rounds for each in wanted)
    creator = Creator(storage, OwnerLimits(games=most, at_once=9, an_hour=9))
    made = await asyncio.gather(
        *(creator.create(each, "", ACTOR, eve) for each in wanted), return_exceptions=True
    )
    refused = [each for each in made if isinstance(each, QuotaError | BusyError)]
    assert len(refused) + len([each for each in made if isinstance(each, int)]) == len(wanted)
    load = await storage.read(partial(load_of, owner_id=eve))
    assert 0 < load.games <= most
    assert load.games == await storage.read(games_stored)


async def test_a_small_one_waits_for_the_large_one_of_its_owner(
    storage: Storage, eve: OwnerId
) -> None:
    """Its games are counted when they are all stored; others don't wait."""
    creator = Creator(storage, LIMITS)
    creating = asyncio.create_task(creator.create(LARGE, "", ACTOR, eve))
    while not await storage.read(games_stored):
        assert not creating.done()
    with pytest.raises(BusyError, match="a large tournament of yours is being made; try again"):
        await creator.create(SMALL, "", ACTOR, eve)
    await creator.create(SMALL, "", ACTOR)
    await creating
    await creator.create(SMALL, "", ACTOR, eve)


@pytest.mark.parametrize("rounds", [10, PARTS * CHUNK])
async def test_a_request_that_is_repeated_counts_once(
    storage: Storage, eve: OwnerId, rounds: int
) -> None:
    """It finds what it has made, though nothing more may be made."""
    creator = Creator(storage, OwnerLimits(games=rounds, at_once=1, an_hour=1))
    wanted = replace(LARGE, rounds=rounds)
    made = {await creator.create(wanted, "r", ACTOR, eve) for _ in range(3)}
    assert made == {TournamentId(1)}
    made = set(await asyncio.gather(*(creator.create(wanted, "r", ACTOR, eve) for _ in range(3))))
    assert made == {TournamentId(1)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bots": ("ada",) * (MAX_BOTS + 1)}, "number of bots 1001 is above 1000"),
        ({"openings": (b"",) * 1001}, "number of openings 1001 is above 1000"),
        ({"name": "a\x1b[2J"}, "name: character 2 is a control character"),
    ],
)
async def test_what_is_asked_for_is_bounded(change: dict[str, Any], words: str) -> None:
    """The store is not asked: names are counted before any is looked up."""
    with pytest.raises(InvalidRequestError, match=words):
        await Creator(cast("Storage", None), LIMITS).create(replace(LARGE, **change), "", ACTOR)
