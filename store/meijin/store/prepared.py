"""Prepared statements: executed so often that SQLAlchemy's own execution would show."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Row = Mapping[str, object]


class Prepared:
    """A Core statement, compiled once a dialect and executed on the driver's own cursor.

    One commit of a hundred moves takes four statements. By way of `Connection.execute` each
    costs 60 microseconds of the interpreter, which the event loop waits for; this way 10.
    Every value is a named parameter: those that have a column's name set that column, beside what
    the statement itself sets. All rows have the names of the first that is executed.
    """

    def __init__(self, statement: Insert | Update) -> None:
        self._statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def execute(self, connection: Connection, rows: Sequence[Row]) -> int:
        """Execute the statement for each row of parameters, of which there is at least one.

        Returns:
            How many rows of the table it has changed altogether.

        Raises:
            sqlalchemy.exc.DBAPIError: as `Connection.execute` raises it.
        """
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = _Compiled(self._statement, list(rows[0]), dialect)
            self._compiled[dialect.name] = compiled
        cursor = connection.connection.cursor()
        try:
            cursor.executemany(compiled.text, [compiled.parameters(row) for row in rows])
            return int(cursor.rowcount)
        except dialect.loaded_dbapi.Error as error:
            base = dialect.loaded_dbapi.Error
            raise DBAPIError.instance(compiled.text, None, error, base, dialect=dialect) from error
        finally:
            cursor.close()


class _Compiled:
    """The statement's text for one driver, and how its parameters are written there."""

    def __init__(self, statement: Insert | Update, names: list[str], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=names)
        assert isinstance(compiled, SQLCompiler)
        self.text = str(compiled)
        self._is_positional = compiled.positiontup is not None
        self._writers = [
            (name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup or compiled.binds
        ]

    def parameters(self, row: Row) -> Any:  # noqa: ANN401 - a sequence or a mapping
        values = [row[name] if write is None else write(row[name]) for name, write in self._writers]
        if self._is_positional:
            return values
        return dict(zip((name for name, _ in self._writers), values, strict=True))
