"""A ladder's run: from its games to published ratings."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog
from sqlalchemy import Connection

from meijin.ladder.history import is_outdated, update_history
from meijin.ladder.rating_table import rate
from meijin.ladder.tally import Snapshot, Tally
from meijin.ladder.tally_cache import TallyCache
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.lineage import parents_of
from meijin.store.ladders.runs import NewRun, publish
from meijin.store.ladders.sequencer import sequence
from meijin.store.ladders.tallies import KeptTally, TallyMark, keep_tallies
from meijin.store.schema import LadderId

_log = structlog.get_logger()


def now() -> datetime:
    """The time of day, in UTC."""
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
    if database.read(lambda connection: ladders.is_dirty(connection, ladder_id)):
        sequence(database, ladder_id)
    found = database.read(lambda connection: _dirty_snapshot(connection, ladder_id, cache))
    run = None if found is None else _publish(database, *found, clock, cache)
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
    tally: Tally,
    clock: Callable[[], datetime],
    cache: TallyCache,
) -> NewRun | None:
    run = rate(snapshot, create_time=clock())
    kept = tally.to_keep()  # moves wait for the transaction
    if not database.write(lambda connection: _keep(connection, run, kept, after=tally.base)):
        return None
    cache.keep(run.ladder_id, tally)
    _log.info(
        "ladder published",
        ladder=snapshot.name,
        revision=run.revision,
        games=run.games,
        versions=len(run.ratings),
        seconds=round((clock() - run.create_time).total_seconds(), 3),
    )
    return run


def _keep(
    connection: Connection,
    run: NewRun,
    tallies: Sequence[KeptTally],
    *,
    after: TallyMark | None,
) -> bool:
    """Publish a run, and keep the tallies that the next one goes on from."""
    if not publish(connection, run):
        return False
    keep_tallies(connection, run.ladder_id, tallies, after=after, voided=run.voided)
    return True


def _dirty_snapshot(
    connection: Connection, ladder_id: LadderId, cache: TallyCache
) -> tuple[Snapshot, Tally] | None:
    ladder = ladders.ladder_row(connection, ladder_id)
    if ladder.revision <= ladder.run_revision:
        return None
    tally = cache.current(connection, ladder_id)
    anchors, parents = (
        ladders.anchors(connection, ladder_id),
        parents_of(connection, tally.versions),
    )
    return Snapshot.of(ladder, tally, anchors, parents), tally
