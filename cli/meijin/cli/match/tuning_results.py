"""What `meijin tune` has found: the values, their tables and pictures, and an estimate by games."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from meijin.cli.errors import CommandError
from meijin.cli.ladder.history import figures
from meijin.cli.tables import number, table, text
from meijin.ladder.statistics.sequential.sprt import Estimate, elo_beyond, estimate_of_match
from meijin.local.tuning.fit import Fit, fit, level_elo
from meijin.local.tuning.grid import Grid
from meijin.local.tuning.parameter import Parameter
from meijin.local.tuning.spsa import Spsa
from meijin.local.tuning.trial import Schedule, Trial, Trials, Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 32
"""Characters of a path or a curve."""
SAMPLES = 65
"""Points of a curve."""
DOUBT = 0.05
"""Results are no sign of a difference that come as often without one."""
MISFIT = 0.01
"""A curve is called wrong where it would seem so in one tuning of a hundred in which it is right."""
EDGE = 1 - 1e-6
RESULTS = range(-2, 3)
"""Points of plus less those of minus in a pair."""


class Search(ABC):
    """A way to better values, as far as it has come."""

    method: str

    def __init__(self, trials: Trials, parameters: Sequence[Parameter]) -> None:
        self.trials = trials
        self.parameters = parameters

    @property
    def done(self) -> int:
        """Pairs that count."""
        return self.trials.done

    @property
    @abstractmethod
    def values(self) -> Sequence[float]:
        """The values that it has come to."""

    @abstractmethod
    def standing(self) -> str:
        """The values in a line."""

    def fields(self) -> dict[str, object]:
        """What it has found, for programs."""
        rows = zip(self.parameters, self._details(), strict=True)
        return {
            "method": self.method,
            "games": 2 * self.done,
            "parameters": [
                {
                    "name": each.name,
                    "low": each.low,
                    "high": each.high,
                    "start": each.start,
                    "value": self.found[each.name],
                    **details,
                }
                for each, details in rows
            ],
            "doubts": self.doubts(),
        }

    @abstractmethod
    def _details(self) -> list[dict[str, object]]:
        """Of each parameter, besides its name and its range."""

    @abstractmethod
    def table(self, title: str) -> Table: ...

    @abstractmethod
    def doubts(self) -> list[str]:
        """Why the values may not be better ones, a line each."""

    @abstractmethod
    def draw(self, axes: "Axes", index: int) -> None:
        """Draw a parameter's part of the picture."""

    @property
    def found(self) -> Values:
        """The values as the side is given them."""
        return {
            each.name: each.text(value)
            for each, value in zip(self.parameters, self.values, strict=True)
        }

    @property
    def start(self) -> Values:
        """Those that it has begun with."""
        return {each.name: each.text(each.start) for each in self.parameters}


class Walk(Search):
    """By SPSA."""

    method = "spsa"

    def __init__(self, spsa: Spsa) -> None:
        super().__init__(spsa, spsa.parameters)
        self._spsa = spsa

    @property
    def values(self) -> Sequence[float]:
        return self._spsa.values

    def standing(self) -> str:
        return ", ".join(
            f"{each.name} {short(value)} ± {spread:.2g}"
            for each, value, spread in zip(
                self.parameters, self.values, self._spsa.spread(), strict=True
            )
        )

    def _details(self) -> list[dict[str, object]]:
        return [
            {"end": value, "spread": spread, "path": path} for _, value, spread, path in self._rows
        ]

    def table(self, title: str) -> Table:
        columns = (
            *RANGE_COLUMNS,
            number("end", lambda row: short(row[1])),
            number("±", lambda row: f"{row[2]:.2g}"),
            text("path", lambda row: sparkline(row[3], row[0].low, row[0].high), no_wrap=True),
        )
        return table(title, columns, self._rows)

    def doubts(self) -> list[str]:
        return []

    def draw(self, axes: "Axes", index: int) -> None:
        parameter = self.parameters[index]
        path = [values[index] for values in self._spsa.path]
        axes.plot(range(0, 2 * len(path), 2), path)
        axes.set_ylim(parameter.low, parameter.high)
        axes.set_ylabel(parameter.name, parse_math=False)
        axes.set_xlabel("games")

    @property
    def _rows(self) -> list[tuple[Parameter, float, float, Sequence[float]]]:
        paths = zip(*self._spsa.path, strict=True)
        return [*zip(self.parameters, self.values, self._spsa.spread(), paths, strict=True)]


class GridFit(Search):
    """By a grid, and the polynomial through its results."""

    method = "grid"

    def __init__(self, grid: Grid, pairs: int, *, seed: int, window: int) -> None:
        schedule = Schedule(range(pairs), grid.trial, window=window)
        super().__init__(schedule, grid.parameters)
        self._grid = grid
        self._results = schedule.results
        self._seed = seed
        self._last: tuple[int, Fit] | None = None

    @property
    def fit(self) -> Fit:
        if self._last is None or self._last[0] != self.done:
            self._last = (self.done, fit(self._grid.observed(self._results), self._seed))
        return self._last[1]

    @property
    def values(self) -> Sequence[float]:
        return [float(value) for value in self._grid.values(self.fit.best)]

    def standing(self) -> str:
        return ", ".join(
            f"{each.name} {short(value)} ({short(low)} to {short(high)})"
            for each, value, low, high in self._intervals
        )

    def _details(self) -> list[dict[str, object]]:
        return [
            {
                "best": value,
                "best_low": low,
                "best_high": high,
                "is_peak": self.fit.is_peak[index],
                "curve": [
                    {"value": at, "elo": elo, "error": error}
                    for at, elo, error in zip(*self._curve(index), strict=True)
                ],
                "levels": [
                    {"value": at, "elo": elo, "error": error}
                    for at, elo, error in zip(*self._levels(index), strict=True)
                ],
            }
            for index, (_, value, low, high) in enumerate(self._intervals)
        ]

    def table(self, title: str) -> Table:
        rows = [
            (*interval, self._curve(index)[1]) for index, interval in enumerate(self._intervals)
        ]
        columns = (
            *RANGE_COLUMNS,
            number("best", lambda row: short(row[1])),
            text("95%", lambda row: f"{short(row[2])} to {short(row[3])}"),
            text("Elo", lambda row: sparkline(row[4], min(row[4]), max(row[4])), no_wrap=True),
        )
        return table(title, columns, rows)

    def doubts(self) -> list[str]:
        fitted = self.fit
        if fitted.flat_p > DOUBT:
            p = f"p = {fitted.flat_p:.2g}"
            return [f"no difference shows between any of these values ({p}): play more games"]
        lines = []
        if fitted.misfit_p < MISFIT:
            lines.append(
                f"the curve doesn't fit (p = {fitted.misfit_p:.2g}): narrow the range around the best"
            )
        for parameter, best, is_peak in zip(
            self.parameters, fitted.best, fitted.is_peak, strict=True
        ):
            if abs(best) > EDGE:
                end = parameter.high if best > 0 else parameter.low
                lines.append(
                    f"{parameter.name} is best at the end of its range, {end:g}: "
                    "better values may lie beyond it"
                )
            elif not is_peak:
                lines.append(
                    f"{parameter.name} has no peak that shows: its best value is uncertain; "
                    "play more games"
                )
        return lines

    def draw(self, axes: "Axes", index: int) -> None:
        parameter, best, low, high = self._intervals[index]
        at, elo, error = map(np.array, self._curve(index))
        axes.plot(at, elo)
        axes.fill_between(at, elo - 1.96 * error, elo + 1.96 * error, alpha=0.2)
        levels, played, errors = map(np.array, self._levels(index))
        axes.errorbar(levels, played, yerr=1.96 * errors, fmt="o", capsize=3)
        axes.axvline(best, linestyle="--")
        axes.axvspan(low, high, alpha=0.1)
        axes.set_xlabel(parameter.name, parse_math=False)
        axes.set_ylabel("Elo")

    @property
    def _intervals(self) -> list[tuple[Parameter, float, float, float]]:
        fitted = self.fit
        ends = (self._grid.values(each).tolist() for each in (fitted.best, fitted.low, fitted.high))
        return [*zip(self.parameters, *ends, strict=True)]

    def _curve(self, index: int) -> tuple[list[float], list[float], list[float]]:
        """Values over a range, their Elo against the start and its errors; the others are best."""
        points = np.tile(self.fit.best, (SAMPLES, 1))
        points[:, index] = np.linspace(-1, 1, SAMPLES)
        start = self._grid.scaled(np.array([each.start for each in self.parameters]))
        elo, error = self.fit.elo(points, start)
        return self._grid.values(points)[:, index].tolist(), elo.tolist(), error.tolist()

    def _levels(self, index: int) -> tuple[list[float], list[float], list[float]]:
        """The values that were played, without a polynomial, at the mean height of the curve."""
        levels, elo, error = level_elo(self._grid.observed(self._results), index)
        at, curve, _ = self._curve(index)
        points = np.tile(self.fit.best, (len(levels), 1))
        points[:, index] = levels
        values = self._grid.values(points)[:, index]
        height = float(np.mean(np.interp(values, at, curve)))
        return values.tolist(), (elo + height).tolist(), error.tolist()


RANGE_COLUMNS = (
    text("parameter", lambda row: row[0].name),
    text("range", lambda row: f"{row[0].low:g}..{row[0].high:g}"),
    number("start", lambda row: short(row[0].start)),
)


def short(value: float) -> str:
    return f"{value:.4g}"


def sparkline(path: Sequence[float], low: float, high: float) -> str:
    """A path in a line of bars, as high as the values stand between two."""
    count = min(WIDTH, len(path))
    taken = [path[round(at * (len(path) - 1) / max(1, count - 1))] for at in range(count)]
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / ((high - low) or 1) * top)] for value in taken)


def save_picture(search: Search, title: str, path: Path) -> None:
    """A part of the picture for each parameter, in the format of its name."""
    count = len(search.parameters)
    figure = figures().Figure(figsize=(10, 1 + 3 * count), layout="constrained")
    figure.suptitle(title, parse_math=False)
    for index, axes in enumerate(figure.subplots(count, squeeze=False).flat):
        search.draw(axes, index)
        axes.grid(visible=True, alpha=0.3)
    try:
        figure.savefig(path)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None


class Comparison:
    """Games of the values found against those at the start, which a search says little of."""

    def __init__(self, search: Search, pairs: int, *, window: int) -> None:
        """Have so many pairs, none where the values are the same; the search is over."""
        self._found, self._start = search.found, search.start
        first = search.trials.numbers.stop
        last = first if self._found == self._start else first + pairs
        self.trials = Schedule(range(first, last), self._trial, window=window)

    def _trial(self, number: int) -> Trial:
        return Trial(number, self._found, self._start)

    @property
    def _games(self) -> int:
        return 2 * self.trials.done

    @property
    def _pairs(self) -> list[int]:
        """Counts by the points of the values found: 0, 0.5, 1, 1.5 and 2."""
        counts = Counter(self.trials.results.values())
        return [counts[result] for result in RESULTS]

    @property
    def _estimate(self) -> Estimate | None:
        """``None`` where all pairs ended alike."""
        return estimate_of_match((0, 0, 0), self._pairs)

    def fields(self) -> dict[str, object]:
        return {
            "games": self._games,
            "against": self._start,
            "pairs": self._pairs,
            "estimate": None if self._estimate is None else asdict(self._estimate),
        }

    def line(self) -> str:
        """What was found, and how much it is worth."""
        found = f"found values: {_values_text(self._found)}"
        if self._found == self._start:
            return f"{found}; they are those at the start, so nothing is compared"
        if not self._games:
            return f"{found}; not compared with those at the start"
        return f"{found}; {self.standing()} over {self._games} games"

    def standing(self) -> str:
        return f"{self._strength()} against {_values_text(self._start)}"

    def _strength(self) -> str:
        if (estimate := self._estimate) is not None:
            return f"{estimate.elo:+z.0f} ± {estimate.elo_margin:.0f} Elo"
        lost, *_, won = self._pairs
        bound = elo_beyond((2 * lost, 0, 2 * won))
        if bound is None:
            return "Elo unknown, all pairs ended alike,"
        return f"{'above' if won else 'below'} {bound:+.0f} Elo (95%)"


def _values_text(values: Values) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
