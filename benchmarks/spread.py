"""How measurements of the same thing differ: their median and quartiles."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some measurements, and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """The spread of at least one value; of one, itself."""
        found = list(values)
        if len(found) == 1:
            return cls(found[0], found[0], found[0])
        low, median, high = statistics.quantiles(found, n=4, method="inclusive")
        return cls(median, low, high)

    @classmethod
    def of_ratios(cls, values: Iterable[float], bases: Iterable[float]) -> "Spread":
        """The spread of the ratios of what was measured in turns, each to its neighbour."""
        return cls.of(value / base for value, base in zip(values, bases, strict=True))

    def columns(self, name: str) -> dict[str, float]:
        """The median by a name, and the quartiles beside it."""
        found = {name: self.median, f"{name}_low": self.low, f"{name}_high": self.high}
        return {column: _rounded(value) for column, value in found.items()}


def _rounded(value: float) -> float:
    return round(value, 1 if value >= 100 else 4)
