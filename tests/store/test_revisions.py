"""The two ways to the current schema: all migrations, or its tables at once."""

import ast
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, func, inspect, text, update

from meijin.game import Choose, Color, Decision, encode_moves
from meijin.store import Database
from meijin.store.access.versions import EngineRow, arrive
from meijin.store.faults import list_faults, signature_of
from meijin.store.games import decode_decisions, get_game
from meijin.store.running_games import read_running_games
from meijin.store.schema import BotId, Claim, GameId

MIGRATIONS = Path(str(files("meijin.store"))) / "migrations"

NO_DEFAULT = ("tournament", "openings")
"""An empty text of bytes is written differently by the two databases, so the model has none."""


def migrate_by_steps(
    database: Database, revision: str = "head", way: Callable[..., None] = command.upgrade
) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with (
        database.writer.connect() as connection,
        database._unchecked(connection),
        connection.begin(),
    ):
        config.attributes["connection"] = connection
        way(config, revision)


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


CHOICE = struct.Struct("<HHQQ")
"""Ply, colour (1 black, 2 white), raw and charged nanoseconds: a choice of a side up to 0027."""
CHOICES = {
    1: CHOICE.pack(3, 1, 5_000_000, 4_000_000),
    2: CHOICE.pack(5, 2, 2**63, 2**63 - 1),
    3: None,
    4: CHOICE.pack(0, 2, 0, 0),
    5: None,
}
"""By game: the fourth is void, and the last runs."""
STATES = {4: ("void", "*", "void"), 5: ("running", "*", None)}


def test_a_choice_of_a_side_becomes_a_decision(any_database_url: str) -> None:
    """Games of the schema 0027 are read by today's code, those that run from their journal too."""
    with Database(any_database_url) as database:
        migrate_by_steps(database, "0027")
        database.write(insert_games)
        database.migrate()
        database.check_schema()
        games = [database.read(partial(get_game, game_id=GameId(key))) for key in CHOICES]
        assert [decode_decisions(game.decisions) for game in games] == [
            ([Decision(3, Choose(Color.BLACK))], [(5_000_000, 4_000_000)]),
            ([Decision(5, Choose(Color.WHITE))], [(2**63, 2**63 - 1)]),
            ([], []),
            ([Decision(0, Choose(Color.WHITE))], [(0, 0)]),
            ([], []),
        ]
        assert [game.is_swapped for game in games] == [False, True, False, True, False]
        running = database.read(lambda at: read_running_games(at, None))
        assert running.moves == {GameId(5): [(0xFFFF, 7, 6), (112, 9, 8)]}


def test_threads_and_memory_can_be_taken_back(any_database_url: str) -> None:
    """The columns go and come again, and everything else stays."""
    with Database(any_database_url) as database:
        migrate_by_steps(database, "0027")
        database.write(insert_games)
        migrate_by_steps(database, "0028")
        before = texts(database), database.read(described)
        database.migrate()
        engine = EngineRow("1", "1", threads=8, memory_bytes=2**40)
        database.write(partial(arrive, bot_id=BotId(1), engine=engine, now=datetime.now(UTC)))
        migrate_by_steps(database, "0028", command.downgrade)
        assert (texts(database), database.read(described)) == before
        database.migrate()
        database.check_schema()


def test_faults_of_before_are_grouped(any_database_url: str) -> None:
    """The step gives them what new ones get; and it can be taken back."""
    details = ("KeyError: 17 (crowd.py, line 35)", "took 3.1 s", 'no "h8"')
    with Database(any_database_url) as database:
        migrate_by_steps(database, "0031")
        before = database.read(described)
        database.write(partial(insert_faults, details=details))
        database.migrate()
        faults = database.read(partial(list_faults, limit=9))
        assert [each.signature for each in faults] == [*map(signature_of, details[::-1])]
        migrate_by_steps(database, "0031", command.downgrade)
        assert database.read(described) == before


def insert_faults(connection: Connection, details: tuple[str, ...]) -> None:
    columns = "(kind, party, evidence, create_time, detail)"
    values = "('crash', 'bot', '{}', '2026-01-01 12:00:00.000000', :detail)"
    for detail in details:
        connection.execute(text(f"INSERT INTO fault {columns} VALUES {values}"), {"detail": detail})


def texts(database: Database) -> dict[str, list[str]]:
    """The rows of each table, in no order."""
    return {name: sorted(map(str, found)) for name, found in database.write(rows).items()}


def insert_games(connection: Connection) -> None:
    """Games as the release of 0027 stored them, one of each kind."""

    def add(table: str, **fields: object) -> None:
        names, places = ", ".join(fields), ", ".join(f":{name}" for name in fields)
        connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({places})"), fields)

    now = "2026-01-01 12:00:00.000000"
    for key, name in enumerate(("ada", "bob"), start=1):
        none: dict[str, object] = {"create_time": now, "reason": "", "former_names": "[]"}
        add("bot", id=key, name=name, is_open=True, state="active", is_hidden=False, **none)
        version = {"digest": "1", "label": "1", "configuration": "[]", "hardware": ""}
        add("bot_version", id=key, bot_id=key, create_time=now, **version)
    played = {"rounds": 5, "seed": 1, "variant": "freestyle 15x15 swap2", "time_control": "60"}
    made = {"name": "old", "format": "round_robin", "state": "running", "create_time": now}
    add("tournament", id=1, max_games=0, openings=b"", **played, **made)
    opening = encode_moves([0, 1, 2])
    for key, choice in CHOICES.items():
        of = {"tournament_id": 1, "black_id": 1, "white_id": 2, "opening": opening}
        add("pairing", id=key, number=key, round=key, **of)
        state, result, ending = STATES.get(key, ("finished", "1-0", "five"))
        ended: dict[str, object] = {"state": state, "result": result, "ending": ending}
        of |= {"opening": 0, "opening_plies": 3, "moves": opening, "times": b"", "choice": choice}
        told = {"at_fault": "nobody", "detail": "", "start_time": now, "is_swapped": key in {2, 4}}
        add("game", id=key, pairing_id=key, **of, **ended, **told)
    moves = struct.Struct("<QHHQQ")
    packed = moves.pack(5, 3, 0xFFFF, 7, 6) + moves.pack(5, 3, 112, 9, 8)
    add("journal", epoch=0, id=1, moves=packed)
