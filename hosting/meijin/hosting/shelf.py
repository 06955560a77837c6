"""The shelf: the programs that a host has fetched and prepared, by their digests."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

from meijin.programs.archive import examine_apart
from meijin.programs.errors import ProgramError
from meijin.programs.kinds import ProgramKind
from meijin.programs.prepared import Prepared, Wheelhouse, discard_partials, prepare
from meijin.programs.prepared.unpacking import remove_folder
from meijin.programs.sandbox import janitor as janitor_module
from meijin.programs.sandbox.janitor import Janitor
from meijin.v1 import host_service_pb2 as pb
from meijin.v1 import hosting_service_pb2 as pb_kinds
from meijin.wire.enums import enum_table

if TYPE_CHECKING:
    from meijin.v1.host_service_pb2_grpc import HostServiceAsyncStub

_PARTIAL = "partial-"
"""Begins the names of folders in which programs are prepared."""

_DIGEST = re.compile("[0-9a-f]{64}")
"""The name of a folder in which a program is."""

MOST_PREPARED = 100
"""Programs that are kept; those that were used longest ago go first."""

_KINDS = {value: kind for kind, value in enum_table(ProgramKind, pb_kinds.ProgramKind).items()}


class ShelfError(Exception):
    """A program can't be had, through no fault of its own; the message says why."""


class Shelf:
    """Fetches programs from a server, and keeps them prepared.

    Args:
        folder: The shelf's own.
        metadata: Of calls to the server.
        wheelhouse: Where what programs depend on is found.
    """

    def __init__(
        self,
        folder: Path,
        stub: HostServiceAsyncStub,
        metadata: tuple[tuple[str, str], ...],
        *,
        wheelhouse: Wheelhouse,
    ) -> None:
        self._folder = folder
        self._stub = stub
        self._metadata = metadata
        self._wheelhouse = wheelhouse
        self._prepared: dict[str, asyncio.Task[Prepared]] = {}
        self._kept: dict[str, None] = {}
        """The digests of all that lies there, that which was used last at the end."""

    def tidy(self) -> None:
        """Delete what a host has left half made, and the oldest of what is too much."""
        for path in self._folder.glob(f"{_PARTIAL}*"):
            remove_folder(path)
        discard_partials(self._folder)
        found = [path for path in self._folder.iterdir() if _DIGEST.fullmatch(path.name)]
        self._kept = dict.fromkeys(path.name for path in sorted(found, key=_age))
        for digest in self._take_old():
            remove_folder(self._folder / digest)

    async def get(self, told: pb.Seat) -> Prepared:
        """A program, ready to be started.

        Raises:
            ShelfError: it can't be had now.
        """
        task = self._prepared.pop(told.digest, None)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = asyncio.create_task(self._prepare(told))
        self._prepared[told.digest] = task  # the newest is the last
        prepared = await asyncio.shield(task)
        self._kept.pop(told.digest, None)
        self._kept[told.digest] = None
        for digest in self._take_old():
            await asyncio.to_thread(remove_folder, self._folder / digest)
        return prepared

    def _take_old(self) -> list[str]:
        """Forget those that are too many, whose folders are to be deleted."""
        old = list(self._kept)[:-MOST_PREPARED]
        for digest in old:
            del self._kept[digest]
            self._prepared.pop(digest, None)
        return old

    async def _prepare(self, told: pb.Seat) -> Prepared:
        kind = _KINDS.get(told.kind)
        if kind is None:
            raise ShelfError("a kind of program that is unknown here; install a newer release")
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=_PARTIAL) as folder:
            path = Path(folder) / "program"
            await self._fetch(told, path)
            try:
                contents = await asyncio.to_thread(examine_apart, path, kind, told.file_name)
                target, wheelhouse = self._folder / told.digest, self._wheelhouse
                return await asyncio.to_thread(
                    prepare, path, contents, target, wheelhouse=wheelhouse
                )
            except ProgramError as error:
                raise ShelfError(f"it can't be prepared here: {error}") from error

    async def _fetch(self, told: pb.Seat, path: Path) -> None:
        """Have the bytes of a program, which are those of its digest."""
        call = self._stub.FetchProgram(
            pb.FetchProgramRequest(program_id=told.program_id), metadata=self._metadata
        )
        digest = hashlib.sha256()
        try:
            with path.open("wb") as file:
                async for response in call:
                    digest.update(response.chunk)
                    file.write(response.chunk)
        except grpc.aio.AioRpcError as error:
            raise ShelfError(f"can't be fetched: {error.details()}") from None
        if digest.hexdigest() != told.digest:
            raise ShelfError("the server sent other bytes than those of its digest")


def _age(path: Path) -> float:
    return path.stat().st_mtime


DOOR_USER = 59_999
"""Of doors, where the host is root: below the users of programs."""


@asynccontextmanager
async def removed_folder() -> AsyncIterator[Path]:
    """A temporary folder that is gone after the block, and also when this process was killed.

    Others may walk through it, and see nothing of what is there.
    """
    folder = Path(tempfile.mkdtemp(prefix="meijin-seats-"))
    folder.chmod(0o711)  # noqa: ASYNC240 - at once
    janitor = Janitor(janitor_module.__name__, folder)
    await janitor.start()
    try:
        yield folder
    finally:
        await janitor.close()


@contextmanager
def socket_folder(above: Path) -> Iterator[tuple[Path, int]]:
    """A folder for the socket of a seat's door, and the user that the door is to become.

    Its name is nobody's to guess: who knows it may connect. It is short enough for a socket's path.
    """
    is_root, folder = os.geteuid() == 0, above / secrets.token_hex(8)
    folder.mkdir()
    try:
        folder.chmod(0o755)  # whatever this process denies others of its files
        if is_root:
            os.chown(folder, DOOR_USER, DOOR_USER)
        yield folder, DOOR_USER if is_root else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)
