"""Segments of the journal: which entries are kept, and in which portions old ones go."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from meijin.store.fence import EntryKey
from meijin.store.journal import KeptEntries

ENTRIES_PER_SEGMENT = 64
BYTES_PER_SEGMENT = 256 * 1024
"""A segment, which is deleted at once, ends when it has this many entries or this many bytes."""


@dataclass(slots=True, eq=False)
class Segment:
    """Entries that follow one another, and go together."""

    entries: int = 0
    bytes: int = 0
    games: int = 0
    """How many running games keep it and all after it."""
    end: EntryKey | None = None
    """The first entry after it; ``None`` while it grows."""


class Segments:
    """The entries that are kept, and how many running games keep them from where on.

    Nothing is searched for: each game knows its segment, and the oldest one goes when none does.
    """

    def __init__(self, kept: Iterable[KeptEntries]) -> None:
        self.bytes = 0
        """Of all entries that are kept, more or less."""
        self._open = Segment()
        self._closed: deque[Segment] = deque()
        for each in kept:
            self._closed.append(Segment(each.entries, each.bytes, end=each.end))
            self.bytes += each.bytes

    def add(self, key: EntryKey, size: int) -> None:
        """An entry is about to be committed."""
        if self._open.entries >= ENTRIES_PER_SEGMENT or self._open.bytes >= BYTES_PER_SEGMENT:
            self.close(key)
        self._open.entries += 1
        self._open.bytes += size
        self.bytes += size

    def close(self, key: EntryKey) -> None:
        """Begin a segment with an entry that is about to be added."""
        self._open.end = key
        self._closed.append(self._open)
        self._open = Segment()

    def keep(self) -> Segment:
        """A game keeps the entries from the one on that is being collected."""
        return self._hold(self._open)

    def keep_all(self) -> Segment:
        """A game keeps every entry."""
        return self._hold(self._closed[0] if self._closed else self._open)

    @staticmethod
    def _hold(segment: Segment) -> Segment:
        segment.games += 1
        return segment

    @property
    def has_garbage(self) -> bool:
        """Whether entries are kept that no running game needs."""
        return bool(self._closed) and not self._closed[0].games

    def take_garbage(self) -> EntryKey | None:
        """Entries before this one may go: those of the oldest segment, unless a game keeps it."""
        if not self.has_garbage:
            return None
        oldest = self._closed.popleft()
        self.bytes -= oldest.bytes
        return oldest.end
