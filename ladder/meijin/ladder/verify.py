"""Verification of a published run: computed anew from the log of games, and compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.tally import Snapshot, Tally
from meijin.store import Database, StoreError
from meijin.store.errors import NoRunError
from meijin.store.ladders import ladders
from meijin.store.ladders.lineage import parents_of
from meijin.store.ladders.log import logged_games
from meijin.store.ladders.runs import (
    NewRating,
    NewRun,
    PublishedRun,
    Standing,
    diagnosed_run,
    standings,
)
from meijin.store.schema import BotVersionId, LadderId, RatingRunId


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification."""

    ladder: str
    run: PublishedRun
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
        UnknownRunError: the ladder has no such run.
        NoRunError: it has none at all.
        MixedLadderError: its games count for other ladders now.
        UnknownAlgorithmError: the run is of another release.
    """
    inputs = database.read(lambda connection: _inputs(connection, ladder_id, run_id))
    run = inputs.run
    differences = _differences(inputs, rate(inputs.snapshot, run.create_time))
    return Verification(inputs.snapshot.name, run, inputs.voided_since, differences)


def verify_named(url: str, name: str, run_id: int | None) -> Verification:
    """Verify a run of the ladder of that name, or of the only one, in a database.

    Raises:
        UnknownLadderError: there is no such ladder, or there are several and no name.
        UnknownRunError: the ladder has no such run.
        NoRunError: it has none at all.
        MixedLadderError: its games count for other ladders now.
        UnknownAlgorithmError: the run is of another release.
    """
    wanted = None if run_id is None else RatingRunId(run_id)
    with Database(url) as database:
        ladder_id = database.read(lambda connection: ladders.get_ladder(connection, name))
        return verify(database, ladder_id, wanted)


class _Inputs(NamedTuple):
    """A run and the games it was computed from, read at one instant."""

    run: PublishedRun
    diagnosis: dict[str, Any] | None
    standings: Sequence[Standing]
    snapshot: Snapshot
    voided_since: int


def _inputs(connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None) -> _Inputs:
    table = standings(connection, ladder_id, run_id)
    ladders.check_goes_on(connection, ladder_id)
    run = table.run
    if run is None:
        raise NoRunError(f'ladder "{table.ladder.name}" has no run yet')
    if run.algorithm != ALGORITHM:
        raise UnknownAlgorithmError(
            f"run {run.id} was computed by {run.algorithm}, and this release knows {ALGORITHM}"
        )
    anchors = [BotVersionId(key) for key in run.parameters["anchors"]]
    games = logged_games(connection, ladder_id, cutoff=run.cutoff, voided=run.voided)
    ladder = ladders.ladder_row(connection, ladder_id)._replace(voided=run.voided)
    tally = Tally.of(games)
    snapshot = Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))
    voided_since = ladders.voided_games(connection, ladder_id) - run.voided
    diagnosis = diagnosed_run(connection, ladder_id, run.id).diagnosis
    return _Inputs(run, diagnosis, table.standings, snapshot, voided_since)


def _differences(inputs: _Inputs, again: NewRun) -> tuple[str, ...]:
    run = inputs.run
    published = [NewRating(row.version_id, row.line) for row in inputs.standings]
    checks = {
        "checksum of the games": (run.checksum, again.checksum),
        "number of games": (run.games, again.games),
        "number of repeats": (run.repeats, again.repeats),
        "parameters": (run.parameters, again.parameters),
        "ratings": (transcript(published), transcript(again.ratings)),
        "diagnosis": (inputs.diagnosis, again.diagnosis),
    }
    return tuple(name for name, (kept, made) in checks.items() if kept != made)


def transcript(ratings: Sequence[NewRating]) -> bytes:
    """A serialisation of ratings: bytes that are equal for equal ratings alone."""
    return "".join(f"{rating!r}\n" for rating in ratings).encode()
