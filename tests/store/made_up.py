"""Made-up runs of leagues."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from meijin.store.ladders import runs as rating_runs
from meijin.store.ladders.runs import Covariances, Line, NewRating, NewRun

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LINE = Line(
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


def run_of(
    league: "League", revision: int, *, elo: float = 1500.0, time: datetime | None = None
) -> NewRun:
    """A made-up run in which everybody has a rating, the first bot the best."""
    return NewRun(
        ladder_id=league.ladder_id,
        revision=revision,
        voided=3,
        sequenced=revision + 2,
        cutoff=revision + 2,
        games=revision,
        repeats=2,
        checksum=f"{revision:064}",
        algorithm="made-up",
        parameters={"advantage": 12.5, "anchors": [1]},
        create_time=time or NOON + timedelta(minutes=revision),
        ratings=[
            NewRating(version, replace(LINE, rank=rank, elo=elo - rank))
            for rank, version in enumerate(league.versions, start=1)
        ],
        covariances=Covariances(b"versions", f"matrix {revision}".encode()),
    )


def publish(league: "League", run: NewRun) -> bool:
    """Publish in a transaction."""
    return league.database.write(lambda connection: rating_runs.publish(connection, run))
