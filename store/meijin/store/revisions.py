"""Revisions of the schema: which one a database has, and the migration to the current one."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, insert, inspect

from meijin.store.errors import UnknownSchemaError
from meijin.store.schema import Base, Claim


def upgrade(connection: Connection) -> None:
    """Bring the tables to the current schema; does nothing when they are.

    An empty database gets them as they are now, in a tenth of the time of all the migrations, and
    a test holds the two against each other.

    Raises:
        UnknownSchemaError: they are of a later release.
    """
    if not inspect(connection).get_table_names():
        Base.metadata.create_all(connection)
        connection.execute(insert(Claim).values(epoch=0, holder="", time=None))
        MigrationContext.configure(connection).stamp(_scripts(), "head")
        return
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        message = f"the database is of a later release ({error}); install that one"
        raise UnknownSchemaError(message) from None


def check_current(connection: Connection) -> None:
    """Accept tables of the current schema, for a process that leaves it to the server.

    Raises:
        UnknownSchemaError: there are none, or they are of another release.
    """
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None:
        raise UnknownSchemaError("the database has no tables yet; start the server first")
    current = _scripts().get_current_head()
    if revision != current:
        raise UnknownSchemaError(
            f"the database is of another release (schema {revision}, and this one's is "
            f"{current}); start the server of the same release first"
        )


def known_revisions() -> frozenset[str]:
    """The schemas that this release can bring to the current one, and that one."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("meijin.store") / "migrations"))
    return config
