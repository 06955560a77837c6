"""Rating history of a ladder by days, rebuilt from its games."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import structlog
from sqlalchemy import Connection

from meijin.ladder.rating_table import ALGORITHM, DIGITS, Pool, columns
from meijin.ladder.statistics.pair_counts import PairCounts
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.days import NewDayRating, history_state, replace_history
from meijin.store.ladders.lineage import ParentOf, parents_of
from meijin.store.ladders.rated_games import CountedPairs, DayCount, day_counts
from meijin.store.schema import BotVersionId, LadderId

DAY_CLOSE_DELAY = timedelta(minutes=10)
"""After so long a day is taken as over: a game that ended just before is committed a little later."""

_log = structlog.get_logger()


def is_outdated(connection: Connection, ladder_id: LadderId, now: datetime) -> bool:
    """Whether `rebuild_history` has something to do."""
    return _new_state(connection, ladder_id, now) is not None


def rebuild_history(database: Database, ladder_id: LadderId, now: datetime) -> bool:
    """Compute a ladder's ratings at the end of each day that is over, if they have changed.

    They have when a day has ended, when a game of the past was voided or the anchors were
    changed, and when the algorithm is another one. Nothing of an old history is kept.

    Returns:
        Whether there was something to rebuild.
    """
    work = database.read(lambda connection: _work(connection, ladder_id, now))
    if work is None:
        return False
    state, days, parents = work
    ratings = list(_day_ratings(days, state["anchors"], parents))
    database.write(lambda connection: replace_history(connection, ladder_id, ratings, state))
    _log.info("ladder history rebuilt", ladder_id=ladder_id, days=len({r.day for r in ratings}))
    return True


def _work(
    connection: Connection, ladder_id: LadderId, now: datetime
) -> tuple[dict[str, Any], Sequence[DayCount], Sequence[ParentOf]] | None:
    """What a history of now is made from, its games, and the parents of who played them.

    ``None`` if the kept one is that.
    """
    state = _new_state(connection, ladder_id, now)
    if state is None:
        return None
    today = _today(now)
    days = [row for row in day_counts(connection, ladder_id) if row.day < today]
    return state, days, parents_of(connection, {each for row in days for each in row.pair[:2]})


def _new_state(connection: Connection, ladder_id: LadderId, now: datetime) -> dict[str, Any] | None:
    """Everything that a history follows from but the games; ``None`` if the kept one's is that."""
    state = {
        "algorithm": ALGORITHM,
        "before": _today(now).isoformat(),
        "voided": ladders.voided_games(connection, ladder_id),
        "anchors": list(ladders.anchors(connection, ladder_id)),
    }
    return None if history_state(connection, ladder_id) == state else state


def _today(now: datetime) -> date:
    """The first day (UTC) that is not over."""
    return (now - DAY_CLOSE_DELAY).date()


def _day_ratings(
    rows: Sequence[DayCount], anchors: Sequence[BotVersionId], parents: Sequence[ParentOf]
) -> Iterator[NewDayRating]:
    """Everyone's rating at the end of each day, by all games up to then."""
    so_far: PairCounts | None = None
    parent, last_days = dict[int, int](parents), dict[int, date]()
    for day, group in groupby(rows, key=attrgetter("day")):
        counts = columns(CountedPairs.of(row.pair for row in group))
        so_far = counts.merged() if so_far is None else so_far.joined(counts).merged()
        last_days |= dict.fromkeys(counts.players.tolist(), day)
        pool = Pool.of(so_far, anchors, parents=parent, last_days=last_days)
        lines = zip(
            pool.fit.players.tolist(),
            np.round(pool.elo(), DIGITS).tolist(),
            np.round(pool.margins(), DIGITS).tolist(),
            pool.scores.games.tolist(),
            strict=True,
        )
        for version, elo, margin, games in lines:
            yield NewDayRating(day, BotVersionId(version), elo, margin, games)
