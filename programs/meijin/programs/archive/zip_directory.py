"""The headers of a zip archive: its end, its directory and each entry's own, read and compared.

Every byte of the file has to be of one header or of one entry's data. So nothing overlaps, hides
before, between or behind, or is another thing to another reader. Layout: APPNOTE.TXT 6.3.10.
"""

import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from meijin.programs.archive.entry_names import NameTable, decoded, shown
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import MAX_ENTRIES, MAX_UNPACKED_BYTES

STORED, DEFLATED = 0, 8
_END = struct.Struct("<4s4H2LH")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_EXTRA = struct.Struct("<2H")
_SECOND = {
    0x0001: "it has a header of zip64",
    0x7075: "it has a second name; use ASCII letters",
}
"""Kinds of extra fields that say again what the header says."""
_MAX_VERSION = 63
"""Of the format, times ten."""
_DESCRIPTOR = struct.Struct("<3L")
_END_MAGIC, _CENTRAL_MAGIC, _LOCAL_MAGIC = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
_DESCRIPTOR_MAGIC = b"PK\x07\x08"
_MAX_COMMENT = 0xFFFF
_MAX_DIRECTORY_BYTES = MAX_ENTRIES * 2048
_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
_HAS_DESCRIPTOR, _IS_UTF8 = 1 << 3, 1 << 11
_KNOWN_FLAGS = 1 << 1 | 1 << 2 | _HAS_DESCRIPTOR | _IS_UTF8
"""Bits 1 and 2 tell how hard deflate has tried."""
_BIG_16, _BIG_32 = 0xFFFF, 0xFFFFFFFF
AGAIN = "zip the folder again with a usual tool, such as `python3 -m zipfile -c bot.zip bot.py`"


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file or a folder of an archive, as its two headers agree."""

    name: str
    """A folder's ends with a slash."""
    method: int
    crc: int
    packed_bytes: int
    unpacked_bytes: int
    """As declared."""
    is_executable: bool
    data_offset: int

    @property
    def is_folder(self) -> bool:
        return self.name.endswith("/")


@dataclass(frozen=True, slots=True)
class _End:
    """The record at the end of an archive."""

    entries: int
    directory_bytes: int
    directory_offset: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Header:
    """An entry of the directory."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed_bytes: int
    unpacked_bytes: int
    mode: int
    local_offset: int


def read_directory(file: BinaryIO, size: int) -> list[ZipEntry]:
    """The entries of an archive in the order of their bytes, all headers of which agree.

    Raises:
        ProgramRefusedError: they don't, or one is not to be unpacked.
    """
    end = _read_end(file, size)
    headers = _read_headers(file, end)
    names, entries, place = NameTable(), [], 0
    for header in sorted(headers, key=lambda header: header.local_offset):
        name = decoded(header.raw_name, is_utf8=bool(header.flags & _IS_UTF8))
        names.add(name)
        _check(header, name)
        if header.local_offset != place:
            what = "entries overlap" if header.local_offset < place else "bytes are between entries"
            raise ProgramRefusedError(what, shown(name), AGAIN)
        start = _data_offset(file, header, end.directory_offset)
        place = _end_of_data(file, header, start)
        if place > end.directory_offset:
            raise ProgramRefusedError("its data reaches into the directory", shown(name), AGAIN)
        entries.append(_entry(header, name, start))
    if place != end.directory_offset:
        raise ProgramRefusedError("bytes are between the entries and the directory", "", AGAIN)
    return entries


def _read_end(file: BinaryIO, size: int) -> _End:
    tail_offset = max(0, size - _END.size - _MAX_COMMENT)
    file.seek(tail_offset)
    tail = file.read(size - tail_offset)
    place = tail.find(_END_MAGIC)
    while 0 <= place <= len(tail) - _END.size:
        fields = _END.unpack_from(tail, place)
        if place + _END.size + fields[-1] == len(tail):
            if _END_MAGIC in tail[place + _END.size :]:
                raise ProgramRefusedError("it has two ends", "", AGAIN)
            return _checked_end(fields, tail_offset + place)
        place = tail.find(_END_MAGIC, place + 1)
    raise ProgramRefusedError("it is no zip archive, or its end is missing", "", AGAIN)


def _checked_end(fields: tuple[int, ...], offset: int) -> _End:
    _, disk, directory_disk, here, entries, directory_bytes, directory_offset, _ = fields
    if _BIG_16 in (here, entries) or _BIG_32 in (directory_bytes, directory_offset):
        raise ProgramRefusedError("it is a zip64 archive", "", "leave out what makes it so large")
    if disk or directory_disk or here != entries:
        raise ProgramRefusedError("it is a part of a split archive", "", "zip it as one file")
    if entries > MAX_ENTRIES:
        what = f"it has {entries} entries; at most {MAX_ENTRIES} are allowed"
        raise ProgramRefusedError(what, "", "leave out what the bot does not need")
    if not entries:
        raise ProgramRefusedError("it is empty", "", "zip a folder that has a bot.py")
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        what = f"its directory has {directory_bytes} bytes; at most {_MAX_DIRECTORY_BYTES} may be"
        raise ProgramRefusedError(what, "", AGAIN)
    if directory_offset + directory_bytes != offset:
        raise ProgramRefusedError("bytes are before the archive or behind it", "", AGAIN)
    return _End(entries, directory_bytes, directory_offset, offset)


def _read_headers(file: BinaryIO, end: _End) -> list[_Header]:
    file.seek(end.directory_offset)
    directory = file.read(end.directory_bytes)
    headers, place = [], 0
    for _ in range(end.entries):
        if place + _CENTRAL.size > len(directory):
            raise ProgramRefusedError("its directory ends too early", "", AGAIN)
        fields = _CENTRAL.unpack_from(directory, place)
        magic, _, version, flags, method, _, _, crc, packed, unpacked, *lengths = fields
        name_bytes, extra_bytes, comment_bytes, disk, _, attributes, offset = lengths
        name, extra = _slices(directory, place + _CENTRAL.size, name_bytes, extra_bytes)
        place += _CENTRAL.size + name_bytes + extra_bytes + comment_bytes
        if magic != _CENTRAL_MAGIC or place > len(directory):
            raise ProgramRefusedError("its directory is damaged", "", AGAIN)
        if disk:
            raise ProgramRefusedError("it is a part of a split archive", "", "zip it as one file")
        _check_extra(extra, name)
        if version & 0xFF > _MAX_VERSION:
            raise ProgramRefusedError("it needs a newer unzip", shown(name), AGAIN)
        mode = attributes >> 16
        headers.append(_Header(name, flags, method, crc, packed, unpacked, mode, offset))
    if place != len(directory):
        raise ProgramRefusedError("its directory has more than it counts", "", AGAIN)
    return headers


def _slices(data: bytes, place: int, *lengths: int) -> Iterator[bytes]:
    """Bytes of these lengths, one behind the other."""
    for length in lengths:
        yield data[place : place + length]
        place += length


def _check_extra(extra: bytes, name: bytes) -> None:
    """See that fields of other programs' own give an entry no second size and no second name."""
    place = 0
    while place + _EXTRA.size <= len(extra):
        kind, length = _EXTRA.unpack_from(extra, place)
        place += _EXTRA.size + length
        if kind in _SECOND:
            raise ProgramRefusedError(_SECOND[kind], shown(name), AGAIN)


def _check(header: _Header, name: str) -> None:
    """See that an entry is a plain file or folder that can be unpacked."""
    fault = next((fault for is_so, *fault in _faults(header, name) if is_so), None)
    if fault is not None:
        what, fix = fault
        raise ProgramRefusedError(what, shown(name), fix)


def _faults(header: _Header, name: str) -> tuple[tuple[bool, str, str], ...]:
    """What may be wrong with an entry, whether it is, and how it is mended."""
    kind, method, is_folder = stat.S_IFMT(header.mode), header.method, name.endswith("/")
    wanted = stat.S_IFDIR if is_folder else stat.S_IFREG
    bytes_ = header.unpacked_bytes
    sizes = (header.packed_bytes, bytes_, header.local_offset)
    is_raw_of_other_size = method == STORED and header.packed_bytes != bytes_
    return (
        (bool(header.flags & _ENCRYPTED), "it is encrypted", "zip it without a password"),
        (bool(header.flags & ~_KNOWN_FLAGS), f"it has the flags {header.flags:#06x}", AGAIN),
        (method not in (STORED, DEFLATED), f"its compression {method} is unknown", "use deflate"),
        (kind == stat.S_IFLNK, "it is a link", "put the file itself in its place"),
        (kind not in (0, wanted), "it is neither a file nor a folder", "leave it out"),
        (_BIG_32 in sizes, "it has a header of zip64", "leave out what makes it so large"),
        (bytes_ > MAX_UNPACKED_BYTES, f"it unpacks to {bytes_} bytes", "leave it out"),
        (is_folder and bytes_ > 0, "it is a folder with bytes", AGAIN),
        (is_raw_of_other_size, "its two sizes differ, though it is not compressed", AGAIN),
    )


def _data_offset(file: BinaryIO, header: _Header, limit: int) -> int:
    """Where an entry's data begins, behind its own header, which has to agree."""
    file.seek(header.local_offset)
    raw = file.read(_LOCAL.size)
    if len(raw) < _LOCAL.size or header.local_offset + _LOCAL.size > limit:
        raise ProgramRefusedError("its header is missing", shown(header.raw_name), AGAIN)
    magic, _, flags, method, _, _, *sizes, name_bytes, extra_bytes = _LOCAL.unpack(raw)
    name = file.read(name_bytes)
    told = [header.crc, header.packed_bytes, header.unpacked_bytes]
    is_later = header.flags & _HAS_DESCRIPTOR and sizes == [0, 0, 0]
    wanted = (_LOCAL_MAGIC, header.flags, header.method, header.raw_name)
    if (magic, flags, method, name) != wanted or not (is_later or sizes == told):
        what = "its header differs from the directory"
        raise ProgramRefusedError(what, shown(header.raw_name), AGAIN)
    return int(header.local_offset + _LOCAL.size + name_bytes + extra_bytes)


def _end_of_data(file: BinaryIO, header: _Header, start: int) -> int:
    """Where an entry ends, with what is told of it behind its data."""
    end = start + header.packed_bytes
    if not header.flags & _HAS_DESCRIPTOR:
        return end
    file.seek(end)
    raw = file.read(len(_DESCRIPTOR_MAGIC) + _DESCRIPTOR.size)
    told = _DESCRIPTOR.pack(header.crc, header.packed_bytes, header.unpacked_bytes)
    for descriptor in (_DESCRIPTOR_MAGIC + told, told):
        if raw.startswith(descriptor):
            return end + len(descriptor)
    what = "what is told behind its data differs from the directory"
    raise ProgramRefusedError(what, shown(header.raw_name), AGAIN)


def _entry(header: _Header, name: str, start: int) -> ZipEntry:
    return ZipEntry(
        name=name,
        method=header.method,
        crc=header.crc,
        packed_bytes=header.packed_bytes,
        unpacked_bytes=header.unpacked_bytes,
        is_executable=bool(header.mode & 0o111) and not name.endswith("/"),
        data_offset=start,
    )
