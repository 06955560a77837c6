"""Bots and their versions."""

from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from tests.store.conftest import NOON, AddBots

from meijin.store import Database, bots, errors
from meijin.store.access import owners
from meijin.store.bots import EngineRow
from meijin.store.errors import RowNotFoundError, TooManyVersionsError
from meijin.store.rows import change_row
from meijin.store.schema import Bot, BotId, BotVersion, BotVersionId

# -- bots -------------------------------------------------------------------------


def test_a_name_is_taken_once(database: Database, add_bots: AddBots) -> None:
    """The second registration of a name fails in the database; one by open registration is open."""
    (ada,) = add_bots("ada")
    with pytest.raises(IntegrityError):
        database.write(bots.add_bot, "ada", NOON)
    assert database.read(bots.find_bot, "ada") == ada
    assert database.read(bots.find_bot, "Ada") is None
    opened = database.write(bots.add_bot, "open", NOON, is_open=True)
    records = [database.read(bots.bot_record, each) for each in (ada, opened)]
    assert [(each.name, each.is_open) for each in records] == [("ada", False), ("open", True)]


def test_a_wrong_name_is_told_the_closest(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is close to none has to be looked up, and one of 100,000 characters is none.

    Comparing that takes 20 ms, in which nothing else of the process runs.
    """
    (ada, _) = add_bots("ada-2", "bob")
    assert database.read(bots.get_bot, "ada-2") == ada
    with pytest.raises(RowNotFoundError, match=r'^no bot "ada"; did you mean "ada-2"\?$'):
        database.read(bots.get_bot, "ada")
    with pytest.raises(RowNotFoundError, match=r'^no bot "x"; list the bots to see their names$'):
        database.read(bots.get_bot, "x")
    monkeypatch.setattr(errors, "get_close_matches", None)
    with pytest.raises(RowNotFoundError, match="list the bots to see their names"):
        database.read(bots.get_bot, "x" * 100_000)


def test_a_hidden_bot_is_listed_for_few(database: Database) -> None:
    """Its owner and operators see it, and nobody else; the list names the owner of each."""
    eve = database.write(owners.add_owner, "eve", NOON)
    for name, owner_id in (("one", eve), ("two", None), ("three", eve)):
        bot_id = database.write(bots.add_bot, name=name, now=NOON, owner_id=owner_id)
        database.write(change_row, Bot, bot_id, is_hidden=name != "three")

    def listed(**more: Any) -> list[tuple[str, str]]:
        rows = database.read(bots.list_bots, limit=10, **more)
        return [(row.name, row.owner) for row in rows]

    assert listed() == [("three", "eve")]
    assert listed(hidden_of=eve) == [("one", "eve"), ("three", "eve")]
    assert listed(with_hidden=True) == [("one", "eve"), ("three", "eve"), ("two", "")]
    assert database.read(owners.get_owner, eve).bots == 2


def test_bots_are_listed_by_name_in_pages(database: Database, add_bots: AddBots) -> None:
    """Each page begins after the last name of the one before."""
    add_bots("cleo", "ada", "bob", "dan")
    first = database.read(bots.list_bots, limit=3)
    second = database.read(bots.list_bots, limit=3, after=first[-1].name)
    assert [row.name for row in (*first, *second)] == ["ada", "bob", "cleo", "dan"]
    assert len(first) == 3


def test_some_bots_are_read_in_the_order_in_which_they_are_named(
    database: Database, add_bots: AddBots
) -> None:
    """Whatever the database thinks of the order of names."""
    zoe, ada, _ = add_bots("Zoe", "ada", "bob")
    rows = database.read(bots.get_bots, {"ada": ada, "Zoe": zoe})
    assert [(row.id, row.name, row.owner) for row in rows] == [(ada, "ada", ""), (zoe, "Zoe", "")]
    assert database.read(bots.get_bots, {}) == []


def test_instants_come_back_in_utc(database: Database) -> None:
    """An instant of another time zone is the same instant when it is read."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    database.write(bots.add_bot, "ada", tokyo)
    (row,) = database.read(bots.list_bots, limit=1)
    assert (row.create_time, row.create_time.tzinfo) == (NOON, UTC)


# -- versions ---------------------------------------------------------------------


def come(
    database: Database, bot_id: BotId, digest: str, *, label: str = "1", day: int = 0, **more: Any
) -> BotVersionId:
    now = NOON + timedelta(days=day)
    return database.write(bots.bot_version, bot_id, EngineRow(label, digest, **more), now)


def test_versions_keep_their_lineage(database: Database, add_bots: AddBots) -> None:
    """A digest is one of a bot's versions, which knows the one before it and what it was first."""
    ada, bob = add_bots("ada", "bob")
    ids = [
        come(database, bot_id, digest, label=label, configuration=("depth=4", f"name={digest}"))
        for bot_id, digest, label in (
            (ada, "a", "1"),
            (bob, "a", "1"),
            (ada, "b", "1"),
            (ada, "a", "other"),
            (ada, "c", "3"),
        )
    ]
    assert (ids[3], len(set(ids))) == (ids[0], 4)
    first, second, third = database.read(bots.list_versions, ada, limit=10)
    assert [each.digest for each in (first, second, third)] == ["a", "b", "c"]
    assert [each.parent_id for each in (first, second, third)] == [None, first.id, second.id]
    assert (first.label, third.label, third.create_time) == ("1", "3", NOON)
    assert third.configuration == ["depth=4", "name=c"]
    page = database.read(bots.list_versions, ada, limit=1, after=first.id)
    assert [version.id for version in page] == [second.id]


@pytest.mark.parametrize(
    ("field", "nothing", "values"),
    [
        ("hardware", "", ("é" * 80, "two", "")),
        ("nodes_per_second", 0, (10**12, 400_000, 0)),
        ("threads", None, (8, 1, None)),
        ("memory_bytes", None, (2**50, 1, None)),
    ],
)
def test_a_versions_machine_is_what_it_said_last(
    database: Database, add_bots: AddBots, field: str, nothing: Any, values: tuple[Any, ...]
) -> None:
    """Another one makes no new version; the list of bots has the newest version's."""
    (ada,) = add_bots("ada")

    def listed() -> tuple[Any, list[Any]]:
        rows = database.read(bots.list_versions, bot_id=ada, limit=9)
        (bot,) = database.read(bots.list_bots, limit=9)
        return getattr(bot, field), [getattr(row, field) for row in rows]

    assert listed() == (nothing, [])
    for value in values:
        come(database, ada, "d", **{field: value})
        assert listed() == (value, [value])
    come(database, ada, "other", **{field: values[0]})
    assert listed() == (values[0], [nothing, values[0]])


def test_versions_of_one_label_are_told_apart(database: Database, add_bots: AddBots) -> None:
    """By a number from the second on, which stays what it is; so are those without a label."""
    ada, bob = add_bots("ada", "bob")
    for number, (bot, label) in enumerate(
        [(ada, "1.0"), (bob, "1.0"), (ada, "1.0"), (ada, ""), (ada, ""), (ada, "1.0"), (ada, "2")]
    ):
        come(database, bot, str(number), label=label)
    query = select(bots.DISTINCT_LABEL).order_by(BotVersion.id)
    labels = database.read(lambda at: at.scalars(query).all())
    assert labels == ["1.0", "1.0", "1.0 #2", "", "#2", "1.0 #3", "2"]


def test_a_bot_has_only_so_many_versions(
    database: Database, add_bots: AddBots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is kept forever; one that is there may always come in, and other bots too."""
    monkeypatch.setattr(bots, "MAX_VERSIONS", 3)
    monkeypatch.setattr(bots, "MAX_VERSIONS_A_DAY", 2)
    ada, bob = add_bots("ada", "bob")
    first = come(database, ada, "a")
    come(database, ada, "b")
    with pytest.raises(TooManyVersionsError, match="2 new versions in a day"):
        come(database, ada, "c")
    assert come(database, ada, "a") == first
    come(database, bob, "c")
    come(database, ada, "c", day=2)
    with pytest.raises(TooManyVersionsError, match="3 versions, the most"):
        come(database, ada, "d", day=9)
    assert come(database, ada, "a", day=9) == first
