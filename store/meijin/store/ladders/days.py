"""Days of ladders: their games counted, which runs go on from, and the ratings at their ends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, tuple_, update

from meijin.store.bots import DISTINCT_LABEL
from meijin.store.rows import add_rows, columns_of, read_row, read_rows
from meijin.store.schema import (
    BotId,
    BotVersion,
    BotVersionId,
    CalibrationDay,
    DayTally,
    Ladder,
    LadderId,
    RatingDay,
    computed,
)


@dataclass(frozen=True, slots=True)
class TallyMark:
    """Where a ladder's tallies end."""

    day: date
    cutoff: int
    """The `end_sequence` of the last game in them."""
    chain: bytes
    """The chained SHA-256 of all games up to there."""


def last_mark(connection: Connection, ladder_id: LadderId) -> TallyMark | None:
    """Where the kept tallies of the ladder end; ``None`` where there are none."""
    query = (
        select(*columns_of(TallyMark, DayTally))
        .where(DayTally.ladder_id == ladder_id)
        .order_by(DayTally.day.desc())
        .limit(1)
    )
    return read_row(TallyMark, connection.execute(query))


def kept_tallies(connection: Connection, ladder_id: LadderId) -> Sequence[DayTally]:
    """All kept tallies of the ladder, the first day first."""
    query = select(DayTally).where(DayTally.ladder_id == ladder_id)
    return read_rows(DayTally, connection.execute(query.order_by(DayTally.day)))


def last_versions(connection: Connection, ladder_id: LadderId) -> bytes:
    """Each version's state after the last kept tally of the ladder; empty where there is none."""
    query = select(DayTally.versions).where(DayTally.ladder_id == ladder_id)
    return connection.scalar(query.order_by(DayTally.day.desc()).limit(1)) or b""


def keep_tallies(
    connection: Connection,
    ladder_id: LadderId,
    tallies: Sequence[DayTally],
    *,
    after: TallyMark | None,
    voided: int,
) -> None:
    """Put the tallies of some days, and of all after them, in the place of those kept.

    Nothing is kept when those that they went on from have changed, or a game was voided: the
    next run goes on from what is there. The transaction has to hold the ladder's row.

    Args:
        tallies: The first day first, which may be the last one that was kept.
        after: Where those ended that they went on from.
        voided: How many finished games of the ladder had been voided when they were counted.
    """
    now_voided = connection.scalar(select(Ladder.voided).where(Ladder.id == ladder_id))
    if not tallies or now_voided != voided or last_mark(connection, ladder_id) != after:
        return
    _forget_from(connection, ladder_id, tallies[0].day)
    add_rows(connection, (replace(each, ladder_id=ladder_id) for each in tallies))


def forget_tallies(connection: Connection, ladder_id: LadderId, end_sequence: int) -> None:
    """Forget the days, and their ratings, that a game has changed, and those after them."""
    changed = (DayTally.ladder_id == ladder_id, DayTally.cutoff >= end_sequence)
    first = connection.scalar(select(func.min(DayTally.day)).where(*changed))
    if first is not None:
        _forget_from(connection, ladder_id, first)


def _forget_from(connection: Connection, ladder_id: LadderId, day: date) -> None:
    for model in (DayTally, RatingDay, CalibrationDay):
        mine = delete(model).where(model.ladder_id == ladder_id, model.day >= day)
        connection.execute(mine)


class DayRating(RatingDay):
    """A version's rating by the games up to the end of a day, as it is listed."""

    version: str = computed(DISTINCT_LABEL)
    """The version's label, told apart from equal ones of the bot; may be empty."""


def unrated_days(
    connection: Connection, ladder_id: LadderId, *, before: date, rated_with: str
) -> Sequence[date]:
    """The days with a tally before another that have no ratings yet, or those of other rules."""
    other = or_(DayTally.rated_with.is_(None), DayTally.rated_with != rated_with)
    query = select(DayTally.day).where(
        DayTally.ladder_id == ladder_id, DayTally.day < before, other
    )
    return connection.scalars(query.order_by(DayTally.day)).all()


def keep_day(
    connection: Connection,
    ladder_id: LadderId,
    ratings: Sequence[RatingDay],
    calibration: Sequence[CalibrationDay],
    *,
    day: date,
    chain: bytes,
    rated_with: str,
) -> bool:
    """Keep what was made of a day, unless its games are others by now; tell whether.

    Args:
        ratings: At its end.
        calibration: Of its games.
    """
    mine: tuple[ColumnElement[bool], ...] = (
        DayTally.ladder_id == ladder_id,
        DayTally.day == day,
        DayTally.chain == chain,
    )
    claim = update(DayTally).where(*mine).values(rated_with=rated_with)
    if not connection.execute(claim).rowcount:
        return False
    for model in (RatingDay, CalibrationDay):
        old = delete(model).where(model.ladder_id == ladder_id, model.day == day)
        connection.execute(old)
    add_rows(connection, (replace(each, ladder_id=ladder_id) for each in ratings))
    add_rows(connection, (replace(each, ladder_id=ladder_id) for each in calibration))
    return True


def kept_history(
    connection: Connection, ladder_id: LadderId
) -> Sequence[RatingDay | CalibrationDay]:
    """All ratings and all calibration of the ladder's days."""
    found: list[RatingDay | CalibrationDay] = []
    for model in (RatingDay, CalibrationDay):
        query = select(model.__table__).where(model.ladder_id == ladder_id).order_by(model.day)
        found += read_rows(model, connection.execute(query))
    return found


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Games of all days whose favourites were told about the same score."""

    bin: int
    games: int
    expected: float
    """The points that the favourites were told."""
    points: float
    """Those that they made."""


def last_foretold_day(connection: Connection, ladder_id: LadderId) -> date | None:
    mine = CalibrationDay.ladder_id == ladder_id
    return connection.scalar(select(func.max(CalibrationDay.day)).where(mine))


def calibration(
    connection: Connection, ladder_id: LadderId, since: date = date.min
) -> tuple[Sequence[date], Sequence[CalibrationBin]]:
    """The days whose games were foretold, oldest first, and these games by what was told."""
    mine = and_(CalibrationDay.ladder_id == ladder_id, CalibrationDay.day >= since)
    days = select(CalibrationDay.day).where(mine).distinct().order_by(CalibrationDay.day)
    columns = (
        func.sum(getattr(CalibrationDay, name)).label(name)
        for name in ("games", "expected", "points")
    )
    bins = select(CalibrationDay.bin, *columns).where(mine).group_by(CalibrationDay.bin)
    found = read_rows(CalibrationBin, connection.execute(bins.order_by(CalibrationDay.bin)))
    return connection.scalars(days).all(), found


def rating_history(
    connection: Connection,
    ladder_id: LadderId,
    bot_id: BotId,
    *,
    limit: int = 100,
    before: tuple[date, BotVersionId] | None = None,
) -> Sequence[DayRating]:
    """At most `limit` ratings of the bot's versions, newest day and version first.

    Args:
        before: The day and version of the last line of the page before.
    """
    query = (
        select(*columns_of(DayRating))
        .select_from(RatingDay)
        .join(BotVersion, BotVersion.id == RatingDay.version_id)
        .where(RatingDay.ladder_id == ladder_id, BotVersion.bot_id == bot_id)
    )
    if before is not None:
        query = query.where(tuple_(RatingDay.day, RatingDay.version_id) < before)
    query = query.order_by(RatingDay.day.desc(), RatingDay.version_id.desc()).limit(limit)
    return read_rows(DayRating, connection.execute(query))
