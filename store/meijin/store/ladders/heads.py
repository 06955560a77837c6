"""Heads of ladders: what binds all their games up to an end, short enough to be published."""

from dataclasses import dataclass, fields
from datetime import date
from typing import Self

from sqlalchemy import Connection, select

from meijin.store.schema import DayTally, Ladder, LadderId, RatingRun

MAGIC = "meijin-head"


@dataclass(frozen=True, slots=True)
class Head:
    """The chain of a ladder's games, written ``meijin-head`` and its fields with spaces between."""

    algorithm: str
    """Of the run, which says what is chained."""
    ladder: str
    day: date
    """That the last of the games counts for (UTC)."""
    cutoff: int
    """The `end_sequence` of the last of them."""
    games: int
    """The rated ones."""
    voided: int
    """How many finished games of the ladder had been voided."""
    chain: str
    """Their chained SHA-256, hexadecimal."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`.

        Raises:
            ValueError: it is no head.
        """
        magic, *words = text.split()
        if magic != MAGIC or len(words) != len(fields(cls)):
            raise ValueError(f'"{text}" is no head, which begins with {MAGIC} and has 8 words')
        algorithm, ladder, day, *numbers, chain = words
        cutoff, games, voided = map(int, numbers)
        return cls(algorithm, ladder, date.fromisoformat(day), cutoff, games, voided, chain)

    def __str__(self) -> str:
        return " ".join((MAGIC, *(str(getattr(self, each.name)) for each in fields(self))))


def head_of(connection: Connection, ladder_id: LadderId) -> Head | None:
    """The ladder's head after its published run; ``None`` where no tally is kept."""
    query = (
        select(
            RatingRun.algorithm,
            Ladder.name,
            DayTally.day,
            DayTally.cutoff,
            DayTally.games,
            Ladder.voided,
            DayTally.chain,
        )
        .select_from(Ladder)
        .join(RatingRun, RatingRun.id == Ladder.run_id)
        .join(DayTally, DayTally.ladder_id == Ladder.id)
        .where(Ladder.id == ladder_id)
        .order_by(DayTally.day.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return row and Head(*row[:-1], chain=row.chain.hex())
