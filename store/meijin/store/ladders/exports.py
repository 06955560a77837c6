"""What a published run was computed from, and its covariances, in pages for an export."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from meijin.store.errors import MatrixNotKeptError, NoRunError, SupersededRunError
from meijin.store.ladders.rated_games import PairCount, pair_counts_page
from meijin.store.ladders.runs import PublishedRun, RatedVersion, find_run, rated_versions
from meijin.store.schema import BotVersionId, LadderId, Posterior, RatingRunId

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
) -> PublishedRun:
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
    run: PublishedRun,
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
    connection: Connection, ladder_id: LadderId, run: PublishedRun, *, start: int, limit: int
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
