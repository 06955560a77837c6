"""What is stored, read as it is."""

from typing import Any

from sqlalchemy import select

from meijin.store import Database


def stored(database: Database, *columns: Any, where: Any = None) -> list[Any]:
    """Some columns of a table in the order of its rows: tuples, or the values of a single one."""
    query = select(*columns).order_by(*columns[0].table.primary_key.columns)
    if where is not None:
        query = query.where(where)
    rows = database.read(lambda at: at.execute(query).all())
    return [row[0] if len(columns) == 1 else tuple(row) for row in rows]
