"""A ladder's run: from its games to published ratings."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog
from sqlalchemy import Connection

from meijin.ladder.final_order import state_final_order
from meijin.ladder.history import is_outdated, update_history
from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.tally import Snapshot, TallyCache
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.days import TallyMark, keep_tallies
from meijin.store.ladders.runs import NewRun, publish
from meijin.store.ladders.sequencer import sequence
from meijin.store.ladders.versions import parents_of
from meijin.store.schema import DayTally, LadderId

_log = structlog.get_logger()


def now() -> datetime:
    return datetime.now(UTC)


def refresh(
    database: Database,
    ladder_id: LadderId,
    clock: Callable[[], datetime] = now,
    cache: TallyCache | None = None,
) -> NewRun | None:
    """Take what has ended into the ladder's log, publish a run if it changed, see to its history.

    Running it twice, late or in two places at once does no harm. Nothing is
    locked while it computes.

    Args:
        cache: What this process has in memory of earlier runs.

    Returns:
        The run that was published, if one was.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    cache = cache or TallyCache()
    if database.read(ladders.is_dirty, ladder_id):
        sequence(database, ladder_id)
    found = database.read(_dirty_snapshot, ladder_id, cache)
    run = None if found is None else _publish(database, found, clock, cache)
    update_history(database, ladder_id, clock())
    return run


def due_ladders(connection: Connection, moment: datetime) -> list[LadderId]:
    """The ladders that `refresh` has something to do for: run, history, or both."""
    dirty = ladders.dirty_ladders(connection)
    published = ladders.published_ladders(connection)
    old = (key for key in published if is_outdated(connection, key, moment))
    return sorted({*dirty, *old})


def _publish(
    database: Database,
    snapshot: Snapshot,
    clock: Callable[[], datetime],
    cache: TallyCache,
) -> NewRun | None:
    run, tally = rate(snapshot, create_time=clock()), snapshot.tally
    kept = tally.to_keep()  # moves wait for the transaction
    if not database.write(_keep, run, kept, after=tally.base):
        return None
    cache.keep(run.ladder_id, tally)
    _log.info(
        "ladder published",
        ladder=snapshot.ladder.name,
        revision=run.revision,
        games=run.games,
        versions=len(run.ratings),
        seconds=round((clock() - run.create_time).total_seconds(), 3),
    )
    return run


def _keep(
    connection: Connection,
    run: NewRun,
    tallies: Sequence[DayTally],
    *,
    after: TallyMark | None,
) -> bool:
    """Publish a run, keep the tallies that the next one goes on from, and say what it settles."""
    if not publish(connection, run):
        return False
    keep_tallies(connection, run.ladder_id, tallies, after=after, voided=run.voided)
    state_final_order(connection, run.ladder_id)
    return True


def _dirty_snapshot(
    connection: Connection, ladder_id: LadderId, cache: TallyCache
) -> Snapshot | None:
    ladder = ladders.ladder_row(connection, ladder_id)
    if ladder.revision <= ladder.run_revision:
        return None
    tally = cache.current(connection, ladder_id, ALGORITHM)
    anchors = ladders.anchors(connection, ladder_id)
    return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))
