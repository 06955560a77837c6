"""Linux programs for x86-64: the header of an ELF file, and how it is linked."""

import enum
import struct
from collections.abc import Iterator
from typing import Any

from meijin.programs.errors import ProgramRefusedError

MAGIC = b"\x7fELF"
LOADER = b"/lib64/ld-linux-x86-64.so.2"
"""That of the GNU C library, which every sandbox has."""
MAX_ENGINE_BYTES = 20 << 20
"""Of one within an archive: it is looked at in memory."""
_HEADER = struct.Struct("<16s2HL3QL6H")
_SEGMENT = struct.Struct("<2L6Q")
_TAG = struct.Struct("<2Q")
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_EXECUTABLE, _SHARED = 2, 3
_X86_64 = 62
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_FLAGS_1, _PIE = 0x6FFFFFFB, 0x08000000
_MAX_SEGMENTS = 128
_MAX_TAGS = 4096
_BUILD = "build it for Linux on x86-64, with `-static` where that is possible"


class Linkage(enum.Enum):
    """How a program finds its libraries."""

    STATIC = "static"
    """It has them within itself."""
    DYNAMIC = "dynamic"
    """The sandbox has to have them."""


def check_engine(program: bytes, name: str) -> Linkage:
    """How a program is linked that a Linux machine of x86-64 can start.

    Raises:
        ProgramRefusedError: it can't.
    """
    try:
        return _linkage(program, name)
    except struct.error:
        raise ProgramRefusedError("its end is missing", name, "upload all of the file") from None


def _linkage(program: bytes, name: str) -> Linkage:
    if not program.startswith(MAGIC):
        what = "it is a script" if program.startswith(b"#!") else "it is no Linux program"
        raise ProgramRefusedError(what, name, _BUILD)
    identity, kind, machine, _, entry, segments, _, _, _, size, count, *_ = _HEADER.unpack_from(
        program
    )
    if (identity[4], identity[5], machine) != (_CLASS_64, _LITTLE_ENDIAN, _X86_64):
        raise ProgramRefusedError("it is built for another processor", name, _BUILD)
    if kind not in (_EXECUTABLE, _SHARED) or not entry:
        raise ProgramRefusedError("it is an object file or a library, no program", name, _BUILD)
    if size != _SEGMENT.size or not 0 < count <= _MAX_SEGMENTS:
        raise ProgramRefusedError("its header is damaged", name, _BUILD)
    found = [_at(_SEGMENT, program, segments + place * size) for place in range(count)]
    spans = [(kind, offset, bytes_) for kind, _, offset, _, _, bytes_, _, _ in found]
    if any(offset + bytes_ > len(program) for kind, offset, bytes_ in spans if kind == _LOAD):
        raise ProgramRefusedError("its end is missing", name, "upload all of the file")
    if all(kind != _LOAD for kind, _, _ in spans):
        raise ProgramRefusedError("it has nothing to load", name, _BUILD)
    for segment, offset, length in spans:
        if segment == _INTERPRETER:
            _check_loader(program[offset : offset + length], name)
            return Linkage.DYNAMIC
    if kind == _SHARED and not any(_is_pie(program, span) for span in spans):
        raise ProgramRefusedError("it is a library, no program", name, _BUILD)
    return Linkage.STATIC


def _check_loader(loader: bytes, name: str) -> None:
    if loader.rstrip(b"\0") != LOADER:
        shown = loader[:60].rstrip(b"\0").decode("ascii", "backslashreplace")
        shown = "".join(sign if sign.isprintable() else "?" for sign in shown)
        what = f"its loader {shown} is not in the sandbox, which has {LOADER.decode()}"
        raise ProgramRefusedError(what, name, "link it with `-static`")


def _is_pie(program: bytes, span: tuple[int, int, int]) -> bool:
    kind, offset, length = span
    return kind == _DYNAMIC and any(
        tag == _FLAGS_1 and value & _PIE for tag, value in _tags(program, offset, length)
    )


def _tags(program: bytes, offset: int, length: int) -> Iterator[tuple[int, int]]:
    for place in range(min(length // _TAG.size, _MAX_TAGS)):
        yield _at(_TAG, program, offset + place * _TAG.size)


def _at(record: struct.Struct, program: bytes, place: int) -> Any:  # noqa: ANN401 - a record's fields
    """A record at a place that may be any number, as slices take it."""
    return record.unpack(program[place : place + record.size])
