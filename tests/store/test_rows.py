"""Rows that are selected and read by the names of a dataclass's fields."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import pytest
from sqlalchemy import select
from tests.store.conftest import NOON

from meijin.store import Database
from meijin.store.bots import add_bot
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import Bot


@dataclass(frozen=True, slots=True)
class BotRow:
    """A bot with a computed and a renamed column."""

    name: str
    since: datetime
    length: int


class NamePair(NamedTuple):
    """Two columns of one type, which an order would mix up without a word."""

    second: str
    first: str


@pytest.fixture
def filled(database: Database) -> Database:
    database.write(lambda to: [add_bot(to, name, NOON) for name in ("ada", "bob")])
    return database


def test_the_order_of_columns_does_not_matter(filled: Database) -> None:
    """A row is read by its columns' labels, not by their places."""
    columns = columns_of(NamePair, first=Bot.name, second=Bot.name + "!")
    query = select(*columns[::-1]).order_by(Bot.name)
    found = filled.read(lambda at: read_rows(NamePair, at.execute(query)))
    assert found == [NamePair("ada!", "ada"), NamePair("bob!", "bob")]


def test_columns_may_be_named_and_computed(filled: Database) -> None:
    """A field takes the column that is given for it, with that column's type."""
    columns = columns_of(BotRow, Bot, since=Bot.create_time, length=Bot.id + 40)
    query = select(*columns).order_by(Bot.name)
    found = filled.read(lambda at: read_rows(BotRow, at.execute(query)))
    assert found == [BotRow("ada", NOON, 41), BotRow("bob", NOON, 42)]


def test_no_row_is_none(filled: Database) -> None:
    """A query for one row may find none."""
    query = select(*columns_of(NamePair, first=Bot.name, second=Bot.name)).where(Bot.id == 9)
    assert filled.read(lambda at: read_row(NamePair, at.execute(query))) is None


def test_every_field_has_a_column_and_every_column_a_field() -> None:
    """A mistake shows when the module is imported, not in a query."""
    with pytest.raises(TypeError, match="no column for the field since of BotRow"):
        columns_of(BotRow, Bot, length=Bot.id)
    with pytest.raises(TypeError, match="NamePair has no field third"):
        columns_of(NamePair, first=Bot.name, second=Bot.name, third=Bot.name)
