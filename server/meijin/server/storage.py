"""The store as coroutines see it: reads in worker threads, writes on the writer's."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError

from meijin.server.errors import InvalidRequestError, NotFoundError, StoreAwayError, WrongStateError
from meijin.store import Database, Writer
from meijin.store.database import is_unavailable
from meijin.store.errors import NoRunError, RowNotFoundError

log = structlog.get_logger()

RETRY = 0.5
"""Seconds between two tries while the database does not answer."""

T = TypeVar("T")


class Storage:
    """Runs queries and writes off the event loop.

    Raises:
        NotFoundError: no row has the name or id.
        WrongStateError: the ladder has no run yet.
        InvalidRequestError: the database can't hold a value that was sent.
        StoreAwayError: the database is locked, full, stopped or restarting.
    """

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def read(self, query: Callable[[Connection], T]) -> T:
        """The result of a query in a snapshot of its own."""
        with _refusals():
            return await asyncio.to_thread(self._database.read, query)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """The result of writing work, once it is committed."""
        with _refusals():
            return await asyncio.wrap_future(self._writer.submit(work))


async def retry_while_unavailable(work: Callable[[], Awaitable[T]]) -> T:
    """The result of work that is tried again for as long as the database does not answer."""
    while True:
        try:
            return await work()
        except StoreAwayError:
            await asyncio.sleep(RETRY)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn the errors of the store and its database into those that a caller hears."""
    try:
        yield
    except RowNotFoundError as error:
        raise NotFoundError(str(error)) from None
    except NoRunError as error:
        raise WrongStateError(str(error)) from None
    except DataError as error:
        raise InvalidRequestError(f"the database can't hold a value: {error.orig}") from error
    except DBAPIError as error:
        if not is_unavailable(error):
            raise
        log.warning("the database fails", error=str(error.orig))
        raise StoreAwayError("the database does not answer; try again") from error
