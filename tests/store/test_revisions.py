"""The two ways to the current schema: all migrations, or its tables at once."""

import ast
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, func, inspect, text, update

from meijin.store import Database
from meijin.store.schema import Claim

MIGRATIONS = Path(str(files("meijin.store"))) / "migrations"

NO_DEFAULT = ("tournament", "openings")
"""An empty text of bytes is written differently by the two databases, so the model has none."""


def migrate_by_steps(database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.writer.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@pytest.mark.parametrize(
    "step", sorted(MIGRATIONS.glob("versions/*.py")), ids=lambda step: step.stem
)
def test_steps_import_none_of_our_code(step: Path) -> None:
    """What a step does is written in it: a change of the code leaves history as it is."""
    imports = [
        node for node in ast.walk(ast.parse(step.read_text())) if isinstance(node, ast.ImportFrom)
    ]
    assert not [node for node in imports if node.level or (node.module or "").startswith("meijin")]


def described(connection: Connection) -> dict[str, Any]:
    """Everything about the tables but the order of their columns."""
    inspector = inspect(connection)
    return {name: _table(inspector, name) for name in inspector.get_table_names()}


def _table(inspector: Any, name: str) -> dict[str, Any]:
    return {
        "columns": {
            column["name"]: (
                str(column["type"]),
                column["nullable"],
                None if (name, column["name"]) == NO_DEFAULT else column["default"],
            )
            for column in inspector.get_columns(name)
        },
        "primary key": sorted(inspector.get_pk_constraint(name)["constrained_columns"]),
        "foreign keys": _all(inspector.get_foreign_keys(name)),
        "unique": _all(inspector.get_unique_constraints(name)),
        "checks": _all(inspector.get_check_constraints(name)),
        "indexes": _all(inspector.get_indexes(name)),
    }


def rows(connection: Connection) -> dict[str, Any]:
    """Everything in the tables, but what is drawn, each time another."""
    drawn = "0" * 32
    connection.execute(
        update(Claim).where(func.length(Claim.database_id) == len(drawn)).values(database_id=drawn)
    )
    names = inspect(connection).get_table_names()
    return {
        name: connection.execute(text(f"SELECT * FROM {name}")).mappings().all() for name in names
    }


def _all(parts: Any) -> list[str]:
    return sorted(str(sorted((key, _text(value)) for key, value in part.items())) for part in parts)


def _text(value: Any) -> str:
    """A part of a description; the conditions of partial indexes stand in dictionaries."""
    if isinstance(value, dict):
        return str({key: str(each) for key, each in value.items()})
    return str(value)


def test_the_migrations_make_what_an_empty_database_gets(
    any_database_url: str, tmp_path: Any, request: Any
) -> None:
    """Columns, keys, constraints, indexes, rows, and the same revision."""
    if any_database_url.startswith("sqlite"):
        other_url = f"sqlite:///{tmp_path / 'other.db'}"
    else:
        other_url = request.getfixturevalue("postgresql").new_database()
    with Database(any_database_url) as stepwise, Database(other_url) as at_once:
        migrate_by_steps(stepwise)
        at_once.migrate()
        assert stepwise.read(described) == at_once.read(described)
        assert stepwise.write(rows) == at_once.write(rows)
        stepwise.check_schema()
        at_once.check_schema()


def test_other_tables_in_the_database_are_left_alone(any_database_url: str) -> None:
    """A database that is not empty goes the long way."""
    with Database(any_database_url) as database:
        database.write(lambda at: at.exec_driver_sql("CREATE TABLE theirs (id INTEGER)"))
        database.migrate()
        database.check_schema()
        assert "theirs" in database.read(described)
