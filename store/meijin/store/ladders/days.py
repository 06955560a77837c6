"""Rating history: everybody's rating at the end of each day."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from sqlalchemy import Connection, delete, insert, select, tuple_, update

from meijin.store.bots import DISTINCT_LABEL
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import BotId, BotVersion, BotVersionId, Ladder, LadderId, RatingDay


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


def history_state(connection: Connection, ladder_id: LadderId) -> dict[str, Any] | None:
    """What the history was rebuilt from; ``None`` when it never was."""
    return connection.scalar(select(Ladder.history).where(Ladder.id == ladder_id))


def replace_history(
    connection: Connection,
    ladder_id: LadderId,
    days: Sequence[NewDayRating],
    state: dict[str, Any],
) -> None:
    """Put a rebuilt history in the place of the old one."""
    connection.execute(delete(RatingDay).where(RatingDay.ladder_id == ladder_id))
    if days:
        connection.execute(
            insert(RatingDay), [{"ladder_id": ladder_id, **asdict(day)} for day in days]
        )
    connection.execute(update(Ladder).where(Ladder.id == ladder_id).values(history=state))


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
