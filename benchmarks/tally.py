"""What bots count of their own doing, in files that others read meanwhile.

A file holds the fields of `Tally`, eight bytes each, in the machine's order; it outlives a bot
that is killed.
"""

import mmap
import os
import struct
from dataclasses import astuple, dataclass, fields
from pathlib import Path

WORD = 8


@dataclass(frozen=True, slots=True)
class Tally:
    """What some bots have done since they began."""

    moves: int = 0
    messages: int = 0
    """That held the moves."""
    sampled: int = 0
    """Messages whose bytes were counted."""
    received_bytes: int = 0
    """Of the sampled messages of the server."""
    sent_bytes: int = 0
    """Of the answers to them."""

    def __add__(self, other: "Tally") -> "Tally":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Tally(*(one + another for one, another in pairs))

    def __sub__(self, other: "Tally") -> "Tally":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Tally(*(one - another for one, another in pairs))


FIELDS = len(fields(Tally))


def tally_file(folder: Path) -> memoryview:
    """The fields of this process's tally, to be counted up in their order."""
    path = folder / str(os.getpid())
    path.write_bytes(bytes(FIELDS * WORD))
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), FIELDS * WORD)).cast("q")


def read_tally(folder: Path) -> Tally:
    """All tallies of a folder together; what a short one does not hold is 0."""
    return sum(map(read_file, folder.iterdir()), Tally())


def read_file(path: Path) -> Tally:
    """The tally of one bot."""
    words = path.read_bytes()[: FIELDS * WORD].ljust(FIELDS * WORD, b"\0")
    return Tally(*struct.unpack(f"={FIELDS}q", words))
