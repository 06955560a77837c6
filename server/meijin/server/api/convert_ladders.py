"""Converters of ladders: views in, messages out."""

from meijin.ladder.compare import MatrixRow
from meijin.server.views.ladders import HeadToHead, LadderLine
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


def line_to_proto(line: LadderLine) -> pb.Standing:
    """A version's line of a table, with its preview and its pause."""
    message = standing_to_proto(line.standing)
    message.paused = line.is_paused
    if line.preview_elo is not None:
        message.preview_elo = line.preview_elo
    return message


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
        hardware=row.hardware,
        digest=row.digest,
    )


def matrix_row_to_proto(row: MatrixRow) -> pb.MatrixRow:
    """A version against each of a matrix."""
    return pb.MatrixRow(
        standing=standing_to_proto(row.standing),
        cells=[
            pb.MatrixCell(
                superiority=cell.superiority,
                expected_score=cell.expected_score,
                score=score_to_proto(cell.score),
            )
            for cell in row.cells
        ],
    )


def head_to_head_to_proto(found: HeadToHead) -> pb.GetHeadToHeadResponse:
    """One bot against another."""
    expected = found.expectation
    return pb.GetHeadToHeadResponse(
        as_black=score_to_proto(found.as_black),
        as_white=score_to_proto(found.as_white),
        expectation=None
        if expected is None
        else pb.Expectation(
            difference=expected.difference,
            margin=expected.margin,
            superiority=expected.superiority,
            score_as_black=expected.score_as_black,
            score_as_white=expected.score_as_white,
        ),
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
