"""Tallies: the games of each day counted, which runs and histories go on from."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from sqlalchemy import Connection, delete, func, insert, select

from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import DayTally, Ladder, LadderId, RatingDay


@dataclass(frozen=True, slots=True)
class TallyMark:
    """Where a ladder's tallies end."""

    day: date
    cutoff: int
    """The `end_sequence` of the last game in them."""
    chain: bytes
    """The chained SHA-256 of all games up to there."""


@dataclass(frozen=True, slots=True)
class KeptTally(TallyMark):
    """The games of a day, and what the ladder had come to after them."""

    games: int
    """Rated ones from the first day on."""
    repeats: int
    """Others from the first day on, which repeat them."""
    versions: bytes
    """Each version's state after the day."""
    counts: bytes
    """The day's rated games by players and opening."""


def last_mark(connection: Connection, ladder_id: LadderId) -> TallyMark | None:
    """Where the kept tallies of the ladder end; ``None`` where there are none."""
    query = (
        select(*columns_of(TallyMark, DayTally))
        .where(DayTally.ladder_id == ladder_id)
        .order_by(DayTally.day.desc())
        .limit(1)
    )
    return read_row(TallyMark, connection.execute(query))


def kept_tallies(connection: Connection, ladder_id: LadderId) -> Sequence[KeptTally]:
    """All kept tallies of the ladder, the first day first."""
    query = select(*columns_of(KeptTally, DayTally)).where(DayTally.ladder_id == ladder_id)
    return read_rows(KeptTally, connection.execute(query.order_by(DayTally.day)))


def last_versions(connection: Connection, ladder_id: LadderId) -> bytes:
    """Each version's state after the last kept tally of the ladder; empty where there is none."""
    query = select(DayTally.versions).where(DayTally.ladder_id == ladder_id)
    return connection.scalar(query.order_by(DayTally.day.desc()).limit(1)) or b""


def keep_tallies(
    connection: Connection,
    ladder_id: LadderId,
    tallies: Sequence[KeptTally],
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
    rows = [{"ladder_id": ladder_id, "rated_with": None, **asdict(tally)} for tally in tallies]
    connection.execute(insert(DayTally), rows)


def forget_tallies(connection: Connection, ladder_id: LadderId, end_sequence: int) -> None:
    """Forget the days, and their ratings, that a game has changed, and those after them."""
    changed = (DayTally.ladder_id == ladder_id, DayTally.cutoff >= end_sequence)
    first = connection.scalar(select(func.min(DayTally.day)).where(*changed))
    if first is not None:
        _forget_from(connection, ladder_id, first)


def _forget_from(connection: Connection, ladder_id: LadderId, day: date) -> None:
    for model in (DayTally, RatingDay):
        mine = delete(model).where(model.ladder_id == ladder_id, model.day >= day)
        connection.execute(mine)
