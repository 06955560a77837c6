"""Rating runs of ladders: published, kept, read, and exported in pages."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, delete, false, func, null, or_, select, tuple_, update

from meijin.store.bots import DISTINCT_LABEL
from meijin.store.errors import MatrixNotKeptError, NoRunError, RowNotFoundError, SupersededRunError
from meijin.store.ladders.days import forget_tallies
from meijin.store.ladders.games import PairCount, pair_counts_page
from meijin.store.ladders.ladders import LadderSummary, summary
from meijin.store.rows import add_row, add_rows, change_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Ladder,
    LadderId,
    Posterior,
    RatingLine,
    RatingRun,
    RatingRunId,
    TournamentId,
    computed,
)

KEPT_RUNS = 100
"""This many of a ladder's runs are kept whole, and of those before them the last of each day.

Final ones are never deleted.
"""


class NewRun(RatingRun):
    """A run to be published."""

    sequenced: int
    """The `end_sequence` that the ladder's log ended with."""
    ratings: Sequence[RatingLine]
    """Best first."""
    covariances: Posterior | None
    """``None`` for a pool too large to keep them."""


class Standing(RatingLine):
    """A version's line of a published run, with what the version is called."""

    bot_id: BotId = computed(BotVersion.bot_id)
    bot: str = computed(Bot.name)
    version: str = computed(DISTINCT_LABEL)
    """The version's label, told apart from equal ones of the bot; may be empty."""
    is_hidden: bool = computed(Bot.is_hidden)
    """The bot is left out of tables."""
    digest: str = computed(BotVersion.digest)
    """Of the version's program and its configuration."""
    configuration: Sequence[str] = computed(BotVersion.configuration)
    """Its options, each ``name=value``."""
    hardware: str = computed(BotVersion.hardware)
    """What the version says that it runs on; empty where it says nothing."""
    nodes_per_second: int = computed(BotVersion.nodes_per_second)
    """Of the reference search there, as the version says; 0 where it says nothing."""
    threads: int | None = computed(BotVersion.threads)
    """That its search was told to use, as it says; ``None`` where it says nothing."""
    memory_bytes: int | None = computed(BotVersion.memory_bytes)
    """That it was told to keep to; likewise."""
    is_hosted: bool = computed(BotVersion.is_hosted)
    """A host of the arena's runs it."""
    preview_elo: float | None = computed(null())
    """Its rating with the games since the run; ``None`` where nobody has computed it."""
    is_paused: bool = computed(false())
    """It gets no new games for a while, as far as anybody has looked."""


@dataclass(frozen=True, slots=True)
class Standings:
    """A ladder's table."""

    ladder: LadderSummary
    run: RatingRun | None
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
    before = find_run(connection, run.ladder_id)
    if before is not None and before.algorithm != run.algorithm:
        forget_tallies(connection, run.ladder_id, 0)  # another algorithm chains games otherwise
    run_id = add_row(connection, run).id
    add_rows(connection, [replace(line, run_id=run_id) for line in run.ratings])
    connection.execute(delete(Posterior).where(Posterior.ladder_id == run.ladder_id))
    if run.covariances is not None:
        add_row(connection, replace(run.covariances, ladder_id=run.ladder_id, run_id=run_id))
    connection.execute(ladder.values(run_id=run_id))
    _mark_final(connection, run, run_id)
    _forget_runs(connection, run.ladder_id)
    return True


def _mark_final(connection: Connection, run: NewRun, run_id: RatingRunId) -> None:
    mine = (
        Ladder.id == run.ladder_id,
        Ladder.settled_revision <= run.revision,
        Ladder.settled_sequence <= run.sequenced,
    )
    settled_by = connection.scalar(select(Ladder.settled_by).where(*mine))
    if settled_by is not None:
        change_row(connection, RatingRun, run_id, final_of=settled_by)
        connection.execute(update(Ladder).where(*mine).values(settled_by=None))


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
    connection.execute(delete(RatingLine).where(RatingLine.run_id.in_(keys)))
    connection.execute(delete(RatingRun).where(RatingRun.id.in_(keys)))


def find_run(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> RatingRun | None:
    """The ladder's published run or an earlier one, without its diagnosis, if there is one."""
    published = select(Ladder.run_id).where(Ladder.id == ladder_id).scalar_subquery()
    wanted = published if run_id is None else run_id
    mine = (RatingRun.id == wanted, RatingRun.ladder_id == ladder_id)
    return read_row(RatingRun, connection.execute(select(*_RUN).where(*mine)))


def runs_beside(connection: Connection, run: RatingRun) -> Sequence[RatingRun]:
    """The kept runs of its ladder before and after a run, as far as there are some."""
    mine = RatingRun.ladder_id == run.ladder_id
    before = select(func.max(RatingRun.id)).where(mine, RatingRun.id < run.id).scalar_subquery()
    after = select(func.min(RatingRun.id)).where(mine, RatingRun.id > run.id).scalar_subquery()
    query = select(*_RUN).where(or_(RatingRun.id == before, RatingRun.id == after))
    return read_rows(RatingRun, connection.execute(query.order_by(RatingRun.id)))


def list_runs(
    connection: Connection,
    ladder_id: LadderId,
    *,
    limit: int,
    before: RatingRunId | None = None,
) -> Sequence[RatingRun]:
    """At most `limit` runs of the ladder that are kept, newest first, from before one of them."""
    query = select(*_RUN).where(RatingRun.ladder_id == ladder_id)
    if before is not None:
        query = query.where(RatingRun.id < before)
    query = query.order_by(RatingRun.id.desc()).limit(limit)
    return read_rows(RatingRun, connection.execute(query))


class RunRating(RatingLine):
    """A version's line of a kept run, as it is listed among others of its bot."""

    create_time: datetime = computed(RatingRun.create_time)
    """When the run was computed."""
    version: str = computed(DISTINCT_LABEL)

    @property
    def day(self) -> str:
        return f"{self.create_time:%Y-%m-%d}"

    @property
    def games(self) -> int:
        return self.as_black.games + self.as_white.games


def ratings_by_run(
    connection: Connection,
    ladder_id: LadderId,
    bot_id: BotId,
    *,
    limit: int,
    before: tuple[RatingRunId, BotVersionId] | None = None,
) -> Sequence[RunRating]:
    """What the newest `KEPT_RUNS` runs rate the bot's versions, newest run and version first."""
    newest = select(RatingRun.id).where(RatingRun.ladder_id == ladder_id)
    newest = newest.order_by(RatingRun.id.desc()).limit(KEPT_RUNS)
    query = (
        select(*columns_of(RunRating))
        .select_from(RatingLine)
        .join(RatingRun, RatingRun.id == RatingLine.run_id)
        .join(BotVersion, BotVersion.id == RatingLine.version_id)
        .where(RatingRun.id.in_(newest), BotVersion.bot_id == bot_id)
    )
    if before is not None:
        query = query.where(tuple_(RatingLine.run_id, RatingLine.version_id) < before)
    query = query.order_by(RatingLine.run_id.desc(), RatingLine.version_id.desc())
    return read_rows(RunRating, connection.execute(query.limit(limit)))


def standings(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> Standings:
    """The ladder's published table, or that of an earlier run.

    Raises:
        UnknownLadderError: no ladder has the id.
        RowNotFoundError: the ladder has no such run, or not any more.
    """
    ladder = summary(connection, ladder_id)
    run = find_run(connection, ladder_id, run_id)
    if run is None and run_id is not None:
        raise RowNotFoundError(f'ladder "{ladder.name}" has no run {run_id}, or not any more')
    return Standings(ladder, run, [] if run is None else _standings(connection, run.id))


def diagnosed_run(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> RatingRun:
    """The ladder's published run, or an earlier one, with its diagnosis.

    Raises:
        UnknownLadderError: no ladder has the id.
        RowNotFoundError: the ladder has no such run, or not any more.
        NoRunError: it has none at all.
    """
    run = find_run(connection, ladder_id, run_id)
    if run is None:
        name = summary(connection, ladder_id).name
        if run_id is None:
            raise NoRunError(f'ladder "{name}" has no run yet; play rated games')
        raise RowNotFoundError(f'ladder "{name}" has no run {run_id}, or not any more')
    diagnosis = select(RatingRun.diagnosis).where(RatingRun.id == run.id)
    return replace(run, diagnosis=connection.scalar(diagnosis))


@dataclass(frozen=True, slots=True)
class RatedVersion:
    """A version of a bot by its names."""

    id: BotVersionId
    bot: str
    version: str
    """The version's label; may be empty."""
    is_hidden: bool
    """The bot is left out of tables."""


def rated_versions(
    connection: Connection, versions: Collection[BotVersionId]
) -> dict[BotVersionId, RatedVersion]:
    """Some versions with their names, by their ids."""
    query = (
        select(*_RATED_VERSION)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(BotVersion.id.in_(versions))
    )
    return {row.id: row for row in read_rows(RatedVersion, connection.execute(query))}


def final_run(connection: Connection, tournament_id: TournamentId) -> RatingRunId | None:
    """The newest run that was marked final for a tournament; ``None`` before there is one."""
    query = select(func.max(RatingRun.id)).where(RatingRun.final_of == tournament_id)
    return connection.scalar(query)


def covariances(connection: Connection, ladder_id: LadderId) -> Posterior | None:
    """Of the published run's ratings; ``None`` before the first, and for very large pools."""
    query = select(Posterior).where(Posterior.ladder_id == ladder_id)
    return read_row(Posterior, connection.execute(query))


def _standings(connection: Connection, run_id: RatingRunId) -> list[Standing]:
    query = (
        select(*columns_of(Standing))
        .join_from(RatingLine, BotVersion, BotVersion.id == RatingLine.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(RatingLine.run_id == run_id)
        .order_by(RatingLine.rank)
    )
    return read_rows(Standing, connection.execute(query))


_RUN = columns_of(RatingRun, diagnosis=null())
_RATED_VERSION = columns_of(
    RatedVersion, BotVersion, bot=Bot.name, version=BotVersion.label, is_hidden=Bot.is_hidden
)


FLOAT_BYTES, ID_BYTES = 4, 8
"""Of the numbers in `Posterior`."""


@dataclass(frozen=True, slots=True)
class CovarianceRow:
    """One row of the matrix of a published run."""

    place: int
    """From 0 on."""
    version: RatedVersion
    values: bytes
    """In Elo squared, up to a constant: four bytes each, little-endian floats."""


def run_to_export(
    connection: Connection, ladder_id: LadderId, expected: RatingRunId | None
) -> RatingRun:
    """The ladder's published run.

    Args:
        expected: The run of the pages before.

    Raises:
        UnknownLadderError: no ladder has the id.
        NoRunError: the ladder has published nothing yet.
        SupersededRunError: a newer run than the expected is published.
    """
    run = find_run(connection, ladder_id)
    if run is None:
        raise NoRunError("the ladder has no run yet; play rated games")
    if expected is not None and run.id != expected:
        raise SupersededRunError(
            f"run {run.id} has taken the place of run {expected}; begin with the first page again"
        )
    return run


def exported_pair_counts(
    connection: Connection,
    ladder_id: LadderId,
    run: RatingRun,
    *,
    after: tuple[BotVersionId, BotVersionId],
    limit: int,
) -> Sequence[tuple[PairCount, RatedVersion, RatedVersion]]:
    """At most `limit` pairs of a run's versions, from the one after these two, with names."""
    counts = pair_counts_page(connection, ladder_id, run.cutoff, after=after, limit=limit)
    versions = {version for pair in counts for version in (pair.black_id, pair.white_id)}
    names = rated_versions(connection, sorted(versions))
    return [(pair, names[pair.black_id], names[pair.white_id]) for pair in counts]


def exported_covariances(
    connection: Connection, ladder_id: LadderId, run: RatingRun, *, start: int, limit: int
) -> Sequence[CovarianceRow]:
    """At most `limit` rows of a run's matrix, from the place `start` on.

    Raises:
        MatrixNotKeptError: the pool is too large.
    """
    mine = (Posterior.ladder_id == ladder_id, Posterior.run_id == run.id)
    size = connection.scalar(select(func.length(Posterior.version_ids)).where(*mine))
    if size is None:
        raise MatrixNotKeptError(f"of run {run.id} no matrix is kept: it has too many versions")
    versions = size // ID_BYTES
    rows = min(limit, versions - start)
    if rows <= 0:
        return []
    width = versions * FLOAT_BYTES
    ids, matrix = connection.execute(
        select(
            func.substr(Posterior.version_ids, 1 + start * ID_BYTES, rows * ID_BYTES),
            func.substr(Posterior.matrix, 1 + start * width, rows * width),
        ).where(*mine)
    ).one()
    keys = [
        BotVersionId(int.from_bytes(ids[place : place + ID_BYTES], "little"))
        for place in range(0, len(ids), ID_BYTES)
    ]
    names = rated_versions(connection, keys)
    return [
        CovarianceRow(start + place, names[key], matrix[place * width : (place + 1) * width])
        for place, key in enumerate(keys)
    ]
