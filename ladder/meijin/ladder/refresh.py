"""A ladder's run: from a snapshot of its games to published ratings."""

from collections.abc import Callable
from datetime import UTC, datetime

import structlog
from sqlalchemy import Connection

from meijin.ladder.history import is_outdated, rebuild_history
from meijin.ladder.rating_table import rate
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.rated_games import Snapshot
from meijin.store.ladders.rated_games import snapshot as snapshot_of
from meijin.store.ladders.runs import NewRun, publish
from meijin.store.schema import LadderId

_log = structlog.get_logger()


def now() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


def refresh(
    database: Database, ladder_id: LadderId, clock: Callable[[], datetime] = now
) -> NewRun | None:
    """Publish a new run of the ladder if it is dirty, and see to its history.

    Running it twice, late or in two places at once does no harm. Nothing is
    locked while it computes.

    Returns:
        The run that was published, if one was.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    snapshot = database.read(lambda connection: _dirty_snapshot(connection, ladder_id))
    run = None if snapshot is None else _publish(database, snapshot, clock)
    rebuild_history(database, ladder_id, clock())
    return run


def due_ladders(connection: Connection, moment: datetime) -> list[LadderId]:
    """The ladders that `refresh` has something to do for: run, history, or both."""
    dirty = ladders.dirty_ladders(connection)
    published = ladders.published_ladders(connection)
    old = (key for key in published if is_outdated(connection, key, moment))
    return sorted({*dirty, *old})


def _publish(
    database: Database, snapshot: Snapshot, clock: Callable[[], datetime]
) -> NewRun | None:
    run = rate(snapshot, create_time=clock())
    if not database.write(lambda connection: publish(connection, run)):
        return None
    _log.info(
        "ladder published",
        ladder=snapshot.name,
        revision=run.revision,
        games=run.games,
        versions=len(run.ratings),
        seconds=round((clock() - run.create_time).total_seconds(), 3),
    )
    return run


def _dirty_snapshot(connection: Connection, ladder_id: LadderId) -> Snapshot | None:
    if not ladders.is_dirty(connection, ladder_id):
        return None
    return snapshot_of(connection, ladder_id, ladders.anchors(connection, ladder_id))
