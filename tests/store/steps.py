"""Schemas made by the steps of the migrations."""

from importlib.resources import files

from alembic import command
from alembic.config import Config

from meijin.store import Database


def migrate_to(database: Database, revision: str) -> None:
    """Bring the tables to a schema that may be an old one."""
    config = Config()
    config.set_main_option("script_location", str(files("meijin.store") / "migrations"))
    with (
        database.writer.connect() as connection,
        database._unchecked(connection),
        connection.begin(),
    ):
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
