"""Ownership: looks now and then whether the database is still this server's."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from meijin.store import Writer

OWNERSHIP_INTERVAL = timedelta(seconds=2)
"""Between two looks: a server without games would not notice else."""


async def watch_ownership(writer: Writer) -> None:
    """Use the writer's connection for ever, which tells when it broke and another server came.

    Raises:
        LostOwnershipError: the database is no longer this server's.
    """
    while True:
        with suppress(DBAPIError):  # it is away: whose work waits for it says so
            await asyncio.wrap_future(writer.submit(_use))
        await asyncio.sleep(OWNERSHIP_INTERVAL.total_seconds())


def _use(connection: Connection) -> None:
    """Ask the database for as little as there is; an empty transaction would not reach it."""
    connection.execute(text("SELECT 1"))
