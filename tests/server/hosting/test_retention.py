"""Bytes of programs that nobody has are deleted, after a while."""

from __future__ import annotations

import hashlib
import os
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from meijin.programs.depot import Depot, open_depot
from meijin.programs.depot.depot import STALE_TIME
from meijin.server.hosting.retention import ProgramRetention

AGES = 2 * STALE_TIME


def keep(depot: Depot, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    with depot.begin(digest, size=len(data), uploader="ada") as incoming:
        incoming.write(data)
        incoming.finish()
    return digest


def make_old(folder: Path, age: timedelta = AGES) -> None:
    then = time.time() - age.total_seconds()
    for path in folder.rglob("*"):
        os.utime(path, (then, then))


async def test_what_nobody_has_is_deleted(tmp_path: Path) -> None:
    """What a bot has stays, and so does what has just come."""
    depot = open_depot(tmp_path)
    kept, gone = keep(depot, b"kept"), keep(depot, b"gone")
    make_old(tmp_path)
    fresh = keep(depot, b"fresh")

    async def read(_: object) -> set[str]:
        return {kept}

    storage = cast("Any", SimpleNamespace(read=read))
    await ProgramRetention(depot, storage).sweep()
    assert sorted(depot.digests()) == sorted([kept, fresh])
    assert not depot.has(gone)
