"""How tournaments are made: bounded before anything is built, and stored part by part."""

import asyncio
import itertools
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy import Connection, func, select, update

from meijin.game import GOMOKU, TimeClasses, TimeControl
from meijin.server.errors import BusyError, NotFoundError, QuotaError
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments import creation
from meijin.server.tournaments.creation import (
    CHUNK,
    MAX_INCREMENT,
    MAX_WAITING,
    Creator,
    RequestedTournament,
)
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.server.tournaments.owner_limits import HOUR
from meijin.store import Database
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
    NewTournament,
    TournamentRow,
    get_tournament,
    list_tournaments,
    load_of,
    set_state,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ACTOR = Actor(None, "CreateTournament", "ipv4:127.0.0.1:7", "1")
PARTS = 12


def limits(games: int = 100_000, at_once: int = 100, an_hour: int = 100) -> Settings:
    return Settings.model_construct(
        owner_tournament_games=games,
        owner_tournaments_at_once=at_once,
        owner_tournaments_an_hour=an_hour,
    )


LIMITS = limits()
LARGE = RequestedTournament(
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
SMALL = replace(LARGE, rounds=10)


def test_the_longest_game_can_be_told() -> None:
    """No clock under a time control that is accepted outgrows the wire's 32 bits."""
    longest = TimeControl.parse(f"604800+{MAX_INCREMENT.total_seconds():g}")
    assert longest.initial is not None
    moves_of_a_side = 22 * 22 // 2
    most = longest.initial + moves_of_a_side * longest.increment
    assert most // timedelta(milliseconds=1) < 2**32


def test_a_schedule_is_no_objects() -> None:
    """A million games take a fraction of what they are as objects, also while they are read."""
    bots = tuple(map(BotId, range(1, 101)))
    asked = NewTournament(**LARGE.values() | {"rounds": 200}, bots=bots, is_rated=True)
    tracemalloc.start()
    games = RoundRobin.plan(cast("Connection", None), asked, frozenset()).schedule
    for _ in zip(games, range(10_000), strict=False):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(games) == 990_000
    assert peak < 2_000_000


@pytest.fixture(autouse=True)
def _bots(database: Database) -> None:
    for name in ("ada", "bob"):
        database.write(add_bot, name=name, now=NOON)


@pytest.fixture
async def eve(storage: Storage) -> OwnerId:
    return await storage.write(add_owner, name="eve", now=NOON)


def games_stored(connection: Connection) -> int:
    return connection.scalar(select(func.count(Pairing.id))) or 0


def tournaments_stored(connection: Connection) -> int:
    return connection.scalar(select(func.count(Tournament.id))) or 0


def listed(connection: Connection) -> list[TournamentId]:
    return [row.id for row in list_tournaments(connection, limit=10)]


async def tournament(storage: Storage, key: TournamentId) -> TournamentRow:
    return await storage.read(get_tournament, tournament_id=key)


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


async def clean(creator: Creator, tournaments: int) -> None:
    """Have it drop what is left in planning until there are this many tournaments at most.

    The last of one's parts is its row, which may go in a transaction of its own.
    """
    cleaning = asyncio.create_task(creator.run())
    async with asyncio.timeout(20):
        while await creator._storage.read(tournaments_stored) > tournaments:
            await creator._storage.write(tournaments_stored)
    cleaning.cancel()


async def begin_and_leave(storage: Storage, request_id: str) -> None:
    """Store parts of a large tournament and end, as a server that is killed does."""
    creating = asyncio.create_task(Creator(storage, LIMITS).create(LARGE, request_id, ACTOR))
    while not await storage.read(games_stored):
        assert not creating.done()
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating


async def test_a_request_that_was_cut_off_can_be_repeated(storage: Storage) -> None:
    """It makes one tournament, which is whole, and the remains of the first are dropped.

    All of them, part by part; tournaments that are made are left alone.
    """
    creator = Creator(storage, LIMITS)
    small = await creator.create(SMALL, "", ACTOR)
    await begin_and_leave(storage, "r")
    made = await creator.create(LARGE, "r", ACTOR)
    assert await creator.create(LARGE, "r", ACTOR) == made
    assert await storage.read(listed) == [made, small]
    await clean(creator, tournaments=2)
    assert await storage.read(games_stored) == PARTS * CHUNK + SMALL.rounds
    ids = await storage.read(lambda at: at.scalars(select(Tournament.id)).all())
    assert sorted(ids) == [small, made]
    assert (await tournament(storage, made)).planned == PARTS * CHUNK


async def test_a_large_request_that_comes_twice_at_once_makes_one(storage: Storage) -> None:
    """The others wait for the first, and find it; more than may wait are refused."""
    creator = Creator(storage, LIMITS)
    same = [creator.create(LARGE, "r", ACTOR) for _ in range(MAX_WAITING + 1)]
    found = await asyncio.gather(*same, return_exceptions=True)
    made = [each for each in found if not isinstance(each, BusyError)]
    assert made == [TournamentId(1)] * MAX_WAITING
    assert await storage.read(games_stored) == PARTS * CHUNK


async def test_the_ladder_is_of_the_servers_classes(storage: Storage) -> None:
    settings = LIMITS.model_copy(update={"time_classes": TimeClasses.parse("all")})
    made = await Creator(storage, settings).create(SMALL, "", ACTOR)
    assert (await tournament(storage, made)).ladder == "freestyle-15x15-all"


@pytest.mark.parametrize(
    ("bound", "most", "words"),
    [
        ("MAX_LOAD", 19, "10 games are to be played and these are 10; at most 19"),
        ("MAX_RUNNING", 1, "1 tournaments are running, the most that may; cancel some"),
    ],
)
async def test_there_is_only_so_much_to_be_played(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, bound: str, most: int, words: str
) -> None:
    """In all tournaments together: each is looked at whenever bots are free, and held in memory."""
    monkeypatch.setattr(creation, bound, most)
    creator = Creator(storage, LIMITS)
    await creator.create(SMALL, "", ACTOR)
    with pytest.raises(BusyError, match=words):
        await creator.create(SMALL, "", ACTOR)
    monkeypatch.setattr(creation, bound, most + 1)
    await creator.create(SMALL, "", ACTOR)


async def test_an_owner_has_so_many_games_to_be_played(storage: Storage, eve: OwnerId) -> None:
    """Over all of its tournaments; those of operators and of others are not counted."""
    bob = await storage.write(add_owner, name="bob", now=NOON)
    creator = Creator(storage, limits(games=25))
    for owner in (None, bob, eve, eve, None):
        await creator.create(SMALL, "", ACTOR, owner)
    words = (
        "20 games of your tournaments run or wait and these are 10, at most 25 at once; ask for "
        "fewer, or come back when some have ended"
    )
    with pytest.raises(QuotaError, match=f"^{words}$"):
        await creator.create(SMALL, "", ACTOR, eve)
    await creator.create(replace(SMALL, rounds=5), "", ACTOR, eve)


@pytest.mark.parametrize(
    ("change", "bounds"),
    [
        ({"state": TournamentState.CANCELLED}, limits(at_once=1)),
        ({"state": TournamentState.FINISHED}, limits(games=10)),
        ({"finished": 5}, limits(games=15)),
    ],
)
async def test_what_is_over_gives_its_games_back(
    storage: Storage, eve: OwnerId, change: dict[str, Any], bounds: Settings
) -> None:
    """A tournament or a game that is played no more takes nothing of what is bounded at once."""
    creator = Creator(storage, bounds)
    await creator.create(SMALL, "", ACTOR, eve)
    with pytest.raises(QuotaError, match="of your"):
        await creator.create(SMALL, "", ACTOR, eve)
    await storage.write(lambda to: to.execute(update(Tournament).values(change)))
    await creator.create(SMALL, "", ACTOR, eve)


async def test_an_owner_makes_so_many_in_an_hour(storage: Storage, eve: OwnerId) -> None:
    """However they end; the refusal says when the next may be made."""
    creator = Creator(storage, limits(an_hour=2))
    for _ in range(2):
        made = await creator.create(SMALL, "", ACTOR, eve)
        await storage.write(set_state, tournament_id=made, state=TournamentState.CANCELLED)
    with pytest.raises(QuotaError, match="you may make 2 tournaments in an hour; come") as caught:
        await creator.create(SMALL, "", ACTOR, eve)
    assert caught.value.retry_after is not None
    assert timedelta() < caught.value.retry_after <= HOUR
    await creator.create(SMALL, "", ACTOR)
    first = update(Tournament).where(Tournament.id == 1)
    await storage.write(lambda to: to.execute(first.values(create_time=NOON)))
    await creator.create(SMALL, "", ACTOR, eve)


@pytest.mark.parametrize("wanted", [[SMALL] * 5, [LARGE] * 3, [SMALL, LARGE, SMALL, LARGE]])
async def test_requests_at_once_do_not_lead_beyond_a_limit(
    storage: Storage, eve: OwnerId, wanted: list[RequestedTournament]
) -> None:
    """Each is counted where it is stored, small ones and large ones alike."""
    most = max(each.rounds for each in wanted)
    creator = Creator(storage, limits(games=most))
    made = await asyncio.gather(
        *(creator.create(each, "", ACTOR, eve) for each in wanted), return_exceptions=True
    )
    refused = [each for each in made if isinstance(each, QuotaError | BusyError)]
    assert len(refused) + len([each for each in made if isinstance(each, int)]) == len(wanted)
    load = await storage.read(load_of, owner_id=eve)
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
    creator = Creator(storage, limits(rounds, 1, 1))
    wanted = replace(LARGE, rounds=rounds)
    made = {await creator.create(wanted, "r", ACTOR, eve) for _ in range(3)}
    assert made == {TournamentId(1)}
    made = set(await asyncio.gather(*(creator.create(wanted, "r", ACTOR, eve) for _ in range(3))))
    assert made == {TournamentId(1)}
