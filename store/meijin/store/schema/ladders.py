"""Ladders, and what is kept of their games to go on from."""

from datetime import date

from sqlalchemy import ForeignKey, String

from meijin.game import TimeClass, Variant
from meijin.store.schema.base import INT64, Field, Record, column
from meijin.store.schema.ids import BotVersionId, LadderId, RatingRunId, TournamentId


class Ladder(Record, table="ladder"):
    """Every rated game of one variant and one class of time control, and the published run."""

    id: Field[LadderId] = column(primary_key=True, default=0)
    name: Field[str] = column(String(60), unique=True)
    variant: Field[Variant]
    time_class: Field[TimeClass]
    """With the bounds that the class had when the ladder was made, whatever the server's are now."""
    sequenced: Field[int] = column(INT64, default=0, server_default="0")
    """The `end_sequence` of the last game that its job has taken into its log: those after it are
    neither counted here, nor is it known yet which of them are repeats."""
    revision: Field[int] = column(INT64, default=0)
    """Counts every change of the set of rated games in the log."""
    run_id: Field[RatingRunId | None] = column(default=None)
    """The published run. No foreign key: a run refers to its ladder already."""
    run_revision: Field[int] = column(INT64, default=0)
    """The revision the published run was computed at; less than `revision` means dirty."""
    voided: Field[int] = column(INT64, default=0, server_default="0")
    """Counts the finished games that were voided: each changes the past."""
    games: Field[int] = column(INT64, default=0)
    """Rated games in the log, counted as they get there and as they are voided."""
    settled_by: Field[TournamentId | None] = column(default=None)
    """The tournament that has settled it, while no run has all of its games. No foreign key: a
    tournament refers to its ladder."""
    settled_revision: Field[int] = column(INT64, default=0, server_default="0")
    """The revision since when it is settled: no earlier run is final, though it had all games."""
    settled_sequence: Field[int] = column(INT64, default=0, server_default="0")
    """The `end_sequence` of the last of them that has finished."""


class Anchor(Record, table="anchor"):
    """A version that a ladder's ratings are relative to."""

    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"), primary_key=True)
    version_id: Field[BotVersionId] = column(ForeignKey("bot_version.id"), primary_key=True)


class Posterior(Record, table="posterior"):
    """What the errors of the published run's ratings have in common."""

    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"), primary_key=True, default=0)
    """0 in one that is not kept yet; so its run."""
    run_id: Field[RatingRunId] = column(default=0)
    version_ids: Field[bytes]
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: Field[bytes]
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


class DayTally(Record, table="day_tally"):
    """The games of a day (UTC), counted, and what the ladder had come to at its end.

    All of a ladder's are kept, so that a run has to read the games since the last of them alone.
    """

    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"), primary_key=True, default=0)
    """0 in one that is not kept yet."""
    day: Field[date] = column(primary_key=True)
    cutoff: Field[int] = column(INT64)
    """The `end_sequence` of the last game of the day so far."""
    chain: Field[bytes]
    """The chained SHA-256 of all games up to there."""
    games: Field[int] = column(INT64)
    """Rated ones up to there."""
    repeats: Field[int] = column(INT64)
    """Others up to there, which repeat them."""
    rated_with: Field[str | None] = column(String(64), default=None)
    """A hash of the algorithm and the anchors that the day's `RatingDay` was computed with;
    ``None`` before."""
    versions: Field[bytes]
    """Each version's state after the day, as the ladder's job writes it."""
    counts: Field[bytes]
    """The day's rated games by players and opening, as the ladder's job writes them."""


class RatingDay(Record, table="rating_day"):
    """A version's rating by the games up to the end of a day (UTC)."""

    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"), primary_key=True, default=0)
    """0 in one that is not kept yet."""
    day: Field[date] = column(primary_key=True)
    version_id: Field[BotVersionId] = column(ForeignKey("bot_version.id"), primary_key=True)
    elo: Field[float]
    margin: Field[float]
    """Half of the 95 % interval; Elo."""
    games: Field[int]
    """Rated ones up to then."""


class CalibrationDay(Record, table="calibration_day"):
    """Games of a day (UTC) whose favourites were told about the same score by all games before.

    Those of versions without a game before are in none.
    """

    ladder_id: Field[LadderId] = column(ForeignKey("ladder.id"), primary_key=True, default=0)
    """0 in one that is not kept yet."""
    day: Field[date] = column(primary_key=True)
    bin: Field[int] = column(primary_key=True)
    """From 0 on, each as wide, from an even game to a sure one."""
    games: Field[int]
    expected: Field[float]
    """The points that the favourites were told."""
    points: Field[float]
    """Those that they made."""
