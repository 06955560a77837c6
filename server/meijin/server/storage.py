"""The store for coroutines: reads in worker threads, writes on the writer's thread."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

import stamina
import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError

from meijin.server.errors import (
    InvalidRequestError,
    NotFoundError,
    StoppingError,
    StoreAwayError,
    TooManyVersionsError,
    WrongStateError,
)
from meijin.store import Database, Writer
from meijin.store import errors as store_errors
from meijin.store.database import is_unavailable
from meijin.store.errors import (
    LostOwnershipError,
    MatrixNotKeptError,
    NoRunError,
    RowNotFoundError,
    SupersededRunError,
)

log = structlog.get_logger()

FIRST_RETRY, LAST_RETRY = timedelta(seconds=0.2), timedelta(seconds=2)
"""Between two tries while the database does not answer, growing from the one to the other."""

READERS = 8
"""Threads that read: with those for sign-ins fewer than the 15 connections of SQLAlchemy's pool."""

SIGN_IN_READERS = 2
"""Threads for those who want to come in, who wait behind no list that takes long to read."""

P = ParamSpec("P")
T = TypeVar("T")


class Storage:
    """Runs queries and writes off the event loop.

    Raises:
        NotFoundError: no row has the name or id.
        WrongStateError: the ladder has no run yet.
        TooManyVersionsError: a bot has as many versions as one may have.
        InvalidRequestError: the database can't hold a value that was sent.
        StoreAwayError: the database is locked, full, stopped or restarting.
        StoppingError: the database is no longer this server's, which is about to end.
    """

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self._sign_in_readers = ThreadPoolExecutor(SIGN_IN_READERS, "sign-in-reader")

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The result of a query in a snapshot of its own."""
        return await self._read(self._readers, partial(self._database.read, query, *args, **kwargs))

    async def read_for_sign_in(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The same for a quick query that somebody's coming in depends on: it has its own threads."""
        read = partial(self._database.read, query, *args, **kwargs)
        return await self._read(self._sign_in_readers, read)

    async def _read(self, threads: ThreadPoolExecutor, read: Callable[[], T]) -> T:
        with _refusals():
            return await asyncio.get_running_loop().run_in_executor(threads, read)

    async def write(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The result of writing work, once it is committed."""
        with _refusals():
            return await asyncio.wrap_future(
                self._writer.submit(lambda at: work(at, *args, **kwargs))
            )

    def close(self) -> None:
        """Let the threads end; reads that have not begun are given up."""
        for threads in (self._readers, self._sign_in_readers):
            threads.shutdown(wait=False, cancel_futures=True)


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
    except store_errors.TooManyVersionsError as error:
        raise TooManyVersionsError(str(error)) from None
    except (NoRunError, SupersededRunError, MatrixNotKeptError) as error:
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
