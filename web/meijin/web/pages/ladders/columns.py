"""The columns of a ladder's table: what each says of a line, and how lines are ordered by it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

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
class Column:
    """One column of a ladder's table."""

    name: str
    """In addresses and in the files of texts."""
    key: Callable[[pb.Standing], Key]
    cell: Callable[[pb.Standing], str]
    first: Order = Order.DESCENDING
    """What a click brings first."""
    is_number: bool = True


def total(row: pb.Standing) -> pb.Score:
    """All games of a line."""
    return added(row.as_black, row.as_white)


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


def _drawn(row: pb.Standing) -> float | None:
    score = total(row)
    games = games_of(score)
    return score.draws / games if games else None


def _drawn_text(row: pb.Standing) -> str:
    value = _drawn(row)
    return "" if value is None else percent(value)


def _preview(row: pb.Standing) -> float | None:
    return row.preview_elo if row.HasField("preview_elo") else None


def _superiority(row: pb.Standing) -> float | None:
    return row.superiority if row.HasField("superiority") else None


def _faults_text(row: pb.Standing) -> str:
    games = games_of(total(row))
    if not (row.faults and games):
        return str(row.faults)
    return f"{row.faults} ({percent(row.faults / games, 0)})"


def speed_text(per_second: int) -> str:
    """A speed in nodes a second, in millions or thousands; empty where nothing was said."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if per_second >= size:
            return f"{per_second / size:.3g} {unit}"
    return str(per_second or "")


RANK = Column("rank", lambda row: row.rank, lambda row: str(row.rank), Order.ASCENDING)
BOT = Column("bot", lambda row: row.bot, lambda row: row.bot, Order.ASCENDING, is_number=False)
ELO = Column("elo", lambda row: row.elo, lambda row: f"{row.elo:.0f}")

LEFT = (RANK, BOT)
"""Those that stand beside the bars; the others follow."""

NUMBERS = (
    ELO,
    Column("margin", lambda row: row.margin, lambda row: f"{row.margin:.0f}", Order.ASCENDING),
    Column("preview", _preview, lambda row: f"{value:.0f}" if (value := _preview(row)) else ""),
    Column("games", lambda row: games_of(total(row)), lambda row: number(games_of(total(row)))),
    Column("results", lambda row: total(row).wins, lambda row: results(total(row))),
    Column("score", lambda row: share(total(row)), lambda row: share_text(total(row))),
    Column(
        "superiority",
        _superiority,
        lambda row: percent(value) if (value := _superiority(row)) is not None else "",
    ),
    Column("faults", lambda row: row.faults, _faults_text),
    Column("black", lambda row: share(row.as_black), lambda row: share_text(row.as_black)),
    Column("white", lambda row: share(row.as_white), lambda row: share_text(row.as_white)),
    Column("draws", _drawn, _drawn_text),
    Column("opponents", lambda row: row.opponents_elo, lambda row: f"{row.opponents_elo:.0f}"),
    Column("classic", lambda row: row.classic_elo, lambda row: f"{row.classic_elo:.0f}"),
    Column(
        "speed",
        lambda row: row.nodes_per_second or None,
        lambda row: speed_text(row.nodes_per_second),
    ),
    Column(
        "hardware",
        lambda row: row.hardware or None,
        lambda row: row.hardware,
        Order.ASCENDING,
        is_number=False,
    ),
)

COLUMNS = {column.name: column for column in (*LEFT, *NUMBERS)}
