"""Kinds of programs, and the limits of what is uploaded and of what runs."""

import enum
from dataclasses import dataclass

MEBIBYTE = 1 << 20


class ProgramKind(enum.Enum):
    """What a program's bytes are."""

    ARCHIVE = "archive"
    """A zip archive with a ``bot.py``, or with a ``meijin.toml`` that names a command."""
    WHEEL = "wheel"
    """A Python wheel, whose one entry point of the group ``meijin.bots`` is the bot."""
    SCRIPT = "script"
    """A single Python file with one bot."""
    ENGINE = "engine"
    """A Linux program for x86-64 that speaks the protocol of Gomocup, Yixin's, or GTP."""
    IMAGE = "image"
    """A reference to a container image by its digest."""


MAX_UPLOAD_BYTES = 10 * MEBIBYTE
"""The most bytes of a program, unless the operator says otherwise."""
MAX_ENTRIES = 500
"""Files and folders of an archive."""
MAX_UNPACKED_BYTES = 50 * MEBIBYTE
"""Of an archive, as they are counted while they are unpacked."""
MAX_NAME = 100
"""Characters of a file's name."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What a program may use while it runs."""

    memory_bytes: int = 256 * MEBIBYTE
    """With what it writes to its scratch folder."""
    processes: int = 48
    """And threads, at once."""
    scratch_bytes: int = 32 * MEBIBYTE
    files: int = 256
    """Open ones of a process."""
    output_bytes: int = MEBIBYTE
    """A minute, on standard output and error."""
    start_ms: int = 30_000
    """Until it has connected."""
