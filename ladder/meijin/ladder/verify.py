"""Verification of a published run: computed anew from the log of games, and compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection

from meijin.ladder.algorithms import rao_kupper_2
from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.tally import Snapshot, Tally
from meijin.store import Database, StoreError
from meijin.store.ladders import ladders
from meijin.store.ladders.figures import Figures, kept_figures
from meijin.store.ladders.games import logged_games
from meijin.store.ladders.runs import diagnosed_run
from meijin.store.ladders.versions import parents_of
from meijin.store.schema import LadderId, RatingRun, RatingRunId

Line: TypeAlias = dict[str, Any]
Algorithm: TypeAlias = Callable[[Snapshot], Figures]

FROZEN: dict[str, Algorithm] = {"rao-kupper-2": rao_kupper_2.figures}
"""Those of earlier releases."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification."""

    ladder: str
    run: RatingRun
    voided_since: int
    """Finished games of the ladder that were voided after the run."""
    differences: tuple[str, ...]
    """The parts that differ; empty when the run is verified."""


class UnknownAlgorithmError(StoreError):
    """The run was computed by an algorithm that this release does not know."""


def verify(
    database: Database, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> Verification:
    """Compute a run again from the games it names, and compare it to the last byte.

    Raises:
        UnknownLadderError: no ladder has the id.
        RowNotFoundError: the ladder has no such run.
        NoRunError: it has none at all.
        UnknownAlgorithmError: the run is of another release.
    """
    inputs = database.read(_inputs, ladder_id, run_id)
    run = inputs.run
    differences = _differences(inputs, inputs.algorithm(inputs.snapshot))
    return Verification(inputs.snapshot.ladder.name, run, inputs.voided_since, differences)


def verify_named(url: str, name: str, run_id: int | None) -> Verification:
    """Verify a run of the ladder of that name, or of the only one, in a database.

    Raises:
        UnknownLadderError: there is no such ladder, or there are several and no name.
        RowNotFoundError: the ladder has no such run.
        NoRunError: it has none at all.
        UnknownAlgorithmError: the run is of another release.
    """
    wanted = None if run_id is None else RatingRunId(run_id)
    with Database(url) as database:
        ladder_id = database.read(ladders.get_ladder, name)
        return verify(database, ladder_id, wanted)


class _Inputs(NamedTuple):
    """A run and the games it was computed from, read at one instant."""

    run: RatingRun
    kept: Figures
    algorithm: Algorithm
    snapshot: Snapshot
    voided_since: int


def _inputs(connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None) -> _Inputs:
    run = diagnosed_run(connection, ladder_id, run_id)
    algorithm = _algorithm(run)
    games = logged_games(connection, ladder_id, cutoff=run.cutoff, voided=run.voided)
    now = ladders.ladder_row(connection, ladder_id)
    tally = Tally.of(games)
    parents = parents_of(connection, tally.versions)
    snapshot = Snapshot.of(replace(now, voided=run.voided), tally, run.parameters.anchors, parents)
    kept = kept_figures(connection, run)
    return _Inputs(run, kept, algorithm, snapshot, voided_since=now.voided - run.voided)


def _algorithm(run: RatingRun) -> Algorithm:
    if run.algorithm == ALGORITHM:
        return lambda snapshot: Figures.of(rate(snapshot, run.create_time))
    if run.algorithm not in FROZEN:
        known = ", ".join((*FROZEN, ALGORITHM))
        raise UnknownAlgorithmError(
            f"run {run.id} was computed by {run.algorithm}, and this release knows {known}"
        )
    return FROZEN[run.algorithm]


def _differences(inputs: _Inputs, again: Figures) -> tuple[str, ...]:
    run, kept, tally = inputs.run, inputs.kept, inputs.snapshot.tally
    checks = {
        "checksum of the games": (run.checksum, inputs.snapshot.checksum),
        "number of games": (run.games, tally.games),
        "number of repeats": (run.repeats, tally.repeats),
        "parameters": (kept.parameters, again.parameters),
        "ratings": (kept.ratings, _as_kept(again.ratings, kept.ratings)),
        "diagnosis": (kept.diagnosis, again.diagnosis),
        "covariance": (kept.covariance, kept.covariance and again.covariance),
    }
    return tuple(name for name, (stored, made) in checks.items() if stored != made)


def _as_kept(again: Sequence[Line], kept: Sequence[Line]) -> list[Line]:
    """Lines that are computed anew, without the columns that are empty in all that are kept.

    Of those the release that kept them did not know.
    """
    empty = {name: None for name in (kept or ({},))[0] if all(line[name] is None for line in kept)}
    return [{**line, **empty} for line in again]
