"""Whether a published run is what its games say: computed anew from the log, and compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from meijin.ladder.table import ALGORITHM, rate
from meijin.store import Database, ladders
from meijin.store.ladders import NewRating, Run, Standings
from meijin.store.rated_games import Snapshot, log_snapshot
from meijin.store.tables import BotVersionId, LadderId, RatingRunId


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it."""

    ladder: str
    run: Run
    differences: tuple[str, ...]
    """What is not as it should be; empty when the run stands."""


class NothingToVerifyError(Exception):
    """The ladder has no run, or one that the log can't repeat any more."""


def verify(
    database: Database, ladder_id: LadderId, run_id: RatingRunId | None = None
) -> Verification:
    """Compute a run again from the games it names, and compare it to the last byte.

    Raises:
        UnknownLadderError: no ladder has the id.
        UnknownRunError: the ladder has no such run.
        NothingToVerifyError: see there.
    """
    table, snapshot = database.read(lambda connection: _inputs(connection, ladder_id, run_id))
    assert table.run is not None
    again = rate(snapshot, table.run.create_time)
    published = [NewRating(row.version_id, row.line) for row in table.standings]
    checks = {
        "checksum of the games": (table.run.checksum, again.checksum),
        "number of games": (table.run.games, again.games),
        "number of repeats": (table.run.repeats, again.repeats),
        "parameters": (table.run.parameters, again.parameters),
        "ratings": (transcript(published), transcript(again.ratings)),
    }
    differences = tuple(name for name, (kept, made) in checks.items() if kept != made)
    return Verification(table.ladder.name, table.run, differences)


def verify_named(url: str, name: str, run_id: int | None) -> Verification:
    """Verify a run of the ladder of that name, or of the only one, in a database.

    Raises:
        UnknownLadderError: there is no such ladder, or there are several and no name.
        UnknownRunError: the ladder has no such run.
        NothingToVerifyError: see there.
    """
    wanted = None if run_id is None else RatingRunId(run_id)
    with Database(url) as database:
        ladder = database.read(lambda connection: ladders.ladder_named(connection, name or None))
        return verify(database, ladder.id, wanted)


def _inputs(
    connection: Connection, ladder_id: LadderId, run_id: RatingRunId | None
) -> tuple[Standings, Snapshot]:
    """The run and the games it was computed from, of one instant."""
    table = ladders.standings(connection, ladder_id, run_id)
    if table.run is None:
        raise NothingToVerifyError(f'ladder "{table.ladder.name}" has no run yet')
    run = table.run
    if run.algorithm != ALGORITHM:
        raise NothingToVerifyError(
            f"run {run.id} was computed by {run.algorithm}, and this release knows {ALGORITHM}"
        )
    voided = ladders.voided_games(connection, ladder_id) - run.voided
    if voided:
        raise NothingToVerifyError(f"games voided since run {run.id}: {voided}; verify a newer run")
    anchors = [BotVersionId(key) for key in run.parameters["anchors"]]
    return table, log_snapshot(connection, ladder_id, anchors, run.cutoff)


def transcript(ratings: Sequence[NewRating]) -> bytes:
    """Ratings as bytes: equal for equal ratings alone."""
    return "".join(f"{rating!r}\n" for rating in ratings).encode()
