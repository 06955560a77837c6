"""The store for coroutines: reads in worker threads, writes on the writer's thread."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import stamina
import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError

from meijin.server.errors import (
    InvalidRequestError,
    NotFoundError,
    StoppingError,
    StoreAwayError,
    WrongStateError,
)
from meijin.store import Database, Writer
from meijin.store.database import is_unavailable
from meijin.store.errors import LostOwnershipError, NoRunError, RowNotFoundError

log = structlog.get_logger()

FIRST_RETRY, LAST_RETRY = timedelta(seconds=0.2), timedelta(seconds=2)
"""Between two tries while the database does not answer, growing from the one to the other."""

T = TypeVar("T")


class Storage:
    """Runs queries and writes off the event loop.

    Raises:
        NotFoundError: no row has the name or id.
        WrongStateError: the ladder has no run yet.
        InvalidRequestError: the database can't hold a value that was sent.
        StoreAwayError: the database is locked, full, stopped or restarting.
        StoppingError: the database is no longer this server's, which is about to end.
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
    """The result of work that is retried for as long as the database does not answer."""
    retrying = stamina.AsyncRetryingCaller(
        attempts=None,
        timeout=None,
        wait_initial=FIRST_RETRY,
        wait_max=LAST_RETRY,
        wait_jitter=FIRST_RETRY,
    )
    return await retrying(StoreAwayError, work)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn the errors of the store and its database into those that a caller hears."""
    try:
        yield
    except RowNotFoundError as error:
        raise NotFoundError(str(error)) from None
    except NoRunError as error:
        raise WrongStateError(str(error)) from None
    except LostOwnershipError as error:
        raise StoppingError("this server ends; come back") from error
    except DataError as error:
        raise InvalidRequestError(f"the database can't hold a value: {error.orig}") from error
    except DBAPIError as error:
        if not is_unavailable(error):
            raise
        log.warning("the database fails", error=str(error.orig))
        raise StoreAwayError("the database does not answer; try again") from error
