"""Ladders, and the runs that computed their ratings."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from meijin.game import TimeClass, Variant
from meijin.store.schema.base import INT64, Base
from meijin.store.schema.ids import BotVersionId, LadderId, RatingRunId


class Ladder(Base):
    """Every rated game of one variant and one class of time control, and the published run."""

    __tablename__ = "ladder"

    id: Mapped[LadderId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    variant: Mapped[Variant]
    time_class: Mapped[TimeClass | None]
    """With the bounds that the class had when the ladder was made, whatever the server's are now.

    ``None`` for one from before there were classes, whose games have gone to ladders of theirs:
    its runs are kept to be read, and it gets no others.
    """
    revision: Mapped[int] = mapped_column(INT64, default=0)
    """Counts every change of the set of rated games."""
    run_id: Mapped[RatingRunId | None] = mapped_column(default=None)
    """The published run. No foreign key: a run refers to its ladder already."""
    run_revision: Mapped[int] = mapped_column(INT64, default=0)
    """The revision the published run was computed at; less than `revision` means dirty."""
    voided: Mapped[int] = mapped_column(INT64, default=0)
    """Counts the finished games that were voided: each changes the past."""
    history: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """What `RatingDay` was rebuilt from: algorithm, day, anchors, and `voided` at that time."""


class Anchor(Base):
    """A version that a ladder's ratings are relative to."""

    __tablename__ = "anchor"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)


class RatingRun(Base):
    """One run of a ladder's job."""

    __tablename__ = "rating_run"
    __table_args__ = (UniqueConstraint("ladder_id", "revision", "algorithm"),)

    id: Mapped[RatingRunId] = mapped_column(primary_key=True, init=False)
    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"))
    revision: Mapped[int] = mapped_column(INT64)
    """The ladder's revision whose games it was computed from."""
    voided: Mapped[int] = mapped_column(INT64)
    """How many finished games of the ladder had been voided."""
    cutoff: Mapped[int] = mapped_column(INT64)
    """The `end_sequence` of the last game that went into it; 0 for none."""
    games: Mapped[int] = mapped_column(INT64)
    repeats: Mapped[int] = mapped_column(INT64)
    """Finished games up to there that are not rated, since they repeat others."""
    checksum: Mapped[str] = mapped_column(String(64))
    """SHA-256 of its input, hexadecimal."""
    algorithm: Mapped[str] = mapped_column(String(60))
    parameters: Mapped[dict[str, Any]]
    create_time: Mapped[datetime]


class Rating(Base):
    """One line of a run."""

    __tablename__ = "rating"

    run_id: Mapped[RatingRunId] = mapped_column(ForeignKey("rating_run.id"), primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    rank: Mapped[int]
    elo: Mapped[float]
    margin: Mapped[float]
    """Half of the 95 % interval, relative to the anchors; Elo."""
    superiority: Mapped[float | None]
    """The chance to be stronger than the next in rank; ``None`` for the last."""
    classic_elo: Mapped[float]
    opponents_elo: Mapped[float]
    """The mean over its games."""
    wins_as_black: Mapped[int]
    draws_as_black: Mapped[int]
    losses_as_black: Mapped[int]
    wins_as_white: Mapped[int]
    draws_as_white: Mapped[int]
    losses_as_white: Mapped[int]
    faults: Mapped[int]
    is_anchor: Mapped[bool]
    is_provisional: Mapped[bool]
    """It has few games, or has won or lost them all: the prior says much of its rating."""
    is_linked: Mapped[bool]
    """Games lead from it to the anchors, from opponent to opponent."""


class Posterior(Base):
    """What the errors of the published run's ratings have in common."""

    __tablename__ = "posterior"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    run_id: Mapped[RatingRunId]
    version_ids: Mapped[bytes]
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: Mapped[bytes]
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


class RatingDay(Base):
    """A version's rating by the games up to the end of a day (UTC)."""

    __tablename__ = "rating_day"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    elo: Mapped[float]
    margin: Mapped[float]
    """Half of the 95 % interval; Elo."""
    games: Mapped[int]
    """Rated ones up to then."""
