"""A published run, computed anew from the log of games, and compared with all that is kept."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from meijin.ladder.algorithms.registry import find_algorithm
from meijin.ladder.refresh import now
from meijin.ladder.tally import Snapshot, Tally
from meijin.ladder.verification.figures import VersionNames, differing_figures
from meijin.ladder.verification.history import first_other_rating
from meijin.ladder.verification.log import CheckedLog, first_other_day, tallies_at
from meijin.store import Database
from meijin.store.ladders import days, ladders
from meijin.store.ladders.figures import kept_figures
from meijin.store.ladders.games import games_of_day, read_log, voids_since
from meijin.store.ladders.runs import diagnosed_run, list_runs, runs_beside
from meijin.store.ladders.versions import parents_of
from meijin.store.schema import Ladder, LadderId, RatingRun, RatingRunId

CLOCK_SLACK = timedelta(hours=3)
"""That a run may seem to be before its games, or those before it: a clock is set by an hour."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification."""

    ladder: str
    run: RatingRun
    voided_since: int
    """Finished games of the ladder that were voided after the run."""
    differences: tuple[str, ...]
    """The first of each part that differs, a sentence each; empty when the run is verified."""


def verify(
    database: Database,
    ladder_id: LadderId,
    run_id: RatingRunId | None = None,
    *,
    is_replayed: bool = False,
) -> Verification:
    """Compute a run again from the games it names, and compare it to the last byte.

    With the published one all that is kept beside it is compared: the tallies of days and the
    history.

    Args:
        is_replayed: Have the moves of every game played again by its rule.

    Raises:
        UnknownLadderError: no ladder has the id.
        RowNotFoundError: the ladder has no such run.
        NoRunError: it has none at all.
        UnknownAlgorithmError: the run is of another release.
    """
    return database.read(partial(_verified, is_replayed=is_replayed), ladder_id, run_id)


def verify_named(
    url: str, name: str, run_id: int | None, *, is_replayed: bool = False
) -> Verification:
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
        return verify(database, ladder_id, wanted, is_replayed=is_replayed)


def _verified(
    connection: Connection,
    ladder_id: LadderId,
    run_id: RatingRunId | None,
    *,
    is_replayed: bool,
) -> Verification:
    run = diagnosed_run(connection, ladder_id, run_id)
    ladder = ladders.ladder_row(connection, ladder_id)
    differences = tuple(_differences(connection, ladder, run, is_replayed=is_replayed))
    return Verification(ladder.name, run, ladder.voided - run.voided, differences)


def _differences(
    connection: Connection, ladder: Ladder, run: RatingRun, *, is_replayed: bool
) -> Iterator[str]:
    """The first difference of each part: games, days, the run and its figures, the history."""
    algorithm = find_algorithm(run.algorithm, f"run {run.id}")
    kept = days.kept_tallies(connection, ladder.id) if run.id == ladder.run_id else []
    games = read_log(connection, ladder.id, cutoff=run.cutoff, voided=run.voided)
    log, tally = CheckedLog(games, is_replayed), Tally(line=algorithm.game_line)
    tallies = tallies_at(tally, log, {each.cutoff for each in kept})
    names = VersionNames.of(connection, tally.versions)
    yield from _of_ladder(connection, ladder)
    yield from log.problems
    yield from first_other_day(kept, tallies, names, partial(games_of_day, connection, ladder.id))
    yield from _of_run(connection, run, tally, log.last_end)
    parents = parents_of(connection, tally.versions)
    then = replace(ladder, voided=run.voided)
    snapshot = Snapshot.of(then, tally, run.parameters.anchors, parents)
    if run.checksum != snapshot.checksum:
        yield f"checksum kept {run.checksum}, computed {snapshot.checksum}"
    made = algorithm.figures(snapshot)
    if run.id != ladder.run_id:
        made = replace(made, covariance=None)  # kept of the published run alone
    yield from differing_figures(kept_figures(connection, run), made, names)
    if run.id == ladder.run_id:
        anchors = ladders.anchors(connection, ladder.id)
        history = days.kept_history(connection, ladder.id)
        yield from first_other_rating(kept, history, anchors, dict[int, int](parents), names)


def _of_ladder(connection: Connection, ladder: Ladder) -> Iterator[str]:
    """What the ladder says of itself: which run is published, and how many games were voided."""
    newest = list_runs(connection, ladder.id, limit=1)[0]
    if newest.id != ladder.run_id:
        yield f"published run kept {ladder.run_id}, and the newest is {newest.id}"
    voids = len(voids_since(connection, ladder.id, 0))
    if voids != ladder.voided:
        yield f"voided games kept {ladder.voided}, and the fault ledger has {voids}"


def _of_run(
    connection: Connection, run: RatingRun, tally: Tally, last_end: datetime
) -> Iterator[str]:
    """What the run says of itself beside its figures; when it was computed can but be bounded."""
    for name in ("cutoff", "games", "repeats"):
        stored, computed = getattr(run, name), getattr(tally, name)
        if stored != computed:
            yield f"{name} kept {stored}, computed {computed}"
            break
    beside = runs_beside(connection, run)
    for other in beside:
        if (other.id < run.id) != (other.revision < run.revision):
            yield f"revision kept {run.revision}, and {other.revision} in run {other.id}"
    after = [last_end, *(each.create_time for each in beside if each.id < run.id)]
    before = [now(), *(each.create_time for each in beside if each.id > run.id)]
    first, last = max(after), min(before)
    if not first - CLOCK_SLACK <= run.create_time <= last + CLOCK_SLACK:
        yield f"time kept {run.create_time}, and it lies between {first} and {last}"
