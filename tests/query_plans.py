"""Which statements a database is given, and how SQLite carries queries out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

from meijin.store import Database


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """The statements that are executed inside, but for prepared ones."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


@contextmanager
def plans(database: Database) -> Iterator[list[str]]:
    """How SQLite carries out each of the queries that are read inside."""
    found: list[str] = []

    def explain(_connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        found.append("; ".join(row[3] for row in plan))

    event.listen(database.reader, "before_cursor_execute", explain)
    yield found
    event.remove(database.reader, "before_cursor_execute", explain)
