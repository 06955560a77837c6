"""Ratings over the days: asked for, drawn in the terminal, and as a picture."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date
from operator import add, sub
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from meijin.cli.errors import CommandError
from meijin.cli.output import printable
from meijin.local.connection import Connection, read_list
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import version_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "plots need more parts; install them with: pip install 'meijin[plots]'"
PICTURES = (".png", ".svg", ".pdf")
HEIGHT = 20
"""Lines of a plot in the terminal."""
FRAME = 12
"""Cells beside the plot for its axis."""


class DatedElo(NamedTuple):
    """A rating on one day."""

    day: date
    elo: float
    margin: float


Curves = Mapping[str, Sequence[DatedElo]]
"""By name, each oldest first."""


def rating_curves(
    connection: Connection, table: pb.GetStandingsResponse, top: int
) -> dict[str, list[DatedElo]]:
    """The best versions' ratings at the end of each day, and now."""
    if not table.HasField("run"):
        raise CommandError(f'ladder "{table.ladder.name}" has no ratings yet; play rated games')
    names = version_names(table.standings)
    today = table.run.create_time.ToDatetime(UTC).date()
    curves = {}
    for name, row in zip(names[:top], table.standings, strict=False):
        request = pb.ListRatingsRequest(ladder=table.ladder.name, bot=row.bot)
        ratings = read_list(connection.ask, connection.ladders.ListRatings, request).ratings
        past = [
            DatedElo(date.fromisoformat(rating.day), rating.elo, rating.margin)
            for rating in reversed(ratings)
            if rating.version == row.version and rating.day < today.isoformat()
        ]
        curves[name] = [*past, DatedElo(today, row.elo, row.margin)]
    return curves


def terminal_plot(curves: Curves, title: str, width: int, *, color: bool) -> str:
    try:
        import numpy as np  # noqa: PLC0415 - not a part of the bare installation
        from uniplot import plot_to_string  # noqa: PLC0415
    except ImportError:
        raise CommandError(MISSING) from None
    if (day := _only_day(curves)) is not None:
        return _first_day_lines(curves, title, day)
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


def _only_day(curves: Curves) -> date | None:
    days = {point.day for points in curves.values() for point in points}
    return days.pop() if len(days) == 1 else None


def _first_day_lines(curves: Curves, title: str, day: date) -> str:
    """Ratings of one day, best first: nothing can be drawn of them yet."""
    last = sorted(curves, key=lambda name: -curves[name][-1].elo)
    rows = [
        f"{curves[each][-1].elo:5.0f} ± {curves[each][-1].margin:<4.0f} {printable(each)}"
        for each in last
    ]
    return "\n".join((printable(title), *rows, f"{day:%Y-%m-%d}, one day so far"))


def check_picture(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise CommandError(f"{path}: give a name that ends in {', '.join(PICTURES)}")
    figures()


def save_plot(curves: Curves, title: str, path: Path) -> None:
    """The curves with their 95 % intervals, as a picture in the format of its name."""
    figure = figures().Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(title=title, ylabel="Elo")
    if (day := _only_day(curves)) is not None:
        _show_first_day(axes, curves, day)
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
        days, elos, margins = zip(*points, strict=True)
        (line,) = axes.plot(days, elos, label=printable(name), marker=".")
        low, high = map(sub, elos, margins), map(add, elos, margins)
        axes.fill_between(days, [*low], [*high], color=line.get_color(), alpha=0.15, linewidth=0)


def _show_first_day(axes: "Axes", curves: Curves, day: date) -> None:
    """Ratings of one day beside each other, each with its interval: there are no curves yet."""
    for place, (name, points) in enumerate(curves.items()):
        _, elo, margin = points[-1]
        axes.errorbar(place, elo, yerr=margin, label=printable(name), marker="o", capsize=4)
    axes.set_xticks([])
    axes.set_xlim(-1, len(curves))
    axes.set_xlabel(f"{day:%Y-%m-%d}, one day so far")


def figures() -> ModuleType:
    """What draws pictures, where it is installed."""
    try:
        from matplotlib import figure  # noqa: PLC0415 - not a part of the bare installation
    except ImportError:
        raise CommandError(MISSING) from None
    return figure
