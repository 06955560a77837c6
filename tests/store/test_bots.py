"""Bots and their versions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from tests.query_plans import plans

from meijin.store import Database, bots
from meijin.store.access import owners
from meijin.store.bots import EngineRow
from meijin.store.errors import TooManyVersionsError, UnknownBotError
from meijin.store.schema import BotId, BotVersion, BotVersionId

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)

AddBots = Callable[..., tuple[BotId, ...]]


# -- bots -------------------------------------------------------------------------


def test_a_name_is_taken_once(database: Database, add_bots: AddBots) -> None:
    """The second registration of a name fails in the database."""
    (ada,) = add_bots("ada")
    with pytest.raises(IntegrityError):
        database.write(lambda to: bots.add_bot(to, "ada", NOON))
    assert database.read(lambda at: bots.find_bot(at, "ada")) == ada
    assert database.read(lambda at: bots.find_bot(at, "Ada")) is None
    assert database.read(lambda at: bots.bot_record(at, ada).name) == "ada"


def test_a_wrong_name_is_told_the_closest(database: Database, add_bots: AddBots) -> None:
    """A name that is close to none has to be looked up."""
    (ada, _) = add_bots("ada-2", "bob")
    assert database.read(lambda at: bots.get_bot(at, "ada-2")) == ada
    with pytest.raises(UnknownBotError, match=r'^no bot "ada"; did you mean "ada-2"\?$'):
        database.read(lambda at: bots.get_bot(at, "ada"))
    with pytest.raises(UnknownBotError, match=r'^no bot "x"; list the bots to see their names$'):
        database.read(lambda at: bots.get_bot(at, "x"))


def test_open_bots_are_told_apart(database: Database) -> None:
    """A bot that came by open registration is known as such."""
    closed = database.write(lambda to: bots.add_bot(to, "closed", NOON))
    opened = database.write(lambda to: bots.add_bot(to, "open", NOON, is_open=True))
    assert not database.read(lambda at: bots.bot_record(at, closed).is_open)
    assert database.read(lambda at: bots.bot_record(at, opened).is_open)


def test_bots_share_their_owner(database: Database) -> None:
    """A list of bots names the owner of each."""
    eve = database.write(lambda to: owners.add_owner(to, "eve", NOON))
    for name, owner_id in (("one", eve), ("two", eve), ("three", None)):
        database.write(partial(bots.add_bot, name=name, now=NOON, owner_id=owner_id))
    rows = database.read(lambda at: bots.list_bots(at, limit=10))
    assert [(row.name, row.owner) for row in rows] == [
        ("one", "eve"),
        ("three", ""),
        ("two", "eve"),
    ]
    assert database.read(lambda at: owners.get_owner(at, eve)).bots == 2


def test_a_hidden_bot_is_listed_for_few(database: Database) -> None:
    """Its owner and operators see it, and nobody else."""
    eve = database.write(lambda to: owners.add_owner(to, "eve", NOON))
    for name, owner_id in (("one", eve), ("two", None), ("three", None)):
        bot_id = database.write(partial(bots.add_bot, name=name, now=NOON, owner_id=owner_id))
        if name != "three":
            database.write(partial(bots.change_bot, bot_id=bot_id, is_hidden=True))

    def listed(**more: Any) -> list[str]:
        rows = database.read(partial(bots.list_bots, limit=10, **more))
        return [row.name for row in rows]

    assert listed() == ["three"]
    assert listed(hidden_of=eve) == ["one", "three"]
    assert listed(with_hidden=True) == ["one", "three", "two"]


def test_bots_are_listed_by_name_in_pages(database: Database, add_bots: AddBots) -> None:
    """Each page begins after the last name of the one before."""
    add_bots("cleo", "ada", "bob", "dan")
    first = database.read(lambda at: bots.list_bots(at, limit=3))
    second = database.read(lambda at: bots.list_bots(at, limit=3, after=first[-1].name))
    assert [row.name for row in (*first, *second)] == ["ada", "bob", "cleo", "dan"]
    assert len(first) == 3


def test_instants_come_back_in_utc(database: Database) -> None:
    """An instant of another time zone is the same instant when it is read."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    database.write(lambda to: bots.add_bot(to, "ada", tokyo))
    (row,) = database.read(lambda at: bots.list_bots(at, limit=1))
    assert row.create_time == NOON
    assert row.create_time.tzinfo is UTC


# -- versions ---------------------------------------------------------------------


def test_a_digest_is_one_version(database: Database, add_bots: AddBots) -> None:
    """The same digest is the same version, whatever its label; another bot's is another."""
    ada, bob = add_bots("ada", "bob")
    versions = [
        database.write(partial(bots.bot_version, bot_id=bot_id, engine=engine, now=NOON))
        for bot_id, engine in [
            (ada, EngineRow("1", "x", ("depth=4",))),
            (ada, EngineRow("2", "x")),
            (bob, EngineRow("1", "x")),
            (ada, EngineRow("1", "y")),
        ]
    ]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


def test_a_versions_hardware_is_what_it_said_last(database: Database, add_bots: AddBots) -> None:
    """Another machine makes no new version; who says nothing any more has none."""
    (ada,) = add_bots("ada")

    def say(hardware: str, digest: str = "d") -> tuple[str, str]:
        engine = EngineRow("1.0", digest, hardware=hardware)
        database.write(lambda to: bots.bot_version(to, ada, engine, NOON))
        rows = database.read(partial(bots.list_versions, bot_id=ada, limit=9))
        (bot,) = database.read(partial(bots.list_bots, limit=9))
        return bot.hardware, ",".join(row.hardware for row in rows)

    (bot,) = database.read(partial(bots.list_bots, limit=9))
    assert bot.hardware == ""
    assert say("é" * 80) == ("é" * 80, "é" * 80)
    assert say("two") == ("two", "two")
    assert say("") == ("", "")
    assert say("three", "other") == ("three", ",three")


def test_a_machines_speed_is_what_was_said_last(database: Database, add_bots: AddBots) -> None:
    """As its hardware is; the list of bots has the newest version's."""
    (ada,) = add_bots("ada")

    def say(speed: int, digest: str = "d") -> tuple[int, list[int]]:
        engine = EngineRow("1.0", digest, hardware="h", nodes_per_second=speed)
        database.write(lambda to: bots.bot_version(to, ada, engine, NOON))
        rows = database.read(partial(bots.list_versions, bot_id=ada, limit=9))
        (bot,) = database.read(partial(bots.list_bots, limit=9))
        return bot.nodes_per_second, [row.nodes_per_second for row in rows]

    (bot,) = database.read(partial(bots.list_bots, limit=9))
    assert bot.nodes_per_second == 0
    assert say(10**12) == (10**12, [10**12])
    assert say(400_000) == (400_000, [400_000])
    assert say(0) == (0, [0])
    assert say(5, "other") == (5, [0, 5])


def test_versions_of_one_label_are_told_apart(database: Database, add_bots: AddBots) -> None:
    """By a number from the second on, which stays what it is; so are those without a label."""
    ada, bob = add_bots("ada", "bob")

    def labels() -> list[str]:
        query = select(bots.DISTINCT_LABEL).order_by(BotVersion.id)
        return list(database.read(lambda at: at.scalars(query).all()))

    for number, (bot, label) in enumerate(
        [(ada, "1.0"), (bob, "1.0"), (ada, "1.0"), (ada, ""), (ada, ""), (ada, "1.0"), (ada, "2")]
    ):
        engine = EngineRow(label, str(number))
        database.write(partial(bots.bot_version, bot_id=bot, engine=engine, now=NOON))
    assert labels() == ["1.0", "1.0", "1.0 #2", "", "#2", "1.0 #3", "2"]


def test_a_version_is_found_by_its_digest(sqlite_url: str) -> None:
    """By an index, however many others its bot has had: every bot that connects asks."""
    with Database(sqlite_url) as database:
        database.migrate()
        bot_id = database.write(lambda to: bots.add_bot(to, "ada", NOON))
        find = partial(bots.bot_version, bot_id=bot_id, engine=EngineRow("1", "x"), now=NOON)
        made = database.write(find)
        with plans(database) as found:
            assert database.read(find) == made
    assert [plan.endswith("(bot_id=? AND digest=?)") for plan in found] == [True]


def test_versions_keep_their_lineage(database: Database, add_bots: AddBots) -> None:
    """Each version knows the one before it, and what it was when it came."""
    ada, bob = add_bots("ada", "bob")
    for bot_id, digest in [(ada, "a"), (bob, "a"), (ada, "b"), (ada, "a"), (ada, "c")]:
        engine = EngineRow(f"label {digest}", digest, ("depth=4", f"name={digest}"))
        database.write(partial(bots.bot_version, bot_id=bot_id, engine=engine, now=NOON))
    first, second, third = database.read(lambda at: bots.list_versions(at, ada, limit=10))
    assert [version.digest for version in (first, second, third)] == ["a", "b", "c"]
    assert [version.parent_id for version in (first, second, third)] == [None, first.id, second.id]
    assert third.label == "label c"
    assert third.configuration == ["depth=4", "name=c"]
    assert third.create_time == NOON
    page = database.read(lambda at: bots.list_versions(at, ada, limit=1, after=first.id))
    assert [version.id for version in page] == [second.id]


def test_a_bot_has_only_so_many_versions(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept for ever; one that is there may always come in, and other bots too."""
    monkeypatch.setattr(bots, "MAX_VERSIONS", 3)
    monkeypatch.setattr(bots, "MAX_VERSIONS_A_DAY", 2)
    ada, bob = add_bots("ada", "bob")

    def come(digest: str, *, day: int, bot_id: BotId = ada) -> BotVersionId:
        engine, now = EngineRow("1", digest), NOON + timedelta(days=day)
        return database.write(lambda to: bots.bot_version(to, bot_id, engine, now))

    first = come("a", day=0)
    come("b", day=0)
    with pytest.raises(TooManyVersionsError, match="2 new versions in a day"):
        come("c", day=0)
    assert come("a", day=0) == first
    come("c", day=0, bot_id=bob)
    come("c", day=2)
    with pytest.raises(TooManyVersionsError, match="3 versions, the most"):
        come("d", day=9)
    assert come("a", day=9) == first


def test_a_new_version_counts_no_others(sqlite_url: str) -> None:
    """The bounds and the parent are found in the order of an index."""
    with Database(sqlite_url) as database:
        database.migrate()
        bot_id = database.write(lambda to: bots.add_bot(to, "ada", NOON))
        with plans(database) as found:
            database.read(lambda at: bots.newest_versions(at, bot_id, 3))
            database.read(lambda at: bots.list_versions(at, bot_id, limit=3))
    assert [plan for plan in found if "SCAN" in plan or "B-TREE" in plan] == []
    assert all("bot_version_order" in plan for plan in found)


def test_some_bots_are_read_in_the_order_in_which_they_are_named(
    database: Database, add_bots: AddBots
) -> None:
    """Whatever the database thinks of the order of names."""
    zoe, ada, _ = add_bots("Zoe", "ada", "bob")
    rows = database.read(lambda at: bots.get_bots(at, {"ada": ada, "Zoe": zoe}))
    assert [(row.id, row.name, row.owner) for row in rows] == [(ada, "ada", ""), (zoe, "Zoe", "")]
    assert database.read(lambda at: bots.get_bots(at, {})) == []
