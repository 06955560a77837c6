"""Uploads: the bytes of a program on their way into the depot."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from typing import ParamSpec, TypeVar

import structlog

from meijin.programs.archive import kind_of_head
from meijin.programs.depot import Depot, Incoming
from meijin.programs.errors import (
    DepotFullError,
    ProgramRefusedError,
    UploadIncompleteError,
    UploadInProgressError,
    WrongBytesError,
)
from meijin.programs.kinds import ProgramKind
from meijin.server.access.programs import UploadRequest
from meijin.server.errors import (
    InvalidRequestError,
    NoRoomError,
    TooManyStreamsError,
)

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")

RETRY_TIME = timedelta(seconds=5)
"""After which an upload may be tried again that another one kept out."""


class Upload:
    """A program that comes in: what is done to its file is done by a thread of its own, in order."""

    def __init__(self, request: UploadRequest, depot: Depot, thread: ThreadPoolExecutor) -> None:
        self._request = request
        self._depot = depot
        self._thread = thread
        self._incoming: Incoming | None = None

    async def open(self, uploader: str) -> None:
        digest, size = self._request.digest, self._request.size
        begin = partial(self._depot.begin, digest, size=size, uploader=uploader)
        self._incoming = await self._do(begin)

    @property
    def received(self) -> int:
        """How many bytes are there."""
        return self._request.size if self._incoming is None else self._incoming.offset

    @property
    def is_whole(self) -> bool:
        return self.received >= self._request.size

    async def write(self, chunk: bytes) -> None:
        """Keep the bytes that follow.

        Raises:
            InvalidRequestError: they are more than were announced; nothing is kept.
            NoRoomError: the disk is full; nothing is kept.
        """
        assert self._incoming is not None
        await self._do(self._incoming.write, chunk)

    async def finish(self) -> ProgramKind:
        """Put the program in its place; tell of what kind it is.

        Raises:
            InvalidRequestError: its bytes are not those of the digest, and nothing is kept; or they
                are of no known kind.
            NoRoomError: the disk is full; nothing is kept.
        """
        assert self._incoming is not None
        await self._do(self._incoming.finish)
        if self._request.kind is not None:
            return self._request.kind
        head = await self._do(self._head)
        try:
            return kind_of_head(head, self._request.file_name)
        except ProgramRefusedError as error:
            raise InvalidRequestError(f"kind: {error}") from None

    async def delete(self) -> None:
        """Delete a program that was put in its place, and that no bot has."""
        await self._do(self._depot.delete, self._request.digest)

    async def close(self) -> None:
        """Keep what is there, so that the upload may be taken up again."""
        if self._incoming is not None:
            await self._do(self._incoming.close)

    async def _do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with _refusals():
            return await asyncio.wrap_future(self._thread.submit(work, *args, **kwargs))

    def _head(self) -> bytes:
        return next(iter(self._depot.read(self._request.digest)), b"")


@asynccontextmanager
async def open_upload(depot: Depot, request: UploadRequest, uploader: str) -> AsyncIterator[Upload]:
    """An upload, begun or taken up again; what is there at the end is kept for the next one.

    Args:
        uploader: Who may take it up again.
    """
    thread = ThreadPoolExecutor(1, "upload")
    try:
        upload = Upload(request, depot, thread)
        await upload.open(uploader)
        try:
            yield upload
        finally:
            await asyncio.shield(upload.close())
    finally:
        thread.shutdown(wait=False)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn the errors of the depot into those that an uploader hears.

    What has no room on the disk is the server's trouble, which its operator has to hear of.
    """
    try:
        yield
    except (WrongBytesError, UploadIncompleteError) as error:
        raise InvalidRequestError(str(error)) from None
    except UploadInProgressError as error:
        raise TooManyStreamsError(str(error), RETRY_TIME) from None
    except DepotFullError as error:
        log.warning("no room for programs", error=str(error), fix="make room, or lower the quotas")
        raise NoRoomError("the server has no room for programs; its operator is told") from error
