"""Bots."""

from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError
from tests.store.conftest import NOON, AddBots

from meijin.store import Database, bots, errors
from meijin.store.access import owners
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import change_row
from meijin.store.schema import Bot


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
