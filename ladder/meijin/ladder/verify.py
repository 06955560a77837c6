"""Verification of a published run: computed anew from the log of games, and compared."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection

from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.tally import Snapshot, Tally
from meijin.store import Database, StoreError
from meijin.store.ladders import ladders
from meijin.store.ladders.games import logged_games
from meijin.store.ladders.runs import NewRun, diagnosed_run, rating_lines
from meijin.store.ladders.versions import parents_of
from meijin.store.schema import LadderId, RatingLine, RatingRun, RatingRunId


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
    differences = _differences(inputs, rate(inputs.snapshot, run.create_time))
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
    ratings: Sequence[RatingLine]
    snapshot: Snapshot
    voided_since: int


def _inputs(connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None) -> _Inputs:
    run = diagnosed_run(connection, ladder_id, run_id)
    if run.algorithm != ALGORITHM:
        raise UnknownAlgorithmError(
            f"run {run.id} was computed by {run.algorithm}, and this release knows {ALGORITHM}"
        )
    games = logged_games(connection, ladder_id, cutoff=run.cutoff, voided=run.voided)
    now = ladders.ladder_row(connection, ladder_id)
    tally = Tally.of(games)
    parents = parents_of(connection, tally.versions)
    snapshot = Snapshot.of(replace(now, voided=run.voided), tally, run.parameters.anchors, parents)
    ratings = rating_lines(connection, run.id)
    return _Inputs(run, ratings, snapshot, voided_since=now.voided - run.voided)


def _differences(inputs: _Inputs, again: NewRun) -> tuple[str, ...]:
    run = inputs.run
    checks = {
        "checksum of the games": (run.checksum, again.checksum),
        "number of games": (run.games, again.games),
        "number of repeats": (run.repeats, again.repeats),
        "parameters": (run.parameters, again.parameters),
        "ratings": (inputs.ratings, _as_kept(again.ratings, inputs.ratings)),
        "diagnosis": (run.diagnosis, again.diagnosis),
    }
    return tuple(name for name, (kept, made) in checks.items() if kept != made)


_LATER = tuple(each.name for each in fields(RatingLine) if each.default is None)
"""Columns that runs of earlier releases have not."""


def _as_kept(again: Sequence[RatingLine], kept: Sequence[RatingLine]) -> list[RatingLine]:
    """Lines that are computed anew, without what the release that kept them did not compute."""
    known = [_without_later(*lines) for lines in zip(again, kept, strict=False)]
    return [*known, *again[len(kept) :]]


def _without_later(again: RatingLine, kept: RatingLine) -> RatingLine:
    missing: dict[str, Any] = {name: None for name in _LATER if getattr(kept, name) is None}
    return replace(again, **missing)
