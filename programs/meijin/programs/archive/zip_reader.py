"""A strict reader of zip archives: it refuses what is ambiguous, and counts what it unpacks."""

import hashlib
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from meijin.programs.archive.entry_names import shown
from meijin.programs.archive.zip_directory import AGAIN, STORED, ZipEntry, read_directory
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MAX_UNPACKED_BYTES

_CHUNK = 1 << 16


class ZipReader:
    """An archive, whose headers are read when it is made.

    Raises:
        ProgramRefusedError: it is not to be unpacked.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.entries = read_directory(file, size)
        self._by_name = {entry.name: entry for entry in self.entries}
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        """Whether there is a file of the name."""
        return name in self._by_name and not name.endswith("/")

    def read(self, name: str, *, limit: int) -> bytes:
        """The bytes of a file that is small.

        Raises:
            ProgramRefusedError: it has more bytes, or is damaged.
        """
        entry = self._by_name[name]
        if entry.unpacked_bytes > limit:
            what = f"it has {entry.unpacked_bytes} bytes; at most {limit} may be"
            raise ProgramRefusedError(what, shown(name), "shorten it")
        return b"".join(self._chunks(entry))

    def head(self, name: str) -> bytes:
        """The first bytes of a file, at most 64 KiB."""
        return next(self._chunks(self._by_name[name]), b"")

    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file by its name, after all of the archive was unpacked once."""
        found = {}
        for entry in self.entries:
            digest = hashlib.sha256()
            for chunk in self.unpack(entry):
                digest.update(chunk)
            if not entry.is_folder:
                found[entry.name] = digest.hexdigest()
        return found

    def unpack(self, entry: ZipEntry) -> Iterator[bytes]:
        """The bytes of an entry, counted with those of the entries before it.

        Raises:
            ProgramRefusedError: they are too many, or not those that the headers tell of.
        """
        for chunk in self._chunks(entry):
            self._unpacked += len(chunk)
            if self._unpacked > MAX_UNPACKED_BYTES:
                what = f"it unpacks to more than {MAX_UNPACKED_BYTES} bytes"
                fix = "leave out what the bot does not need"
                raise ProgramRefusedError(what, shown(entry.name), fix)
            yield chunk

    def _chunks(self, entry: ZipEntry) -> Iterator[bytes]:
        """The bytes of an entry, at most as many as declared, and checked at their end."""
        found, crc = 0, 0
        for chunk in self._inflated(entry):
            found += len(chunk)
            crc = zlib.crc32(chunk, crc)
            if found > entry.unpacked_bytes:
                raise ProgramRefusedError("it has more bytes than told", shown(entry.name), AGAIN)
            yield chunk
        if found != entry.unpacked_bytes or crc != entry.crc:
            raise ProgramRefusedError("its bytes are damaged", shown(entry.name), AGAIN)

    def _inflated(self, entry: ZipEntry) -> Iterator[bytes]:
        if entry.method == STORED:
            yield from self._packed(entry)
            return
        stream, has_more = zlib.decompressobj(-zlib.MAX_WBITS), False
        try:
            for packed in self._packed(entry):
                has_more = stream.eof
                if has_more:
                    break
                yield from _outputs(stream, packed)
        except zlib.error:
            raise ProgramRefusedError("its bytes are damaged", shown(entry.name), AGAIN) from None
        if not stream.eof or stream.unused_data or has_more:
            what = "its compressed bytes end too early or too late"
            raise ProgramRefusedError(what, shown(entry.name), AGAIN)

    def _packed(self, entry: ZipEntry) -> Iterator[bytes]:
        place, end = entry.data_offset, entry.data_offset + entry.packed_bytes
        while place < end:
            self._file.seek(place)
            chunk = self._file.read(min(_CHUNK, end - place))
            if not chunk:
                raise ProgramRefusedError("its bytes are missing", shown(entry.name), AGAIN)
            place += len(chunk)
            yield chunk


def _outputs(stream: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    """All that some packed bytes unpack to, a chunk at a time."""
    rest = packed
    while (chunk := stream.decompress(rest, _CHUNK)) or stream.unconsumed_tail:
        rest = stream.unconsumed_tail
        if chunk:
            yield chunk
        if stream.eof:
            return
