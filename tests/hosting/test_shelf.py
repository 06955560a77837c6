"""The shelf of a host: what it keeps of earlier runs, and what it deletes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from meijin.hosting import shelf as shelf_module
from meijin.hosting.shelf import Shelf, ShelfError
from meijin.programs.prepared import Wheelhouse
from meijin.v1 import host_service_pb2 as pb
from meijin.v1 import hosting_service_pb2 as pb_kinds

if TYPE_CHECKING:
    from meijin.v1.host_service_pb2_grpc import HostServiceAsyncStub

SOURCE = b"from meijin.bots import Bot\n\n\nclass Mine(Bot):\n    pass\n"
DIGEST = hashlib.sha256(SOURCE).hexdigest()
SEAT = pb.Seat(program_id="1", digest=DIGEST, kind=pb_kinds.PROGRAM_KIND_SCRIPT, file_name="bot.py")
MOST = 3


class Server:
    """Has one program."""

    def __init__(self, source: bytes = SOURCE) -> None:
        self._source = source

    async def FetchProgram(  # noqa: N802 - the contract's name
        self, request: pb.FetchProgramRequest, metadata: object
    ) -> AsyncIterator[pb.FetchProgramResponse]:
        assert (request.program_id, metadata) == ("1", ())
        yield pb.FetchProgramResponse(chunk=self._source)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shelf's, with five trees of earlier runs, the oldest first."""
    monkeypatch.setattr(shelf_module, "MOST_PREPARED", MOST)
    for number in range(5):
        tree = tmp_path / f"{number:064x}"
        tree.mkdir()
        (tree / "bot.py").touch()
        os.utime(tree, (number, number))
    return tmp_path


def open_shelf(folder: Path, source: bytes = SOURCE) -> Shelf:
    stub = cast("HostServiceAsyncStub", Server(source))
    shelf = Shelf(folder, stub, (), wheelhouse=Wheelhouse(None))
    shelf.tidy()
    return shelf


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def trees(*numbers: int) -> list[str]:
    return [f"{number:064x}" for number in numbers]


def test_the_newest_trees_of_earlier_runs_are_kept(folder: Path) -> None:
    open_shelf(folder)
    assert kept(folder) == trees(2, 3, 4)


async def test_trees_of_earlier_runs_make_room(folder: Path) -> None:
    """They count with those of this run, and the oldest goes first."""
    prepared = await open_shelf(folder).get(SEAT)
    assert prepared.tree == folder / DIGEST
    assert kept(folder) == sorted([*trees(3, 4), DIGEST])


async def test_other_bytes_than_those_of_the_digest_are_not_run(folder: Path) -> None:
    with pytest.raises(ShelfError, match="other bytes"):
        await open_shelf(folder, SOURCE + b"#").get(SEAT)
    assert kept(folder) == trees(2, 3, 4)


def test_what_was_left_half_made_is_deleted(folder: Path) -> None:
    """And nothing that is none of the shelf's."""
    for name in (f".{DIGEST}.0011223344556677.part", "partial-x", "notes"):
        (folder / name).mkdir()
    open_shelf(folder)
    assert kept(folder) == [*trees(2, 3, 4), "notes"]
