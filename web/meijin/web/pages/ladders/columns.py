"""The columns of a ladder's table: what each says of a line, and how lines are ordered by it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Self

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.templating import number, percent
from meijin.wire.standings import added, games_of


class Order(Enum):
    """Which end of a column comes first, as `aria-sort` names it."""

    ASCENDING = "ascending"
    DESCENDING = "descending"

    @property
    def reverse(self) -> "Order":
        """The other one."""
        return Order.ASCENDING if self is Order.DESCENDING else Order.DESCENDING


Key = float | str | None
"""What lines are ordered by; ``None`` for a line that the column says nothing of."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A line with what follows from it for several columns."""

    row: pb.Standing
    total: pb.Score
    """All of its games."""
    games: int

    @classmethod
    def of(cls, row: pb.Standing) -> Self:
        """Those of a line."""
        total = added(row.as_black, row.as_white)
        return cls(row, total, games_of(total))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a ladder's table."""

    name: str
    """In addresses and in the files of texts."""
    key: Callable[[Facts], Key]
    cell: Callable[[Facts], str]
    first: Order = Order.DESCENDING
    """What a click brings first."""
    is_number: bool = True


def share(score: pb.Score) -> float | None:
    """The share of the points that could be had; ``None`` of no games."""
    games = games_of(score)
    return (score.wins + score.draws / 2) / games if games else None


def share_text(score: pb.Score) -> str:
    """The same for people."""
    value = share(score)
    return "" if value is None else percent(value)


def results(score: pb.Score) -> str:
    """Such as ``12-3-4``."""
    return f"{score.wins}-{score.draws}-{score.losses}"


def _drawn(line: Facts) -> float | None:
    return line.total.draws / line.games if line.games else None


def _drawn_text(line: Facts) -> str:
    return percent(line.total.draws / line.games) if line.games else ""


def _preview(line: Facts) -> float | None:
    return line.row.preview_elo if line.row.HasField("preview_elo") else None


def _preview_text(line: Facts) -> str:
    value = _preview(line)
    return "" if value is None else f"{value:.0f}"


def _superiority(line: Facts) -> float | None:
    return line.row.superiority if line.row.HasField("superiority") else None


def _superiority_text(line: Facts) -> str:
    value = _superiority(line)
    return "" if value is None else percent(value)


def _faults_text(line: Facts) -> str:
    faults = line.row.faults
    return f"{faults} ({percent(faults / line.games, 0)})" if faults and line.games else str(faults)


def speed_text(per_second: int) -> str:
    """A speed in nodes a second, in millions or thousands; empty where nothing was said."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if per_second >= size:
            return f"{per_second / size:.3g} {unit}"
    return str(per_second or "")


RANK = Column("rank", lambda line: line.row.rank, lambda line: str(line.row.rank), Order.ASCENDING)
BOT = Column(
    "bot", lambda line: line.row.bot, lambda line: line.row.bot, Order.ASCENDING, is_number=False
)

LEFT = (RANK, BOT)
"""Those that stand beside the bars; the others follow."""

RIGHT = (
    Column("elo", lambda line: line.row.elo, lambda line: f"{line.row.elo:.0f}"),
    Column(
        "margin",
        lambda line: line.row.margin,
        lambda line: f"{line.row.margin:.0f}",
        Order.ASCENDING,
    ),
    Column("preview", _preview, _preview_text),
    Column("games", lambda line: line.games, lambda line: number(line.games)),
    Column("results", lambda line: line.total.wins, lambda line: results(line.total)),
    Column("score", lambda line: share(line.total), lambda line: share_text(line.total)),
    Column("superiority", _superiority, _superiority_text),
    Column("faults", lambda line: line.row.faults, _faults_text),
    Column(
        "black", lambda line: share(line.row.as_black), lambda line: share_text(line.row.as_black)
    ),
    Column(
        "white", lambda line: share(line.row.as_white), lambda line: share_text(line.row.as_white)
    ),
    Column("draws", _drawn, _drawn_text),
    Column(
        "opponents",
        lambda line: line.row.opponents_elo,
        lambda line: f"{line.row.opponents_elo:.0f}",
    ),
    Column(
        "classic", lambda line: line.row.classic_elo, lambda line: f"{line.row.classic_elo:.0f}"
    ),
    Column(
        "speed",
        lambda line: line.row.nodes_per_second or None,
        lambda line: speed_text(line.row.nodes_per_second),
    ),
    Column(
        "hardware",
        lambda line: line.row.hardware or None,
        lambda line: line.row.hardware,
        Order.ASCENDING,
        is_number=False,
    ),
)

COLUMNS = {column.name: column for column in (*LEFT, *RIGHT)}
