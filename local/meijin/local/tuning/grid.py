"""The grid: values evenly over the range of each parameter, all of them against one another.

In simulated tunings of 500 pairs the interval of the best value was 15 % (of 300 Elo between the
middle and the ends) to 45 % narrower by games of two points by lot than by games of each point
against the starting values, which lose what they tell when these are far behind.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from meijin.local.tuning.fit import Floats, Observations, term_count
from meijin.local.tuning.parameter import Parameter
from meijin.local.tuning.trial import Trial, Values

LEAST_LEVELS = 3
"""Values of a parameter: with two there is no curve."""
MOST_POINTS = 1000
PAIRS_A_TERM = 10
"""The least that a curve is fitted by."""


class Grid:
    """Points, and which two of them meet in a trial."""

    def __init__(
        self, parameters: Sequence[Parameter], levels: Sequence[Sequence[float]], *, seed: int
    ) -> None:
        """Have all points of these values of each parameter."""
        self.parameters = parameters
        self._seed = seed
        self._points = list(product(*levels))
        self._turn, self._order = -1, list(range(len(self._points)))

    def trial(self, number: int) -> Trial:
        """A pair of games of two points: in each turn of them all, no point plays twice."""
        one, two = (self._values(self._points[index]) for index in self._indices(number))
        return Trial(number, one, two)

    def observed(self, results: Mapping[int, float]) -> Observations:
        """The results of trials, as they are fitted."""
        numbers = sorted(results)
        sides = np.array([self._indices(number) for number in numbers])
        points = np.array(self._points)
        plus, minus = (self.scaled(points[sides[:, side]]) for side in range(2))
        score = np.array([(results[number] + 2) / 4 for number in numbers])
        return Observations(plus, minus, score)

    def scaled(self, values: Floats) -> Floats:
        """Values with each range made -1 to 1; shape (..., k)."""
        middle, half = self._ranges()
        scaled: Floats = (values - middle) / half
        return scaled

    def values(self, scaled: Floats) -> Floats:
        """The values that are so when scaled; shape (..., k)."""
        middle, half = self._ranges()
        values: Floats = middle + half * scaled
        return values

    def _ranges(self) -> tuple[Floats, Floats]:
        low, high = np.array([(each.low, each.high) for each in self.parameters]).T
        return (low + high) / 2, (high - low) / 2

    def _indices(self, number: int) -> tuple[int, int]:
        turn, place = divmod(number, len(self._points) // 2)
        if turn != self._turn:
            self._turn, self._order = turn, list(range(len(self._points)))
            random.Random(f"{self._seed}:grid:{turn}").shuffle(self._order)  # noqa: S311 - no secret
        return self._order[2 * place], self._order[2 * place + 1]

    def _values(self, point: Sequence[float]) -> Values:
        return {
            parameter.name: parameter.text(value)
            for parameter, value in zip(self.parameters, point, strict=True)
        }


def grid_levels(parameters: Sequence[Parameter], count: int, pairs: int) -> list[list[float]]:
    """So many values of each parameter from end to end, evenly; of integers at most all there are.

    Raises:
        ValueError: a parameter has too few values, there are too many points, or too few pairs.
    """
    if count ** len(parameters) > MOST_POINTS:
        raise ValueError(
            f"--grid {count} makes {count ** len(parameters)} points, and at most {MOST_POINTS} are "
            "played: give fewer values, or tune by SPSA, without --grid"
        )
    least = PAIRS_A_TERM * term_count(len(parameters))
    if pairs < least:
        raise ValueError(
            f"{2 * pairs} games are too few for a curve of {term_count(len(parameters))} terms; "
            f"give --games {2 * least} or more"
        )
    levels = [_levels(parameter, count) for parameter in parameters]
    for parameter, own in zip(parameters, levels, strict=True):
        if len(own) < LEAST_LEVELS:
            raise ValueError(
                f"{parameter.name} has {len(own)} values, and a curve needs {LEAST_LEVELS}: "
                "give a wider range, or play its values by `meijin play`"
            )
    return levels


def _levels(parameter: Parameter, count: int) -> list[float]:
    width = parameter.high - parameter.low
    found = (parameter.low + width * step / (count - 1) for step in range(count))
    return sorted({float(parameter.text(value)) for value in found})
