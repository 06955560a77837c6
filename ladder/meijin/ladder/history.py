"""Rating history of a ladder by days, computed from the tallies of the days that are over.

The games of each day are held out from the ratings before it, and tell how good those are.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import numpy as np
import structlog
from sqlalchemy import Connection

from meijin.ladder.pool import DIGITS, Pool
from meijin.ladder.rating_table import ALGORITHM
from meijin.ladder.statistics.diagnosis.calibration import Calibration
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import NO_COUNTS, PairCounts
from meijin.ladder.tally import counts_of, last_days_of, versions_of
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.days import keep_day, kept_tallies, unrated_days
from meijin.store.ladders.versions import ParentOf, parents_of
from meijin.store.schema import BotVersionId, CalibrationDay, DayTally, LadderId, RatingDay

DAY_CLOSE_DELAY = timedelta(minutes=10)
"""After so long a day is taken as over: a game that ended just before is committed a little later."""

_log = structlog.get_logger()


def is_outdated(connection: Connection, ladder_id: LadderId, now: datetime) -> bool:
    return bool(_work(connection, ladder_id, now)[1])


def update_history(database: Database, ladder_id: LadderId, now: datetime) -> bool:
    """Compute a ladder's ratings at the end of each day that is over and has none yet.

    A day has none when it is over just now, when a game up to it was voided, and when the
    anchors or the algorithm are others than those it was rated with. No game is read.

    Returns:
        Whether there was something to compute.
    """
    anchors, days = database.read(_work, ladder_id, now)
    if not days:
        return False
    tallies, parents = database.read(_tallies, ladder_id)
    rated_with = rules_of(anchors)
    for tally, ratings, calibration in rated_days(
        tallies, set(days), anchors, dict[int, int](parents)
    ):
        database.write(
            keep_day,
            ladder_id,
            ratings,
            calibration,
            day=tally.day,
            chain=tally.chain,
            rated_with=rated_with,
        )
    _log.info("ladder history brought up to date", ladder_id=ladder_id, days=len(days))
    return True


def _tallies(
    connection: Connection, ladder_id: LadderId
) -> tuple[Sequence[DayTally], Sequence[ParentOf]]:
    """What is kept of the ladder's days, and the parents of who played on them."""
    tallies = kept_tallies(connection, ladder_id)
    versions = versions_of(tallies[-1].versions) if tallies else ()
    return tallies, parents_of(connection, versions)


def _work(
    connection: Connection, ladder_id: LadderId, now: datetime
) -> tuple[Sequence[BotVersionId], Sequence[date]]:
    """The ladder's anchors, and the days to be rated."""
    anchors = ladders.anchors(connection, ladder_id)
    today = (now - DAY_CLOSE_DELAY).date()  # the first that is not over
    return anchors, unrated_days(connection, ladder_id, before=today, rated_with=rules_of(anchors))


def rules_of(anchors: Sequence[BotVersionId]) -> str:
    """A hash of what a day's ratings follow from but its games."""
    return hashlib.sha256(f"{ALGORITHM} calibrated {[*anchors]}".encode()).hexdigest()


def rated_days(
    tallies: Sequence[DayTally],
    wanted: set[date],
    anchors: Sequence[BotVersionId],
    parents: Mapping[int, int],
) -> Iterator[tuple[DayTally, list[RatingDay], list[CalibrationDay]]]:
    """Everyone's rating at the end of each wanted day, and what its games came to.

    The ratings are by all games up to then, and there is none for a day on which nothing but
    repeats was played. What is foretold is so by the games before.
    """
    so_far, fitted = NO_COUNTS, None
    waiting: list[PairCounts] = []
    for tally in tallies:
        games = counts_of(tally.counts)
        if tally.day not in wanted:
            waiting.append(games)
            continue
        if waiting:
            so_far, waiting = so_far.joined(*waiting).merged(), []
            fitted = fit_with_widths(so_far, Lineage.nearest(parents, so_far.players))
        foretold = None if fitted is None else Calibration.of(fitted, games)
        so_far = so_far.joined(games).merged()
        last_days = last_days_of(versions_of(tally.versions))
        pool = Pool.of(so_far, anchors, parents=parents, last_days=last_days)
        fitted = pool.fit
        yield tally, _ratings(tally, pool), _calibration(tally, foretold)


def _ratings(tally: DayTally, pool: Pool) -> list[RatingDay]:
    lines = zip(
        pool.fit.players.tolist(),
        np.round(pool.elo, DIGITS).tolist(),
        np.round(pool.margin, DIGITS).tolist(),
        pool.scores.games.tolist(),
        strict=True,
    )
    return [
        RatingDay(day=tally.day, version_id=version, elo=elo, margin=margin, games=games)
        for version, elo, margin, games in (lines if tally.counts else ())
    ]


def _calibration(tally: DayTally, found: Calibration | None) -> list[CalibrationDay]:
    if found is None:
        return []
    expected = np.round(found.expected, DIGITS).tolist()
    rows = zip(found.games.astype(int).tolist(), expected, found.points.tolist(), strict=True)
    return [
        CalibrationDay(day=tally.day, bin=place, games=games, expected=told, points=points)
        for place, (games, told, points) in enumerate(rows)
        if games
    ]
