"""Standings: what follows from a ladder's lines, their marks, and the table as CSV."""

import csv
import io
from collections.abc import Callable, Iterable

from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.text import spreadsheet_text

MARKS = "A?~PVC"
"""Anchor, provisional, not linked, paused, varying with opponents, changing over time."""


def marks(row: pb.Standing) -> str:
    """The letters of `MARKS` that a line has."""
    flags = (
        row.anchor,
        row.provisional,
        not row.linked,
        row.paused,
        row.depends_on_opponents,
        row.changes_over_time,
    )
    return "".join(mark for mark, is_set in zip(MARKS, flags, strict=True) if is_set)


def games_of(score: pb.Score) -> int:
    """How many games a score is of."""
    return score.wins + score.draws + score.losses


def added(one: pb.Score, other: pb.Score) -> pb.Score:
    """Both scores together."""
    return pb.Score(
        wins=one.wins + other.wins,
        draws=one.draws + other.draws,
        losses=one.losses + other.losses,
    )


def verify_line(ladder: str, run_id: str) -> str:
    """The command that computes a run again."""
    return f"meijin ladder verify {ladder} --run {run_id}"


def standings_csv(rows: Iterable[pb.Standing]) -> str:
    """Lines as CSV, in full precision; no text in it is a formula to a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in rows:
        writer.writerow([column(row) for column in CSV_COLUMNS.values()])
    return file.getvalue()


CSV_COLUMNS: dict[str, Callable[[pb.Standing], object]] = {
    "rank": lambda row: row.rank,
    "bot": lambda row: spreadsheet_text(row.bot),
    "version": lambda row: spreadsheet_text(row.version),
    "elo": lambda row: row.elo,
    "margin": lambda row: row.margin,
    "superiority": lambda row: row.superiority if row.HasField("superiority") else "",
    "classic_elo": lambda row: row.classic_elo,
    "opponents_elo": lambda row: row.opponents_elo,
    "wins_as_black": lambda row: row.as_black.wins,
    "draws_as_black": lambda row: row.as_black.draws,
    "losses_as_black": lambda row: row.as_black.losses,
    "wins_as_white": lambda row: row.as_white.wins,
    "draws_as_white": lambda row: row.as_white.draws,
    "losses_as_white": lambda row: row.as_white.losses,
    "faults": lambda row: row.faults,
    "anchor": lambda row: int(row.anchor),
    "provisional": lambda row: int(row.provisional),
    "linked": lambda row: int(row.linked),
    "depends_on_opponents": lambda row: int(row.depends_on_opponents),
    "changes_over_time": lambda row: int(row.changes_over_time),
    "hardware": lambda row: spreadsheet_text(row.hardware),
    "nodes_per_second": lambda row: row.nodes_per_second or "",
    "digest": lambda row: spreadsheet_text(row.digest),
}
