"""Ladders, and the runs that computed their ratings."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from meijin.game import TimeClass, Variant
from meijin.store.schema.base import INT64, Base
from meijin.store.schema.ids import BotVersionId, LadderId, RatingRunId, TournamentId


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
    sequenced: Mapped[int] = mapped_column(INT64, default=0, server_default="0")
    """The `end_sequence` of the last game that its job has taken into its log: those after it are
    neither counted here, nor is it known yet which of them are repeats."""
    revision: Mapped[int] = mapped_column(INT64, default=0)
    """Counts every change of the set of rated games in the log."""
    run_id: Mapped[RatingRunId | None] = mapped_column(default=None)
    """The published run. No foreign key: a run refers to its ladder already."""
    run_revision: Mapped[int] = mapped_column(INT64, default=0)
    """The revision the published run was computed at; less than `revision` means dirty."""
    voided: Mapped[int] = mapped_column(INT64, default=0, server_default="0")
    """Counts the finished games that were voided: each changes the past."""
    games: Mapped[int] = mapped_column(INT64, default=0)
    """Rated games in the log, counted as they get there and as they are voided."""
    settled_by: Mapped[TournamentId | None] = mapped_column(default=None)
    """The tournament that has settled it, while no run has all of its games. No foreign key: a
    tournament refers to its ladder."""
    settled_revision: Mapped[int] = mapped_column(INT64, default=0, server_default="0")
    """The revision since when it is settled: no earlier run is final, though it had all games."""
    settled_sequence: Mapped[int] = mapped_column(INT64, default=0, server_default="0")
    """The `end_sequence` of the last of them that has finished."""


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
    diagnosis: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """What speaks against its fit; ``None`` for a run of a release that did not look."""
    final_of: Mapped[TournamentId | None] = mapped_column(default=None)
    """The tournament that settled the ladder, where it is the first to have all of its games."""


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
    depends_on_opponents: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Its results depend on whom it meets, surer than chance: its interval is one over all of them."""
    changes_over_time: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Its strength has a trend, surer than chance: its interval is too narrow."""


class Posterior(Base):
    """What the errors of the published run's ratings have in common."""

    __tablename__ = "posterior"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    run_id: Mapped[RatingRunId]
    version_ids: Mapped[bytes]
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: Mapped[bytes]
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


class DayTally(Base):
    """The games of a day (UTC), counted, and what the ladder had come to at its end.

    All of a ladder's are kept, so that a run has to read the games since the last of them alone.
    """

    __tablename__ = "day_tally"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    cutoff: Mapped[int] = mapped_column(INT64)
    """The `end_sequence` of the last game of the day so far."""
    chain: Mapped[bytes]
    """The chained SHA-256 of all games up to there."""
    games: Mapped[int] = mapped_column(INT64)
    """Rated ones up to there."""
    repeats: Mapped[int] = mapped_column(INT64)
    """Others up to there, which repeat them."""
    rated_with: Mapped[str | None] = mapped_column(String(64))
    """A hash of the algorithm and the anchors that the day's `RatingDay` was computed with;
    ``None`` before."""
    versions: Mapped[bytes]
    """Each version's state after the day, as the ladder's job writes it."""
    counts: Mapped[bytes]
    """The day's rated games by players and opening, as the ladder's job writes them."""


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
