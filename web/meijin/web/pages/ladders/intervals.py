"""Interval bars: each line's 95 % interval, all on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from meijin.v1 import ladder_service_pb2 as pb

WIDTH = 200
"""Of a bar's picture."""
STEP = 50
"""Elo; the scale ends on multiples of it."""
MEAN = 1500


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval as its picture has it."""

    start: int
    length: int
    elo: int
    """Where the rating itself is."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The ratings that bars are drawn between."""

    low: int
    high: int

    @classmethod
    def of(cls, rows: Sequence[pb.Standing]) -> Self:
        """One on which all ratings, and the intervals of the established, are whole.

        Where nobody is established all intervals are.
        """
        sure = [row for row in rows if row.linked and not row.provisional] or rows
        ends = [row.elo for row in rows]
        ends += [row.elo - row.margin for row in sure] + [row.elo + row.margin for row in sure]
        if not ends:
            return cls(MEAN - STEP, MEAN + STEP)
        low, high = int(min(ends) // STEP), int(-(-max(ends) // STEP))
        return cls(low * STEP, max(high, low + 1) * STEP)

    @property
    def mean(self) -> int | None:
        """Where 1500 is; ``None`` where that is off the scale."""
        return self._place(MEAN) if self.low <= MEAN <= self.high else None

    def bar(self, row: pb.Standing) -> Bar:
        """A line's bar; an interval that ends off the scale is cut."""
        start, end = self._place(row.elo - row.margin), self._place(row.elo + row.margin)
        return Bar(start, max(end - start, 1), self._place(row.elo))

    def _place(self, elo: float) -> int:
        share = (elo - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0))
