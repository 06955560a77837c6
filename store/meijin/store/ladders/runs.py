"""Rating runs of ladders: published, kept, and read."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from meijin.store.bots import DISTINCT_LABEL
from meijin.store.errors import NoRunError, UnknownRunError
from meijin.store.ladders.ladders import LadderSummary, summary
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Ladder,
    LadderId,
    Posterior,
    Rating,
    RatingRun,
    RatingRunId,
    TournamentId,
)

KEPT_RUNS = 100
"""So many of a ladder's runs are kept whole, and of those before them the last of each day.

Final ones are kept for ever.
"""


@dataclass(frozen=True, slots=True)
class Score:
    """Games by their results."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many there are."""
        return self.wins + self.draws + self.losses

    @property
    def reversed(self) -> "Score":
        """The opponent's."""
        return Score(self.losses, self.draws, self.wins)

    def __add__(self, other: "Score") -> "Score":
        """Both together."""
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


NO_GAMES = Score(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Line:
    """What a run says of one version."""

    rank: int
    """From 1 on."""
    elo: float
    margin: float
    """Half of the 95 % interval, relative to the anchors; Elo."""
    superiority: float | None
    """The chance to be stronger than the next in rank; ``None`` for the last."""
    classic_elo: float
    opponents_elo: float
    """The mean over its games."""
    wins_as_black: int
    draws_as_black: int
    losses_as_black: int
    wins_as_white: int
    draws_as_white: int
    losses_as_white: int
    faults: int
    is_anchor: bool
    is_provisional: bool
    is_linked: bool
    depends_on_opponents: bool = False
    """Its results depend on whom it meets, surer than chance."""
    changes_over_time: bool = False
    """Its strength has a trend, surer than chance."""

    @property
    def as_black(self) -> Score:
        """The rated games with the black stones."""
        return Score(self.wins_as_black, self.draws_as_black, self.losses_as_black)

    @property
    def as_white(self) -> Score:
        """The rated games with the white stones."""
        return Score(self.wins_as_white, self.draws_as_white, self.losses_as_white)


@dataclass(frozen=True, slots=True)
class NewRating:
    """A version's line of a run to be published."""

    version_id: BotVersionId
    line: Line


@dataclass(frozen=True, slots=True)
class Covariances:
    """What the errors of a run's ratings have in common."""

    version_ids: bytes
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: bytes
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a run was computed from, and how."""

    revision: int
    """The ladder's, at that time."""
    voided: int
    """How many finished games of the ladder had been voided."""
    cutoff: int
    """The `end_sequence` of the last game that went into it."""
    games: int
    repeats: int
    checksum: str
    algorithm: str
    parameters: dict[str, Any]
    create_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun(Origin):
    """A run to be published."""

    ladder_id: LadderId
    sequenced: int
    """The `end_sequence` that the ladder's log ended with."""
    ratings: Sequence[NewRating]
    """Best first."""
    covariances: Covariances | None
    """``None`` for a pool too large to keep them."""
    diagnosis: dict[str, Any] | None = None
    """What speaks against its fit; bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun(Origin):
    """A run that was published."""

    id: RatingRunId
    final_of: TournamentId | None = None
    """The tournament that settled the ladder, where it is the first to have all of its games."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A version's line of a published run."""

    bot_id: BotId
    bot: str
    version_id: BotVersionId
    version: str
    """The version's label, told apart from equal ones of the bot; may be empty."""
    line: Line
    is_hidden: bool = False
    """The bot is left out of tables."""
    digest: str = ""
    """Of the version's program and its configuration."""
    hardware: str = ""
    """What the version said last that it runs on; empty where it said nothing."""
    nodes_per_second: int = 0
    """Of the reference search there, as the version said last; 0 where it said nothing."""


@dataclass(frozen=True, slots=True)
class Standings:
    """A ladder's table."""

    ladder: LadderSummary
    run: PublishedRun | None
    """``None`` before the first run."""
    standings: Sequence[Standing]
    """Best first."""


def publish(connection: Connection, run: NewRun) -> bool:
    """Make `run` the ladder's published run, unless that is as new already.

    A job that comes twice, late or beside another changes nothing: raising the
    ladder's run revision comes first, and only one transaction can do it.

    Returns:
        Whether it was published.
    """
    ladder = update(Ladder).where(Ladder.id == run.ladder_id)
    claim = ladder.where(Ladder.run_revision < run.revision).values(run_revision=run.revision)
    if not connection.execute(claim).rowcount:
        return False
    origin = {field.name: getattr(run, field.name) for field in fields(Origin)}
    origin["diagnosis"] = run.diagnosis
    row = insert(RatingRun).values(ladder_id=run.ladder_id, **origin)
    run_id = connection.execute(row.returning(RatingRun.id)).scalar_one()
    if run.ratings:
        lines = [
            {"run_id": run_id, "version_id": rating.version_id, **asdict(rating.line)}
            for rating in run.ratings
        ]
        connection.execute(insert(Rating), lines)
    _keep_covariances(connection, run, run_id)
    connection.execute(ladder.values(run_id=run_id))
    _mark_final(connection, run, run_id)
    _forget_runs(connection, run.ladder_id)
    return True


def _mark_final(connection: Connection, run: NewRun, run_id: RatingRunId) -> None:
    """Mark a run that has all games of a tournament that settled the ladder."""
    mine = (
        Ladder.id == run.ladder_id,
        Ladder.settled_revision <= run.revision,
        Ladder.settled_sequence <= run.sequenced,
    )
    settled_by = connection.scalar(select(Ladder.settled_by).where(*mine))
    if settled_by is not None:
        change = update(RatingRun).where(RatingRun.id == run_id)
        connection.execute(change.values(final_of=settled_by))
        connection.execute(update(Ladder).where(*mine).values(settled_by=None))


def _keep_covariances(connection: Connection, run: NewRun, run_id: RatingRunId) -> None:
    connection.execute(delete(Posterior).where(Posterior.ladder_id == run.ladder_id))
    if run.covariances is not None:
        row = insert(Posterior).values(
            ladder_id=run.ladder_id,
            run_id=run_id,
            version_ids=run.covariances.version_ids,
            matrix=run.covariances.matrix,
        )
        connection.execute(row)


def _forget_runs(connection: Connection, ladder_id: LadderId) -> None:
    """Delete what lies before the newest runs, but for final ones and the last of each day."""
    mine = RatingRun.ladder_id == ladder_id
    newest = select(RatingRun.id).where(mine).order_by(RatingRun.id.desc())
    first_kept = connection.scalar(newest.offset(KEPT_RUNS - 1).limit(1))
    if first_kept is None:
        return
    last_of_days = (
        select(func.max(RatingRun.id)).where(mine).group_by(func.date(RatingRun.create_time))
    )
    old = (
        mine,
        RatingRun.id < first_kept,
        RatingRun.id.not_in(last_of_days),
        RatingRun.final_of.is_(None),
    )
    keys = list(connection.scalars(select(RatingRun.id).where(*old)))
    connection.execute(delete(Rating).where(Rating.run_id.in_(keys)))
    connection.execute(delete(RatingRun).where(RatingRun.id.in_(keys)))


def find_run(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> PublishedRun | None:
    """The ladder's published run or an earlier one, without its ratings; ``None`` if it has none."""
    published = select(Ladder.run_id).where(Ladder.id == ladder_id).scalar_subquery()
    wanted = published if run_id is None else run_id
    mine = (RatingRun.id == wanted, RatingRun.ladder_id == ladder_id)
    query = select(*columns_of(PublishedRun, RatingRun)).where(*mine)
    return read_row(PublishedRun, connection.execute(query))


def list_runs(
    connection: Connection,
    ladder_id: LadderId,
    *,
    limit: int,
    before: RatingRunId | None = None,
) -> Sequence[PublishedRun]:
    """At most `limit` runs of the ladder that are kept, newest first, from before one of them."""
    query = select(*columns_of(PublishedRun, RatingRun)).where(RatingRun.ladder_id == ladder_id)
    if before is not None:
        query = query.where(RatingRun.id < before)
    rows = connection.execute(query.order_by(RatingRun.id.desc()).limit(limit))
    return read_rows(PublishedRun, rows)


def standings(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> Standings:
    """The ladder's published table, or that of an earlier run.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownRunError: the ladder has no such run, or not any more.
    """
    ladder = summary(connection, ladder_id)
    run = find_run(connection, ladder_id, run_id)
    if run is None and run_id is not None:
        raise UnknownRunError(f'ladder "{ladder.name}" has no run {run_id}, or not any more')
    return Standings(ladder, run, [] if run is None else _standings(connection, run.id))


@dataclass(frozen=True, slots=True)
class DiagnosedRun:
    """A published run with what speaks against its fit."""

    run: PublishedRun
    diagnosis: dict[str, Any] | None
    """As it was published; ``None`` for a run of a release that did not look."""


def diagnosed_run(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> DiagnosedRun:
    """The ladder's published run, or an earlier one, with its diagnosis.

    Raises:
        UnknownRunError: the ladder has no such run, or not any more.
        NoRunError: it has none at all.
    """
    run = find_run(connection, ladder_id, run_id)
    if run is None:
        name = connection.scalar(select(Ladder.name).where(Ladder.id == ladder_id))
        if run_id is None:
            raise NoRunError(f'ladder "{name}" has no run yet; play rated games')
        raise UnknownRunError(f'ladder "{name}" has no run {run_id}, or not any more')
    diagnosis = select(RatingRun.diagnosis).where(RatingRun.id == run.id)
    return DiagnosedRun(run, connection.scalar(diagnosis))


@dataclass(frozen=True, slots=True)
class RatedVersion:
    """A version of a bot by its names."""

    id: BotVersionId
    bot: str
    label: str
    """May be empty."""
    is_hidden: bool
    """The bot is left out of tables."""


def rated_versions(
    connection: Connection, versions: Collection[BotVersionId]
) -> dict[BotVersionId, RatedVersion]:
    """Some versions with their names, by their ids."""
    query = (
        select(*columns_of(RatedVersion, BotVersion, bot=Bot.name, is_hidden=Bot.is_hidden))
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(BotVersion.id.in_(versions))
    )
    return {row.id: row for row in read_rows(RatedVersion, connection.execute(query))}


def final_run(connection: Connection, tournament_id: TournamentId) -> RatingRunId | None:
    """The newest run that was marked final for a tournament; ``None`` before there is one."""
    query = select(func.max(RatingRun.id)).where(RatingRun.final_of == tournament_id)
    return connection.scalar(query)


def covariances(connection: Connection, ladder_id: LadderId) -> Covariances | None:
    """Of the published run's ratings; ``None`` before the first, and for very large pools."""
    query = select(*columns_of(Covariances, Posterior)).where(Posterior.ladder_id == ladder_id)
    return read_row(Covariances, connection.execute(query))


def _standings(connection: Connection, run_id: RatingRunId) -> list[Standing]:
    query = (
        select(*_ENTITY, *_LINE)
        .select_from(Rating)
        .join(BotVersion, BotVersion.id == Rating.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Rating.run_id == run_id)
        .order_by(Rating.rank)
    )
    return [_standing(dict(row)) for row in connection.execute(query).mappings()]


def _standing(row: dict[str, Any]) -> Standing:
    line = Line(**{column.key: row.pop(column.key) for column in _LINE})
    return Standing(line=line, **row)


_ENTITY = (
    Bot.id.label("bot_id"),
    Bot.name.label("bot"),
    BotVersion.id.label("version_id"),
    DISTINCT_LABEL.label("version"),
    BotVersion.digest.label("digest"),
    BotVersion.hardware.label("hardware"),
    BotVersion.nodes_per_second.label("nodes_per_second"),
    Bot.is_hidden.label("is_hidden"),
)
_LINE = columns_of(Line, Rating)
