"""Converters of ladders: views in, messages out."""

import json
import sys
from array import array
from collections.abc import Mapping
from typing import Any

from meijin.ladder.compare import Expectation, MatrixRow
from meijin.ladder.posterior import outcomes_of
from meijin.server.views.ladders import HeadToHead, LadderLine
from meijin.store.ladders.days import DayRating
from meijin.store.ladders.exports import CovarianceRow
from meijin.store.ladders.ladders import LadderSummary
from meijin.store.ladders.meetings import ColorScores
from meijin.store.ladders.rated_games import PairCount
from meijin.store.ladders.runs import PublishedRun, RatedVersion, Score, Standing
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire import time_to_proto

MAX_OPENINGS = 50
"""Of two versions that are told by themselves."""


def ladder_to_proto(row: LadderSummary) -> pb.Ladder:
    """A ladder in a list."""
    published = row.run_create_time
    return pb.Ladder(
        name=row.name,
        games=row.games,
        current=row.is_current,
        run_create_time=None if published is None else time_to_proto(published),
    )


def run_to_proto(run: PublishedRun) -> pb.RatingRun:
    """A run without its ratings."""
    parameters = run.parameters
    outcomes = outcomes_of(parameters)
    fit, sensitivity = parameters.get("diagnosis"), parameters.get("prior_sensitivity")
    return pb.RatingRun(
        run_id=str(run.id),
        games=run.games,
        repeats=run.repeats,
        checksum=run.checksum,
        create_time=time_to_proto(run.create_time),
        algorithm=run.algorithm,
        advantage=outcomes.advantage,
        draws=outcomes.draws,
        draw_slope=outcomes.draw_slope,
        draw_level=outcomes.level,
        score_at_100=float(outcomes.score_with_both(100.0)),
        prior_sensitivity=None if sensitivity is None else pb.PriorSensitivity(**sensitivity),
        parameters=json.dumps(parameters, sort_keys=True),
        cutoff=run.cutoff,
        lineage_deviation=parameters.get("lineage"),
        opening_deviation=parameters.get("openings"),
        overdispersion=_overdispersion_to_proto(parameters) if "factor" in parameters else None,
        fit=None if fit is None else _fit_to_proto(fit),
        final_of="" if run.final_of is None else str(run.final_of),
    )


def _overdispersion_to_proto(parameters: Mapping[str, float]) -> pb.Overdispersion:
    return pb.Overdispersion(
        correlation=parameters["correlation"],
        pair_deviation=parameters["pair_deviation"],
        factor=parameters["factor"],
        walk_deviation=parameters.get("walk", 0.0),
    )


def _fit_to_proto(fit: Mapping[str, Any]) -> pb.FitSummary:
    """How well a run fits, as it stands among its parameters."""
    return pb.FitSummary(
        p_value=fit["p_value"],
        overdispersion=fit["overdispersion"],
        deviation=fit["deviation"],
        rejected=fit["is_rejected"],
        pairs=fit["pairs"],
        triples=fit["triples"],
        drifts=fit["drifts"],
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
        version_id=str(row.version_id),
        depends_on_opponents=line.depends_on_opponents,
        changes_over_time=line.changes_over_time,
        hardware=row.hardware,
        nodes_per_second=row.nodes_per_second,
        digest=row.digest,
    )


def rated_version_to_proto(version: RatedVersion) -> pb.RatedVersion:
    """A version by its names."""
    return pb.RatedVersion(version_id=str(version.id), bot=version.bot, version=version.label)


def _exported_to_proto(version: RatedVersion) -> pb.RatedVersion:
    """A version by its names, or by its id alone where its bot is hidden."""
    if version.is_hidden:
        return pb.RatedVersion(version_id=str(version.id))
    return rated_version_to_proto(version)


def pair_count_to_proto(pair: PairCount, black: RatedVersion, white: RatedVersion) -> pb.PairCount:
    """The games of two versions."""
    return pb.PairCount(
        black=_exported_to_proto(black),
        white=_exported_to_proto(white),
        score=pb.Score(wins=pair.wins, draws=pair.draws, losses=pair.losses),
    )


def covariance_row_to_proto(row: CovarianceRow) -> pb.CovarianceRow:
    """One row of a matrix."""
    values = array("f", row.values)
    if sys.byteorder == "big":
        values.byteswap()
    return pb.CovarianceRow(version=_exported_to_proto(row.version), values=values)


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
    """One version against another."""
    expected = found.expectation
    return pb.GetHeadToHeadResponse(
        as_black=score_to_proto(found.scores.as_black),
        as_white=score_to_proto(found.scores.as_white),
        expectation=None if expected is None else _expectation_to_proto(expected),
        version=rated_version_to_proto(found.version),
        opponent_version=rated_version_to_proto(found.other),
        without_faults=color_scores_to_proto(found.without_faults),
        openings=[
            pb.OpeningScores(opening=opening, scores=color_scores_to_proto(scores))
            for opening, scores in found.openings[:MAX_OPENINGS]
        ],
        opening_count=len(found.openings),
        all_versions=color_scores_to_proto(found.all_versions),
        elsewhere=[
            pb.LadderScores(ladder=ladder, scores=color_scores_to_proto(scores))
            for ladder, scores in found.elsewhere
        ],
    )


def _expectation_to_proto(expected: Expectation) -> pb.Expectation:
    return pb.Expectation(
        difference=expected.difference,
        margin=expected.margin,
        superiority=expected.superiority,
        score_as_black=expected.score_as_black,
        score_as_white=expected.score_as_white,
    )


def color_scores_to_proto(scores: ColorScores) -> pb.ColorScores:
    """What one scored against another, by its colours."""
    return pb.ColorScores(
        as_black=score_to_proto(scores.as_black), as_white=score_to_proto(scores.as_white)
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
