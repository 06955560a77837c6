"""The store as coroutines see it: reads in worker threads, writes on the writer's."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from meijin.store import Database, Writer

T = TypeVar("T")


class Storage:
    """Runs queries and writes off the event loop."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def read(self, query: Callable[[Connection], T]) -> T:
        """The result of a query in a snapshot of its own."""
        return await asyncio.to_thread(self._database.read, query)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """The result of writing work, once it is committed."""
        return await asyncio.wrap_future(self._writer.submit(work))
