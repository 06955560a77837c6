"""Entries of the move log: what is committed together, as bytes that prove what is before them."""

import json
import struct
import zlib
from hashlib import blake2b
from typing import Any, NamedTuple, NewType, TypeAlias

from meijin.store.schema import EntryId

Link = NewType("Link", bytes)
"""The hash of an entry and of all before it in its log: a link of the hash chain."""

LINK_BYTES = 16

Analysis: TypeAlias = dict[str, Any]
"""By game and ply, what the bots said they thought."""

MAGIC = b"\x89mv\n"
"""What an entry begins with; what bots say is written as ASCII, and has no such byte."""

_PREFIX = struct.Struct(f"<{len(MAGIC)}sI{LINK_BYTES}s")
"""Of an entry: the magic bytes, a checksum of all behind it, and the link."""

_HEADER = struct.Struct("<QQIII")
"""Behind those: the id, the newest entry of the database, the oldest segment that is needed, and
the bytes of the two parts that follow."""

_BOTH = struct.Struct(_PREFIX.format + _HEADER.format.lstrip("<"))

HEADER_BYTES = _BOTH.size


class LogEntry(NamedTuple):
    """What was committed together."""

    id: EntryId
    moves: bytes | bytearray
    """What `pack_move` makes of each, one after another."""
    analysis: Analysis
    stored: EntryId = EntryId(0)
    """The newest entry of the database that was acknowledged before."""


class FoundEntry(NamedTuple):
    """An entry as it stands in a segment."""

    entry: LogEntry
    oldest: int
    """The number of the oldest segment that was needed beside it."""
    link: Link
    follows: bool
    """It was written behind the entry that it was read behind."""
    end: int
    """The offset of the byte behind it."""


class EntryFormat:
    """Writes and reads the entries of one log.

    The checksum begins with the log's id, so that no other log's entry passes for one of this.
    """

    def __init__(self, log_id: bytes) -> None:
        self._seed = zlib.crc32(log_id)
        self.first_link = Link(blake2b(log_id, digest_size=LINK_BYTES).digest())
        """What stands in place of the link before the first entry."""

    def encode(self, entry: LogEntry, before: Link, *, oldest: int) -> tuple[bytes, Link]:
        """The bytes of an entry that follows the link `before`, and its own link."""
        said = json.dumps(entry.analysis).encode() if entry.analysis else b""
        header = _HEADER.pack(entry.id, entry.stored, oldest, len(entry.moves), len(said))
        rest = b"".join((header, entry.moves, said))
        link = _link(before, rest)
        checksum = zlib.crc32(rest, zlib.crc32(link, self._seed))
        return _PREFIX.pack(MAGIC, checksum, link) + rest, link

    def decode(self, data: bytes, at: int, before: Link) -> FoundEntry | None:
        """The entry at an offset, read behind the link `before`; ``None`` where none is whole."""
        body = at + HEADER_BYTES
        if body > len(data):
            return None
        magic, checksum, link, entry_id, stored, oldest, moves, said = _BOTH.unpack_from(data, at)
        middle = body + moves
        end = middle + said
        if magic != MAGIC or end > len(data):
            return None
        rest = data[at + _PREFIX.size : end]
        if zlib.crc32(rest, zlib.crc32(link, self._seed)) != checksum:
            return None
        analysis = json.loads(data[middle:end]) if said else {}
        entry = LogEntry(entry_id, data[body:middle], analysis, stored)
        return FoundEntry(entry, oldest, link, _link(before, rest) == link, end)


def _link(before: Link, rest: bytes) -> Link:
    """BLAKE2b (RFC 7693): with cold caches an entry of a move takes 8 microseconds, by SHA-256 13."""
    return Link(blake2b(before + rest, digest_size=LINK_BYTES).digest())
