"""The head of the move log: the newest acknowledged entry, noted in a file of its own.

The end of a log that has lost its last page looks like that of one that was never longer. The head
is written behind commits and not waited for, so that it is never ahead of what was acknowledged.
"""

import os
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from meijin.store.move_log.entry import LINK_BYTES, Link
from meijin.store.schema import ID_BYTES, EntryId

_NAME = "{}.head"

_SLOT = struct.Struct(f"<{ID_BYTES}sQ{LINK_BYTES}s")

_CHECKSUM_BYTES = 4

SLOT_INTERVAL = 512
"""Between the two slots, which are written in turn: one sector each, so that one is always whole."""


class Head(NamedTuple):
    """The newest entry of a log."""

    log_id: bytes
    entry: EntryId
    link: Link


class HeadFile:
    """The file, open for writing."""

    def __init__(self, folder: Path, log_id: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(head_path(folder, log_id), flags, 0o600)

    def note(self, head: Head) -> None:
        """Note the newest entry; a disk that does not take it loses a proof, and no move."""
        data = _SLOT.pack(*head)
        checksum = zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little")
        with suppress(OSError):
            os.pwrite(self._file, data + checksum, head.entry % 2 * SLOT_INTERVAL)

    def sync(self) -> None:
        """Wait until it is on the disk: a power cut then leaves this head, or a later one."""
        with suppress(OSError):
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def head_path(folder: Path, log_id: bytes) -> Path:
    return folder / _NAME.format(log_id.hex()[:16])


def heads_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(_NAME.format("*")))


def read_heads(folder: Path) -> Sequence[Head]:
    """The heads that are noted and whole."""
    found = []
    for path in heads_in(folder):
        with suppress(FileNotFoundError):
            data = path.read_bytes()
            found += [_decode(data[at:]) for at in (0, SLOT_INTERVAL)]
    return [head for head in found if head is not None]


def _decode(data: bytes) -> Head | None:
    packed, checksum = data[: _SLOT.size], data[_SLOT.size : _SLOT.size + _CHECKSUM_BYTES]
    if len(packed) < _SLOT.size or zlib.crc32(packed) != int.from_bytes(checksum, "little"):
        return None
    log_id, entry, link = _SLOT.unpack(packed)
    return Head(log_id, entry, Link(link))
