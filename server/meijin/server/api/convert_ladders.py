"""Ladders as they are kept, as messages."""

from meijin.store.ladders.days import DayRating
from meijin.store.ladders.ladders import LadderSummary
from meijin.store.ladders.runs import PublishedRun, Score, Standing
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire import time_to_proto


def ladder_to_proto(row: LadderSummary) -> pb.Ladder:
    """A ladder in a list."""
    return pb.Ladder(name=row.name, games=row.games, current=row.is_current)


def run_to_proto(run: PublishedRun) -> pb.RatingRun:
    """A run without its ratings."""
    return pb.RatingRun(
        run_id=str(run.id),
        games=run.games,
        repeats=run.repeats,
        checksum=run.checksum,
        create_time=time_to_proto(run.create_time),
        algorithm=run.algorithm,
        advantage=run.parameters["advantage"],
        draws=run.parameters["draws"],
    )


def score_to_proto(score: Score) -> pb.Score:
    """Games by their results."""
    return pb.Score(wins=score.wins, draws=score.draws, losses=score.losses)


def standing_to_proto(row: Standing) -> pb.Standing:
    """A version's line of a run."""
    line = row.line
    return pb.Standing(
        rank=line.rank,
        bot=row.bot,
        version=row.version,
        elo=line.elo,
        margin=line.margin,
        superiority=line.superiority,
        classic_elo=line.classic_elo,
        opponents_elo=line.opponents_elo,
        as_black=score_to_proto(line.as_black),
        as_white=score_to_proto(line.as_white),
        faults=line.faults,
        anchor=line.is_anchor,
        provisional=line.is_provisional,
        linked=line.is_linked,
    )


def day_rating_to_proto(row: DayRating) -> pb.DayRating:
    """A version's rating at the end of a day."""
    return pb.DayRating(
        day=row.day.isoformat(),
        version=row.version,
        elo=row.elo,
        margin=row.margin,
        games=row.games,
    )
