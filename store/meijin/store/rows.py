"""Rows as values: selected, and read back, by the names of a dataclass's fields."""

import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

from sqlalchemy import Connection, Label, Result
from sqlalchemy.orm import Session

from meijin.store.schema.base import Base

R = TypeVar("R")
B = TypeVar("B", bound=Base)


def add_row(connection: Connection, row: B) -> B:
    """Insert a new row; return it with the id that it was given."""
    with Session(connection, expire_on_commit=False) as session:
        session.add(row)
        session.flush()
        session.expunge(row)
    return row


def columns_of(kind: type, *models: object, **columns: Any) -> tuple[Label[Any], ...]:  # noqa: ANN401 - a model's attribute or any expression
    """The columns of a row, each labelled with its field's name.

    Args:
        kind: The dataclass or NamedTuple of the row.
        models: A field is the column of its name of the first of them that has it.
        columns: The columns of fields that have another name, or are computed.

    Raises:
        TypeError: a field has no column, or a column no field.
    """
    names = tuple(inspect.signature(kind).parameters)
    for name in columns.keys() - set(names):
        raise TypeError(f"{kind.__name__} has no field {name}")
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
