"""Made-up runs of leagues."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.store.league import League

from meijin.store.ladders import runs as rating_runs
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import BotVersionId, LadderId, Posterior, RatingLine, RunParameters

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LINE = RatingLine(
    version_id=BotVersionId(1),
    rank=1,
    elo=1500.0,
    margin=50.25,
    superiority=0.75,
    classic_elo=1500.25,
    opponents_elo=1499.5,
    wins_as_black=2,
    draws_as_black=1,
    losses_as_black=1,
    wins_as_white=1,
    draws_as_white=1,
    losses_as_white=0,
    faults=1,
    is_anchor=False,
    is_provisional=True,
    is_linked=True,
)


def bare_run(ladder_id: LadderId, revision: int, time: datetime) -> NewRun:
    return NewRun(
        ladder_id=ladder_id,
        revision=revision,
        voided=3,
        sequenced=revision + 2,
        cutoff=revision + 2,
        games=revision,
        repeats=2,
        checksum=f"{revision:064}",
        algorithm="made-up",
        parameters=RunParameters(advantage=12.5, anchors=(BotVersionId(1),)),
        create_time=time,
        ratings=[],
        covariances=None,
    )


def run_of(
    league: League, revision: int, *, elo: float = 1500.0, time: datetime | None = None
) -> NewRun:
    """A made-up run in which everybody has a rating, the first bot the best."""
    ratings = [
        replace(LINE, version_id=version, rank=rank, elo=elo - rank)
        for rank, version in enumerate(league.versions, start=1)
    ]
    matrix = f"matrix {revision}".encode()
    return replace(
        bare_run(league.ladder_id, revision, time or NOON + timedelta(minutes=revision)),
        ratings=ratings,
        covariances=Posterior(version_ids=b"versions", matrix=matrix),
    )


def publish(league: League, run: NewRun) -> bool:
    return league.database.write(rating_runs.publish, run)
