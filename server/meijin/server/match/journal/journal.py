"""The journal: group commits, so that nobody hears of a move before it is stored.

Where the database is an SQLite file the moves go to the log beside it, and starts, ends and all the
rest to the database, each without waiting for the other; on PostgreSQL all go to the database.
"""

import itertools
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence

from meijin.game import OpeningAction, Placement, encode_action, is_stone
from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import Batch, CommitWatch, GroupCommit
from meijin.server.match.journal.log_commit import LogCommit
from meijin.server.match.journal.store_commit import StoreCommit
from meijin.server.match.live.commands import Analysis
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.segments import Segments
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Writer
from meijin.store.access.audit import Act
from meijin.store.fence import Fence
from meijin.store.journal import KeptEntries, pack_move
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.schema import EntryId, Fault
from meijin.store.tournaments import TournamentEnd
from meijin.store.voids import GameVoid


class Journal:
    """Has everything committed that happens, and told of after that.

    Args:
        kept: The entries of moves that are kept for the running games.
        move_log: Takes the moves; without one the database does.
    """

    def __init__(
        self,
        writer: Writer,
        fence: Fence,
        store_watch: StoreWatch,
        *,
        last_entry: EntryId,
        last_end: int,
        kept: Sequence[KeptEntries] = (),
        move_log: MoveLog | None = None,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        self.commits = commits = CommitWatch(tracer)
        """The commits, for the metrics."""
        self._ends = itertools.count(last_end + 1)
        self._compaction = Compaction(Segments(kept))
        self._log = None
        if move_log is not None:
            self._log = LogCommit(move_log, self._compaction, fence, store_watch, commits)
        self._store = StoreCommit(
            writer,
            fence,
            store_watch,
            commits,
            first_entry=EntryId(last_entry + 1),
            compaction=None if self._log else self._compaction,
        )
        self.moves: GroupCommit = self._log or self._store
        """What commits the moves."""
        self._all = [self._store] if self._log is None else [self._store, self._log]

    # -- what is collected --------------------------------------------------------------

    def add_moves(self, moves: Iterable[tuple[LiveGame, int, int]]) -> None:
        """Add games that go on, each with the ply and the cell of the move just made in it.

        All moves of a message at once: a call for each would take a tenth of judging it.
        """
        batch = self.moves.batch
        packed, moved = batch.entry.moves, batch.moved
        try:
            for game, ply, cell in moves:
                arbiter = game.arbiter
                packed += pack_move(game.id, ply, cell, arbiter.raw_ns[-1], arbiter.charged_ns[-1])
                moved.append(game)
        finally:
            self.moves.wake()

    def add_action(self, game: LiveGame, ply: int, action: OpeningAction) -> None:
        """Add a game that goes on after an action of its opening."""
        batch, arbiter = self.moves.batch, game.arbiter
        codes = encode_action(action)
        if isinstance(action, Placement):
            first = -len(codes)
            raw_ns, charged_ns = arbiter.raw_ns[first], arbiter.charged_ns[first]
        else:
            raw_ns, charged_ns = arbiter.decision_ns[-1]
        for code in codes:
            batch.entry.moves += pack_move(game.id, ply, code, raw_ns, charged_ns)
            raw_ns = charged_ns = 0  # the first code has the time of them all
            ply += is_stone(code)
        batch.opened.append(game)
        self.moves.wake()

    def add_analysis(self, game: LiveGame, ply: int, analysis: Analysis) -> None:
        self.moves.batch.entry.add_analysis(game.id, ply, analysis)

    def add_start(self, game: LiveGame) -> None:
        self._compaction.add_start(game)
        if self._log is not None:
            self._log.silent_games += 1
        self._store.batch.entry.starts.append(game.to_start())
        self._store.batch.started.append(game)
        self._store.wake()

    def add_restored(self, game: LiveGame) -> None:
        """Keep the entries of a game of an earlier server, which goes on."""
        self._compaction.add_restored(game)

    def add_end(self, game: LiveGame) -> None:
        self._store.batch.entry.ends.append(game.to_end(next(self._ends)))
        self._store.batch.ended.append(game)
        self._store.wake()

    def add_void(self, void: GameVoid) -> None:
        """Add a finished game, whose end is stored, that is to count no more."""
        self._store.batch.entry.voids.append(void)
        self._store.wake()

    def add_incident(self, incident: Fault) -> None:
        self._store.batch.entry.incidents.append(incident)
        self._store.wake()

    def add_act(self, act: Act) -> None:
        """Add what an operator did to a game whose end or void was just added."""
        self._store.batch.entry.acts.append(act)

    def add_tournament_end(self, end: TournamentEnd) -> None:
        self._store.batch.entry.finished_tournaments.append(end)
        self._store.wake()

    async def drained(self) -> None:
        """Wait until everything that was added so far is committed and released."""
        batches = [commits.batch for commits in self._all]
        for commits in self._all:
            commits.wake()
        for batch in batches:
            await batch.released.wait()

    # -- what is committed --------------------------------------------------------------

    def tasks(
        self, release: Callable[[Batch], None], running: Collection[LiveGame]
    ) -> list[Coroutine[None, None, None]]:
        """What commits until it is cancelled; the arguments as in `GroupCommit.run`."""

        def released(batch: Batch) -> None:
            if self._log is not None:
                self._log.silent_games -= len(batch.started)
            self._compaction.forget(batch.ended)
            release(batch)

        watch = [] if self._log is None else [self._log.watch()]
        return [*(commits.run(released, running) for commits in self._all), *watch]

    def log_mark(self) -> LogMark | None:
        """What is acknowledged in the log of moves by now; ``None`` without one."""
        return None if self._log is None else self._log.mark

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
