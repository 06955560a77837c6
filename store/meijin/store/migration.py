"""The migration of a database to the current schema, by Alembic."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from meijin.store.errors import UnknownSchemaError


def migrate(connection: Connection) -> None:
    """Take the steps from the revision that the tables have to the newest.

    Raises:
        UnknownSchemaError: they are of a later release.
    """
    config = Config()
    config.set_main_option("script_location", str(files("meijin.store") / "migrations"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        message = f"the database is of a later release ({error}); install that one"
        raise UnknownSchemaError(message) from None
