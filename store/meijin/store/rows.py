"""Rows as records: stored, selected, and read back, by the names of their fields."""

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Label, Result, insert, update

from meijin.store.schema.base import Record

R = TypeVar("R")
B = TypeVar("B", bound=Record)


def values_of(row: Record) -> dict[str, Any]:
    """A record's values by their columns, without a key that the database is to give."""
    values = {column.key: getattr(row, column.key) for column in row.__table__.c}
    serial = row.__table__.autoincrement_column
    if serial is not None and not values[serial.key]:
        del values[serial.key]
    return values


def add_row(connection: Connection, row: B) -> B:
    """Insert a new row; return it with the key that it was given."""
    key = connection.execute(insert(row.__table__), values_of(row)).inserted_primary_key
    serial = row.__table__.autoincrement_column
    return (
        row
        if serial is None or not key
        else cast("B", replace(cast("Any", row), **{serial.key: key[0]}))
    )


def add_rows(connection: Connection, rows: Iterable[Record]) -> None:
    """Insert new rows of one table, by one statement; none is fine."""
    new = list(rows)
    if new:
        connection.execute(insert(new[0].__table__), list(map(values_of, new)))


def change_row(connection: Connection, kind: type[Record], key: int, /, **values: object) -> None:
    """Change some columns of the row of a table with this id.

    Raises:
        sqlalchemy.exc.IntegrityError: a value that there may be once is taken.
    """
    connection.execute(update(kind).where(kind.__table__.c.id == key).values(**values))


def columns_of(kind: type, *models: object, **columns: Any) -> tuple[Label[Any], ...]:  # noqa: ANN401 - a model's attribute or any expression
    """The columns of a row, each labelled with its field's name.

    Args:
        kind: The record, dataclass or NamedTuple of the row.
        models: A field is the column of its name of the first of them that has it; those of a
            record are its own table's, or `computed`.
        columns: The columns of fields that have another name, or are computed.

    Raises:
        TypeError: a field has no column, or a column no field.
    """
    names = tuple(inspect.signature(kind).parameters)
    for name in columns.keys() - set(names):
        raise TypeError(f"{kind.__name__} has no field {name}")
    if issubclass(kind, Record):
        models = (kind, *models)
        columns = {**kind.expressions, **columns}
    return tuple(
        (columns[name] if name in columns else _column(kind, name, models)).label(name)
        for name in names
    )


def _column(kind: type, name: str, models: Iterable[object]) -> Any:  # noqa: ANN401 - see columns_of
    for model in models:
        if hasattr(model, name):
            return getattr(model, name)
    raise TypeError(f"no column for the field {name} of {kind.__name__}")


def read_rows(kind: type[R], result: Result[*tuple[Any, ...]]) -> list[R]:
    """The rows of a result whose columns are those of `columns_of`."""
    return [kind(**row) for row in result.mappings()]


def read_row(kind: type[R], result: Result[*tuple[Any, ...]]) -> R | None:
    """The one row of such a result; ``None`` when there is none."""
    row = result.mappings().one_or_none()
    return None if row is None else kind(**row)
