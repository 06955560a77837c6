"""Rating history: everybody's rating at the end of each day."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, tuple_, update

from meijin.store.bots import DISTINCT_LABEL
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    BotId,
    BotVersion,
    BotVersionId,
    DayTally,
    LadderId,
    RatingDay,
)


@dataclass(frozen=True, slots=True)
class NewDayRating:
    """A version's rating by the games up to the end of a day, to be kept."""

    day: date
    version_id: BotVersionId
    elo: float
    margin: float
    games: int


@dataclass(frozen=True, slots=True)
class DayRating(NewDayRating):
    """A version's rating by the games up to the end of a day, as it was kept."""

    version: str
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
    ratings: Sequence[NewDayRating],
    *,
    day: date,
    chain: bytes,
    rated_with: str,
) -> bool:
    """Keep the ratings at the end of a day, unless its games are others by now; tell whether."""
    mine: tuple[ColumnElement[bool], ...] = (
        DayTally.ladder_id == ladder_id,
        DayTally.day == day,
        DayTally.chain == chain,
    )
    claim = update(DayTally).where(*mine).values(rated_with=rated_with)
    if not connection.execute(claim).rowcount:
        return False
    old = delete(RatingDay).where(RatingDay.ladder_id == ladder_id, RatingDay.day == day)
    connection.execute(old)
    if ratings:
        rows = [{"ladder_id": ladder_id, **asdict(rating)} for rating in ratings]
        connection.execute(insert(RatingDay), rows)
    return True


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
        select(*columns_of(DayRating, RatingDay, version=DISTINCT_LABEL))
        .select_from(RatingDay)
        .join(BotVersion, BotVersion.id == RatingDay.version_id)
        .where(RatingDay.ladder_id == ladder_id, BotVersion.bot_id == bot_id)
    )
    if before is not None:
        query = query.where(tuple_(RatingDay.day, RatingDay.version_id) < before)
    query = query.order_by(RatingDay.day.desc(), RatingDay.version_id.desc()).limit(limit)
    return read_rows(DayRating, connection.execute(query))
