"""SPSA: values walk to where pairs of games against their own neighbours are won.

Simultaneous perturbation stochastic approximation, by J. C. Spall, "Implementation of the
simultaneous perturbation algorithm for stochastic optimization", IEEE Transactions on Aerospace and
Electronic Systems 34 (1998), 817-823; with the gains as fishtest has them, by a step and a rate at
the end (https://github.com/official-stockfish/fishtest, "SPSA").
"""

import math
import random
from collections.abc import Sequence
from itertools import count
from statistics import pstdev

from meijin.local.tuning.parameter import Parameter
from meijin.local.tuning.trial import Trial

ALPHA, GAMMA = 0.602, 0.101
"""How fast rate and step fall; Spall's."""
STABILITY = 0.1
"""Spall's A, as a share of all pairs: the first steps are not too long by it."""
STEP_SHARE = 0.1
"""The last step as a share of the range. With it, and with a rate of 1/sqrt(pairs), simulated
tunings from near an end of the range came within 5 % of it of the best value: by 200 pairs where
the range's middle is 300 Elo better than its ends, by 2000 where it is 100, by 20,000 where 20."""
LEAST_STEP = 0.5
"""Of integers, so that the two neighbours differ."""
RECENT = 0.25
"""The share of the path whose spread is told."""


class Spsa:
    """The walk; the same results give the same values, in whatever order they come.

    A trial is a pair of games between neighbours of the current values. Up to `window` trials are
    played at once: a trial is around the values that all but the last `window` - 1 trials before it
    have led to, whether or not more are known.
    """

    def __init__(
        self, parameters: Sequence[Parameter], pairs: int, *, seed: int, window: int
    ) -> None:
        self.parameters = parameters
        self.numbers = range(pairs)
        self.pairs = pairs
        self.path = [tuple(parameter.start for parameter in parameters)]
        """The values after each trial, the start first."""
        self._seed = seed
        self._window = window
        self._results: dict[int, float] = {}
        """Of trials before which another is not over yet."""

    @property
    def values(self) -> tuple[float, ...]:
        return self.path[-1]

    @property
    def done(self) -> int:
        return len(self.path) - 1

    @property
    def is_over(self) -> bool:
        return len(self.path) > self.pairs

    @property
    def open_trials(self) -> list[Trial]:
        done = self.done
        numbers = range(done, min(done + self._window, self.pairs))
        return [self._trial(number) for number in numbers if number not in self._results]

    def note(self, number: int, result: float) -> None:
        done = self.done
        if number in self._results or not done <= number < min(done + self._window, self.pairs):
            raise ValueError(f"pair {number} is not open")
        self._results[number] = result
        for next_number in count(done):
            if next_number not in self._results:
                return
            self._move(next_number, self._results.pop(next_number))

    def spread(self) -> tuple[float, ...]:
        """How far the values have varied lately: the standard deviation over the last quarter."""
        recent = self.path[-max(1, int(RECENT * len(self.path))) :]
        return tuple(map(pstdev, zip(*recent, strict=True)))

    def step(self, parameter: Parameter, number: int) -> float:
        """How far the neighbours of a trial are from the values."""
        last = STEP_SHARE * (parameter.high - parameter.low)
        if parameter.is_integer:
            last = max(LEAST_STEP, last)
        growth: float = (self.pairs / (number + 1)) ** GAMMA
        return last * growth

    def rate(self, number: int) -> float:
        """The share of its step that values move for a point."""
        stability = STABILITY * self.pairs
        falling = (stability + self.pairs) / (stability + number + 1)
        rate: float = falling**ALPHA * ((number + 1) / self.pairs) ** (2 * GAMMA)
        return rate / math.sqrt(self.pairs)

    def _draw(self, number: int) -> list[tuple[int, float]]:
        """The direction of each parameter in a trial, and how its integers are rounded."""
        rng = random.Random(f"{self._seed}:{number}")  # noqa: S311 - no secret
        return [(rng.choice((-1, 1)), rng.random()) for _ in self.parameters]

    def _trial(self, number: int) -> Trial:
        base = self.path[max(0, number - self._window + 1)]
        plus, minus = {}, {}
        for parameter, value, (direction, fraction) in zip(
            self.parameters, base, self._draw(number), strict=True
        ):
            step = direction * self.step(parameter, number)
            plus[parameter.name] = parameter.text(parameter.clipped(value + step), fraction)
            minus[parameter.name] = parameter.text(parameter.clipped(value - step), fraction)
        return Trial(number, plus, minus)

    def _move(self, number: int, result: float) -> None:
        moved = result * self.rate(number)
        self.path.append(
            tuple(
                parameter.clipped(value + direction * moved * self.step(parameter, number))
                for parameter, value, (direction, _) in zip(
                    self.parameters, self.values, self._draw(number), strict=True
                )
            )
        )
