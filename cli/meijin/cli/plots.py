"""Ratings over the days: in the terminal, and as a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from meijin.cli.errors import CommandError
from meijin.cli.output import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "plots need more parts; install them with: pip install 'meijin[plots]'"
PICTURES = (".png", ".svg", ".pdf")
HEIGHT = 20
"""Lines of a plot in the terminal."""
FRAME = 12
"""Cells beside the plot for its axis."""


@dataclass(frozen=True, slots=True)
class Point:
    """A rating on one day."""

    day: date
    elo: float
    margin: float


Curves = Mapping[str, Sequence[Point]]
"""By name, each oldest first."""


def terminal_plot(curves: Curves, title: str, width: int, *, color: bool) -> str:
    """The curves as text.

    Raises:
        CommandError: the library for it is not installed.
    """
    try:
        import numpy as np  # noqa: PLC0415 - not a part of the bare installation
        from uniplot import plot_to_string  # noqa: PLC0415
    except ImportError:
        raise CommandError(MISSING) from None
    days = {point.day for points in curves.values() for point in points}
    if len(days) == 1:
        return _first_day_lines(curves, title, days.pop())
    return plot_to_string(
        xs=[np.array([point.day for point in points], "M8[D]") for points in curves.values()],
        ys=[np.array([point.elo for point in points]) for points in curves.values()],
        lines=[len(points) > 1 for points in curves.values()],
        legend_labels=list(map(printable, curves)),
        title=printable(title),
        width=max(width - FRAME, 20),
        height=HEIGHT,
        color=color,
    )


def _first_day_lines(curves: Curves, title: str, day: date) -> str:
    """Ratings of one day, best first: nothing can be drawn of them yet."""
    points = sorted(
        ((name, points[-1]) for name, points in curves.items()), key=lambda each: -each[1].elo
    )
    rows = [f"{point.elo:5.0f} ± {point.margin:<4.0f} {printable(name)}" for name, point in points]
    return "\n".join((printable(title), *rows, f"{day:%Y-%m-%d}, one day so far"))


def check_picture(path: Path) -> None:
    """See that a picture can be made, before any work for it.

    Raises:
        CommandError: it can't, and the message says why.
    """
    if path.suffix.lower() not in PICTURES:
        raise CommandError(f"{path}: give a name that ends in {', '.join(PICTURES)}")
    _figures()


def save_plot(curves: Curves, title: str, path: Path) -> None:
    """The curves with their 95 % intervals, as a picture in the format of its name.

    Raises:
        CommandError: the library for it is not installed, or the file can't be written.
    """
    figure = _figures().Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(title=title, ylabel="Elo")
    days = {point.day for points in curves.values() for point in points}
    if len(days) == 1:
        _show_first_day(axes, curves, days.pop())
    else:
        _show_days(axes, curves)
        figure.autofmt_xdate()
    axes.grid(visible=True, alpha=0.3)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
    try:
        figure.savefig(path)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None


def _show_days(axes: Any, curves: Curves) -> None:  # noqa: ANN401
    """A curve a bot, with its intervals as a band; matplotlib's types know no dates."""
    for name, points in curves.items():
        days = [point.day for point in points]
        (line,) = axes.plot(
            days, [point.elo for point in points], label=printable(name), marker="."
        )
        low = [point.elo - point.margin for point in points]
        high = [point.elo + point.margin for point in points]
        axes.fill_between(days, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def _show_first_day(axes: "Axes", curves: Curves, day: date) -> None:
    """Ratings of one day beside each other, each with its interval: there are no curves yet."""
    for place, (name, points) in enumerate(curves.items()):
        point = points[-1]
        axes.errorbar(
            place, point.elo, yerr=point.margin, label=printable(name), marker="o", capsize=4
        )
    axes.set_xticks([])
    axes.set_xlim(-1, len(curves))
    axes.set_xlabel(f"{day:%Y-%m-%d}, one day so far")


def _figures() -> ModuleType:
    try:
        from matplotlib import figure  # noqa: PLC0415 - not a part of the bare installation
    except ImportError:
        raise CommandError(MISSING) from None
    return figure
