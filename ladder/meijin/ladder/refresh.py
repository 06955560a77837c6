"""A ladder's run: from a snapshot of its games to published ratings."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
import structlog
from sqlalchemy import Connection

from meijin.ladder import bradley_terry, elo
from meijin.store import Database, ladders
from meijin.store.ladders import NewRating, NewRun, PairCount, Snapshot
from meijin.store.tables import BotVersionId, LadderId

ALGORITHM = "bradley-terry-1"
"""Changes whenever the same games would get other numbers."""
BASE = 1500.0
"""What the mean of the rated versions is shown as: classic Elo's start."""
DIGITS = 4
"""Decimals of a published rating; rounding error in the fit is below the eighth."""

_log = structlog.get_logger()


def now() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


def refresh(database: Database, ladder_id: LadderId, clock: Callable[[], datetime] = now) -> bool:
    """Publish a new run of the ladder if it is dirty; tell whether it was published.

    Running it twice, late or in two places at once does no harm. Nothing is
    locked while it computes.

    Raises:
        UnknownLadderError: no ladder has the id.
    """
    snapshot = database.read(lambda connection: _dirty_snapshot(connection, ladder_id))
    if snapshot is None:
        return False
    run = rate(snapshot, create_time=clock())
    if not database.write(lambda connection: ladders.publish(connection, run)):
        return False
    _log.info(
        "ladder published",
        ladder=snapshot.name,
        revision=run.revision,
        games=run.games,
        versions=len(run.ratings),
        seconds=round((clock() - run.create_time).total_seconds(), 3),
    )
    return True


def _dirty_snapshot(connection: Connection, ladder_id: LadderId) -> Snapshot | None:
    if not ladders.is_dirty(connection, ladder_id):
        return None
    return ladders.snapshot(connection, ladder_id)


def rate(snapshot: Snapshot, create_time: datetime) -> NewRun:
    """The run of a snapshot: nothing else goes into it but the time it is stamped with."""
    fit = bradley_terry.fit(_columns(snapshot.pair_counts))
    strengths = {
        BotVersionId(player): round(BASE + strength, DIGITS)
        for player, strength in zip(fit.players.tolist(), fit.elo.tolist(), strict=True)
    }
    classic = elo.replay(snapshot.results)
    wins, draws, losses = _scores(snapshot.pair_counts)
    faults = {count.version_id: count.faults for count in snapshot.fault_counts}
    best_first = sorted(strengths, key=lambda version: (-strengths[version], version))
    return NewRun(
        ladder_id=snapshot.ladder_id,
        revision=snapshot.revision,
        games=snapshot.games,
        checksum=snapshot.checksum,
        algorithm=ALGORITHM,
        parameters={
            "advantage": round(fit.advantage, DIGITS),
            "base": BASE,
            "prior": bradley_terry.PRIOR,
        },
        create_time=create_time,
        ratings=[
            NewRating(
                version_id=version,
                rank=rank,
                elo=strengths[version],
                classic_elo=round(classic[version], DIGITS),
                games=wins[version] + draws[version] + losses[version],
                wins=wins[version],
                draws=draws[version],
                losses=losses[version],
                faults=faults.get(version, 0),
            )
            for rank, version in enumerate(best_first, start=1)
        ],
    )


def _columns(pairs: Sequence[PairCount]) -> bradley_terry.PairCounts:
    rows = [(pair.black_id, pair.white_id, pair.wins, pair.draws, pair.losses) for pair in pairs]
    return bradley_terry.PairCounts(*np.array(rows, dtype=np.int64).reshape(-1, 5).T)


def _scores(
    pairs: Sequence[PairCount],
) -> tuple[Counter[BotVersionId], Counter[BotVersionId], Counter[BotVersionId]]:
    """Each version's wins, draws and losses over both colours."""
    wins: Counter[BotVersionId] = Counter()
    draws: Counter[BotVersionId] = Counter()
    losses: Counter[BotVersionId] = Counter()
    for pair in pairs:
        wins[pair.black_id] += pair.wins
        losses[pair.black_id] += pair.losses
        wins[pair.white_id] += pair.losses
        losses[pair.white_id] += pair.wins
        for version in (pair.black_id, pair.white_id):
            draws[version] += pair.draws
    return wins, draws, losses
