"""Log compaction: the journal stays bounded, and every game can be restored from it at any time."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from meijin.game import Choose, Color, Decision, Declare, Ending, Offer, Outcome, encode_action
from meijin.server.match.journal import compaction
from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.live import segments
from meijin.server.match.live.segments import Segments
from meijin.store.fence import EntryKey
from meijin.store.journal import (
    MOVE_BYTES,
    JournalEntry,
    KeptEntries,
    pack_anew,
    pack_move,
    size_of_entry,
)
from meijin.store.move_log.problem import LogProblem, ProblemKind
from meijin.store.running_games import RunningMoves
from meijin.store.schema import EntryId, Epoch, GameId

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame

AT_REST = 20_000
PORTION = 500
LONGEST = 100
"""Moves of a game."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "BYTES_AT_REST", AT_REST)
    monkeypatch.setattr(compaction, "BYTES_PER_PORTION", PORTION)
    monkeypatch.setattr(segments, "ENTRIES_PER_SEGMENT", 4)


class Table:
    """The journal as it is stored, and the games that write to it."""

    def __init__(self, seed: int, kept: Sequence[KeptEntries] = (), *, epoch: int = 1) -> None:
        self.rng = random.Random(seed)
        self.running: dict[GameId, LiveGame] = {}
        self.rows: dict[EntryKey, JournalEntry] = {}
        self.happened: dict[GameId, list[tuple[int, int, int]]] = defaultdict(list)
        """In each game, as it is to be restored."""
        self.told = 0
        """Bytes of what has happened."""
        self.written = 0
        self.most_deleted = 0
        self.compaction = Compaction(Segments(kept))
        self._epoch = Epoch(epoch)
        self._last = 0
        self._games = 0

    def start(self) -> LiveGame:
        """A game begins, perhaps after an opening of a few stones."""
        self._games += 1
        first = self.rng.randrange(4)
        arbiter = SimpleNamespace(
            board=SimpleNamespace(moves=list(range(first)), ply=first),
            outcome=None,
            position=SimpleNamespace(decisions=[]),
            decision_ns=[],
            raw_ns=[],
            charged_ns=[],
        )
        fake = SimpleNamespace(
            id=GameId(self._games), arbiter=arbiter, opening_plies=first, segment=None, analysis={}
        )
        game = cast("LiveGame", fake)
        self.running[game.id] = game
        self.compaction.add_start(game)
        return game

    def end(self, game: LiveGame) -> None:
        del self.running[game.id]
        game.arbiter.outcome = Outcome(Ending.DRAW)
        self.compaction.forget([game])

    def commit(self, *moved: LiveGame) -> None:
        """Commit an entry with a move, or a decision, in some games."""
        self._last += 1
        entry = JournalEntry(EntryId(self._last), epoch=self._epoch)
        for game in moved:
            self._move(entry, game)
        self.told += size_of_entry(entry)
        self.compaction.advance(entry, self.running.values())
        self.written += size_of_entry(entry)
        self.rows[entry.key] = entry
        if entry.truncate_before is not None:
            old = [key for key in self.rows if key < entry.truncate_before]
            for key in old:
                del self.rows[key]
            self.most_deleted = max(self.most_deleted, len(old))

    def _move(self, entry: JournalEntry, game: LiveGame) -> None:
        arbiter = game.arbiter
        code = ply = len(arbiter.board.moves)
        times = self.rng.randrange(1000), self.rng.randrange(1000)
        decided = {decision.ply for decision in arbiter.position.decisions}
        if ply not in decided and self.rng.random() < 0.1:
            actions = (Choose(self.rng.choice(tuple(Color))), Declare(3), Offer((7, 8, 9)))
            action = self.rng.choice(actions)
            arbiter.position.decisions.append(Decision(ply, action))
            arbiter.decision_ns.append(times)
            for each in encode_action(action):
                entry.moves += pack_move(game.id, ply, each, *times)
                self.happened[game.id].append((each, *times))
                times = 0, 0
            return
        entry.moves += pack_move(game.id, ply, code, *times)
        self.happened[game.id].append((code, *times))
        arbiter.board.moves.append(ply)
        arbiter.raw_ns.append(times[0])
        arbiter.charged_ns.append(times[1])
        if self.rng.random() < 0.2:
            assert game.analysis is not None
            game.analysis[str(ply)] = {"score": ply}
            entry.add_analysis(game.id, ply, game.analysis[str(ply)])

    @property
    def bytes(self) -> int:
        return sum(size_of_entry(entry) for entry in self.rows.values())

    def check(self) -> None:
        """A server that begins now would find every running game as it is."""
        read = RunningMoves({game.id: game.opening_plies for game in self.running.values()})
        said: dict[str, dict[str, object]] = defaultdict(dict)
        for _, row in sorted(self.rows.items()):
            read.add(row.moves)
            for game_id, analysis in row.analysis.items():
                said[game_id] |= analysis
        for game in self.running.values():
            assert read.of_game.get(game.id, []) == self.happened[game.id]
            assert said[str(game.id)] == game.analysis


@pytest.mark.parametrize("seed", range(8))
def test_every_game_is_restored_after_every_entry(seed: int) -> None:
    """Fast and slow games, whichever entries were deleted and whichever written anew."""
    table = Table(seed)
    slow = [table.start() for _ in range(table.rng.choice((1, 5, 40)))]
    fast = [table.start() for _ in range(5)]
    for _ in range(1500):
        moved = [game for game in fast if table.rng.random() < 0.7]
        moved += [game for game in slow if table.rng.random() < 0.02]
        table.commit(*moved)
        for game in moved:
            if len(game.arbiter.raw_ns) > table.rng.randrange(LONGEST):
                table.end(game)
                kind = fast if game in fast else slow
                kind[kind.index(game)] = table.start()
        if table.rng.random() < 0.05:
            table.check()
    assert table.most_deleted == 4


def test_moves_that_are_missing_in_the_middle_are_told_of() -> None:
    before, after = (pack_move(1, ply, ply, 1, 1) for ply in (0, 2))
    moves = RunningMoves({GameId(1): 0, GameId(2): 0})
    moves.add(before + after)
    assert (moves.of_game[GameId(1)], moves.short(None)) == ([(0, 1, 1)], {1})
    moves.add(pack_anew(GameId(1)) + before)
    assert (moves.of_game[GameId(1)], moves.short(None)) == ([(0, 1, 1)], set())


@pytest.mark.parametrize(
    ("problem", "short"),
    [
        (LogProblem(ProblemKind.DAMAGED, Path("log"), "", is_at_the_end=False), {2, 3}),
        (LogProblem(ProblemKind.DAMAGED, Path("log"), "", is_at_the_end=True), {1, 2, 3}),
    ],
    ids=["in the middle", "at the end too"],
)
def test_games_that_go_on_behind_what_is_lost_are_whole(
    problem: LogProblem, short: set[int]
) -> None:
    """Unless a move is missing in them, or something is lost at the end too."""
    moves = RunningMoves(dict.fromkeys(map(GameId, (1, 2, 3)), 0))
    moves.add(b"".join(pack_move(number, 0, 5, 1, 1) for number in (1, 2, 3)))
    moves.add(pack_move(1, 1, 6, 1, 1) + pack_move(2, 2, 7, 1, 1), gaps=1)
    assert moves.short(problem) == short
    assert len(moves.of_game[GameId(1)]) == 2


@pytest.mark.parametrize(("games", "share"), [(1, 1.1), (10, 2), (100, 2), (1000, 2)])
def test_beside_games_that_are_not_moved_in_the_journal_is_bounded(
    games: int, share: float
) -> None:
    """It is a small multiple of them, and so is what is written of what happens."""
    table = Table(1)
    slow = [table.start() for _ in range(games)]
    for _ in range(20):
        table.commit(*slow)
    live = MOVE_BYTES * sum(map(len, table.happened.values()))
    told, written = table.told, table.written
    for _ in range(10 * (AT_REST + live) // (100 * 28)):
        fast = table.start()
        for _ in range(20):
            table.commit(fast)
        table.end(fast)
        assert table.bytes <= AT_REST + 5 * live + 2 * LONGEST * MOVE_BYTES
    assert table.written - written <= share * (table.told - told)
    table.check()


def test_nothing_is_written_anew_while_everything_runs() -> None:
    """A journal that is twice what the games in it take stays as it is."""
    table = Table(2)
    games = [table.start() for _ in range(300)]
    for _ in range(3):
        table.commit(*games)
    written = table.written
    for _ in range(60):
        table.commit(*games)
    assert table.written - written <= 3 * (table.told - written)
    table.check()


def test_what_an_earlier_server_left_goes_too() -> None:
    """Its entries are deleted in the portions they were read in, once its games are written."""
    old = Table(1)
    games = [old.start() for _ in range(20)]
    for _ in range(50):
        old.commit(*games)
    ids = sorted(old.rows)
    kept = [
        KeptEntries(EntryKey(Epoch(1), EntryId(each.id + 1)), 1, size_of_entry(old.rows[each]))
        for each in ids
    ]
    new = Table(2, kept, epoch=2)
    new.rows, new.running = dict(old.rows), dict(old.running)
    new.happened = old.happened
    for game in games:
        game.segment = None
        new.compaction.add_restored(game)
    new._games = 1000
    fast = new.start()
    for _ in range(3000):
        new.commit(fast)
        if len(fast.arbiter.raw_ns) == LONGEST:
            new.end(fast)
            fast = new.start()
    assert all(key.epoch == 2 for key in new.rows)
    assert new.most_deleted <= 4
    new.check()
