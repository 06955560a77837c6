"""Revisions of the schema: which one a database has, and the migration to the current one."""

from importlib.resources import files

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
)

from meijin.store.errors import UnknownSchemaError
from meijin.store.schema import Claim, Record, first_claim

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32)),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's own table: one row with the revision."""


def upgrade(connection: Connection) -> None:
    """Bring the tables to the current schema; does nothing when they are.

    An empty database gets them as they are now, in a tenth of the time of all the migrations, and
    a test holds the two against each other.

    Raises:
        UnknownSchemaError: they are of a later release, or from before the first one.
    """
    if not inspect(connection).get_table_names():
        Record.metadata.create_all(connection)
        connection.execute(insert(Claim).values(first_claim()))
        _VERSION.create(connection)
        connection.execute(insert(_VERSION).values(version_num=_head()))
    elif (revision := _revision(connection)) != _head():
        if revision is not None and revision not in known_revisions():
            release = "a later release" if revision > _head() else "before the first release"
            raise UnknownSchemaError(
                f"the database is of {release} (schema {revision}); install that one"
            )
        _migrate(connection)


def _migrate(connection: Connection) -> None:
    """Take the steps from the revision that the tables have to the newest, by Alembic."""
    # It takes 0.13 s of processor time to import.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(files("meijin.store") / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def check_current(connection: Connection) -> None:
    """Accept tables of the current schema, for a process that leaves it to the server.

    Raises:
        UnknownSchemaError: there are none, or they are of another release.
    """
    revision, current = _revision(connection), _head()
    if revision is None:
        raise UnknownSchemaError("the database has no tables yet; start the server first")
    if revision != current:
        raise UnknownSchemaError(
            f"the database is of another release (schema {revision}, and this one's is "
            f"{current}); start the server of the same release first"
        )


def known_revisions() -> frozenset[str]:
    """The schemas that this release can bring to the current one, and that one."""
    steps = files("meijin.store.migrations.versions").iterdir()
    return frozenset(step.name[:4] for step in steps if step.name[:4].isdecimal())


def _head() -> str:
    return max(known_revisions())


def _revision(connection: Connection) -> str | None:
    """The revision that the tables have; ``None`` where it is not written."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.scalar(select(_VERSION.c.version_num))
