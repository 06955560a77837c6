"""Log compaction of the journal: old games' moves are written anew, so that old entries can go.

A running game keeps every entry from its first move on, those of everybody else as well: beside a
game that is moved in once a day a journal at full rate would grow by gigabytes an hour, and a
restart reads it all.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from meijin.game import encode_action
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.segments import Segments
from meijin.store.journal import MOVE_BYTES, JournalEntry, pack_game, size_of_entry

BYTES_AT_REST = 32 * 1024 * 1024
"""The journal grows to this many bytes beside twice those of the running games: 0.3 million moves in
entries of one move each, a million in large ones."""

BYTES_PER_PORTION = 16 * 1024
"""At least so much is written anew with an entry."""

BYTES_PER_ANALYSIS = 200
"""What is reckoned for what a bot said of a move: nobody measures it on its way."""


@dataclass(slots=True)
class Compaction:
    """Writes all running games anew whenever less than half of the journal is theirs.

    It goes in portions, a whole game at least and as much as the entry itself holds: so what is
    written is no more than a small multiple of what happens, and what is kept of what runs.
    """

    segments: Segments
    """Those of the journal."""
    _live_bytes: int = 0
    """What the running games came to when they were written the last time."""
    _waiting: list[LiveGame] = field(default_factory=list)
    """The games that are still to be written, the oldest last."""
    _written: int = 0

    def add_start(self, game: LiveGame) -> None:
        game.segment = self.segments.keep()

    def add_restored(self, game: LiveGame) -> None:
        game.segment = self.segments.keep_all()
        self._live_bytes += _size_of_game(game)

    def forget(self, games: Iterable[LiveGame]) -> None:
        """Games have ended, and that is committed: their moves are stored with them."""
        for game in games:
            self._drop(game)

    @staticmethod
    def _drop(game: LiveGame) -> None:
        if game.segment is not None:
            game.segment.games -= 1
            game.segment = None

    def advance(
        self, entry: JournalEntry, running: Iterable[LiveGame], *, writes_all: bool = False
    ) -> None:
        """Have old entries deleted with this one, or old games be written anew in it.

        Whatever has happened in the running games is in this entry or in those before it.

        Args:
            writes_all: All of them are written at once: what was before is lost.
        """
        size = _size_of(entry)
        is_due = not self._waiting and not self.segments.has_garbage and self._pays
        if writes_all or is_due:
            self.segments.close(entry.key)
            self._waiting, self._written, self._live_bytes = [*running][::-1], 0, 0
        if self._waiting:
            most = sys.maxsize if writes_all else max(BYTES_PER_PORTION, size)
            size += self._write(entry, most)
        self.segments.add(entry.key, size)
        entry.truncate_before = self.segments.take_garbage()

    @property
    def _pays(self) -> bool:
        return self.segments.bytes > BYTES_AT_REST + 2 * self._live_bytes

    def _write(self, entry: JournalEntry, most: int) -> int:
        written = 0
        while self._waiting and written < most:
            game = self._waiting.pop()
            if game.segment is not None and game.arbiter.outcome is None:
                written += _size_of_game(game)
                _write_game(entry, game)
                self._drop(game)
                self.add_start(game)
        self._written += written
        if not self._waiting:
            self._live_bytes = self._written
        return written


def _write_game(entry: JournalEntry, game: LiveGame) -> None:
    """Add all moves of a game to an entry, with its decisions and what the bots said."""
    arbiter = game.arbiter
    first = game.opening_plies
    cells = arbiter.board.moves[first:]
    moves = [*zip(cells, arbiter.raw_ns, arbiter.charged_ns, strict=True)]
    decided = [*zip(arbiter.position.decisions, arbiter.decision_ns, strict=True)]
    for (ply, action), times in reversed(decided):
        code, *others = encode_action(action)
        moves[ply - first : ply - first] = [(code, *times), *((each, 0, 0) for each in others)]
    entry.moves += pack_game(game.id, moves, opening_plies=first)
    if game.analysis:
        entry.analysis[str(game.id)] = dict(game.analysis)  # the writer's thread reads the copy


def _size_of_game(game: LiveGame) -> int:
    """The bytes that all moves of a game take in the journal, more or less."""
    return MOVE_BYTES * len(game.arbiter.raw_ns) + BYTES_PER_ANALYSIS * len(game.analysis or ())


def _size_of(entry: JournalEntry) -> int:
    """The bytes of an entry, more or less."""
    said = sum(map(len, entry.analysis.values())) if entry.analysis else 0
    return size_of_entry(entry) + BYTES_PER_ANALYSIS * said
