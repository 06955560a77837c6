"""Errors of the store: one tree, whose messages say what to do."""

from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, select


class StoreError(Exception):
    """The store does not have, or can't do, what it was asked for."""


class UnknownSchemaError(StoreError):
    """The tables are those of another release, or there are none."""


class DamagedDatabaseError(StoreError):
    """The file of the database is damaged, or is none."""


class MoveLogError(StoreError):
    """The log of moves does not hold what was acknowledged, or is not the database's."""


class UnreadableDatabaseError(StoreError):
    """The file of the database can't be read, or is locked."""


class ForeignLockError(StoreError):
    """The file with the lock is somebody else's, or no plain file."""


class StoreInUseError(StoreError):
    """Another server is running on the same database."""


class BackupError(StoreError):
    """A backup can't be taken or restored."""


class LostOwnershipError(StoreError):
    """The database is no longer what this server has claimed: it must end, and tell nobody more."""


class FencedError(LostOwnershipError):
    """Another server has claimed the database since."""


class LostCommitsError(LostOwnershipError):
    """The database holds less than what was committed."""


class NoRunError(StoreError):
    """The ladder has published nothing yet."""


class SupersededRunError(StoreError):
    """A newer run has been published between two pages of one."""


class MatrixNotKeptError(StoreError):
    """The run is of too many versions: their covariances are not kept."""


class TimeClassError(StoreError):
    """A class of time control has the name of one with other bounds, which ladders have."""


class TooManyVersionsError(StoreError):
    """A bot has, or has had in a day, as many versions as one may have."""


class RowNotFoundError(StoreError, LookupError):
    """No row has the name or id, or not any more."""


class UnknownLadderError(RowNotFoundError):
    """No ladder has the name or id, or none was named and there are several."""


MAX_NAMES = 1000
"""How many names are compared: a thousand take a few milliseconds."""

MAX_LENGTH = 100
"""Characters of a name that others are compared with; no name is longer."""


def did_you_mean(connection: Connection, column: Any, name: str) -> str:  # noqa: ANN401 - a model's attribute
    """The question after the closest name of a column; empty when none is close."""
    if len(name) > MAX_LENGTH:
        return ""
    names = connection.scalars(select(column).order_by(column).limit(MAX_NAMES)).all()
    close = get_close_matches(name, names, n=1)
    return f'did you mean "{close[0]}"?' if close else ""
