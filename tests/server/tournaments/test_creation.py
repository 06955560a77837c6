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
from sqlalchemy import Connection, func, select

from meijin.game import GOMOKU, TIME_CLASSES, TimeClasses, TimeControl
from meijin.server.errors import BusyError, InvalidRequestError, NotFoundError
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
from meijin.store import Database, Writer
from meijin.store.access.audit import Actor
from meijin.store.bots import add_bot
from meijin.store.schema import BotId, FormatName, Pairing, Tournament, TournamentId
from meijin.store.tournaments import TournamentRow, get_tournament, list_tournaments

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ACTOR = Actor(None, "CreateTournament", "ipv4:127.0.0.1:7", "1")
PARTS = 12
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
    creating = asyncio.create_task(Creator(storage).create(LARGE, "r", ACTOR))
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
    creating = asyncio.create_task(Creator(storage).create(LARGE, request_id, ACTOR))
    while not await storage.read(games_stored):
        assert not creating.done()
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating


async def test_what_was_left_in_planning_is_dropped(storage: Storage) -> None:
    """All of it, part by part; tournaments that are made are left alone."""
    small = await Creator(storage).create(replace(LARGE, rounds=2), "", ACTOR)
    await begin_and_leave(storage, "r")
    async with cleaning(Creator(storage)):
        async with asyncio.timeout(20):
            while await storage.read(games_stored) > 2:
                await storage.write(games_stored)
    tournaments = select(Tournament.id)
    assert await storage.read(lambda at: list(at.scalars(tournaments))) == [small]


async def test_a_request_that_was_cut_off_can_be_repeated(storage: Storage) -> None:
    """It makes one tournament, which is whole, though the remains of the first are there."""
    await begin_and_leave(storage, "r")
    creator = Creator(storage)
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
    creator = Creator(storage)
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
    creator = Creator(storage, classes)
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
    creator = Creator(storage)
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
    await Creator(storage).create(replace(LARGE, rounds=2), "", ACTOR)
    with pytest.raises(BusyError, match="1 tournaments are running"):
        await Creator(storage).create(replace(LARGE, rounds=2), "", ACTOR)


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
        await Creator(cast("Storage", None)).create(replace(LARGE, **change), "", ACTOR)
