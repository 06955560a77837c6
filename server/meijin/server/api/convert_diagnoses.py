"""Converters of diagnoses: views in, messages out."""

from meijin.server.api.convert_ladders import rated_version_to_proto, run_to_proto
from meijin.server.views.diagnoses import DriftLine, LadderDiagnosis, PairLine, TripleLine
from meijin.v1 import ladder_service_pb2 as pb


def diagnosis_to_proto(found: LadderDiagnosis) -> pb.GetDiagnosisResponse:
    """What speaks against a run."""
    goodness = found.goodness
    message = pb.GetDiagnosisResponse(
        ladder=found.ladder,
        run=run_to_proto(found.run),
        pairs=map(_pair_to_proto, found.pairs),
        triples=map(_triple_to_proto, found.triples),
        drifts=map(_drift_to_proto, found.drifts),
    )
    if goodness is not None:
        message.chi_square = goodness.chi_square
        message.deviance = goodness.deviance
        message.degrees_of_freedom = goodness.freedom
        message.pairs_with_enough_games = goodness.pairs
    return message


def _pair_to_proto(line: PairLine) -> pb.PairResidual:
    finding = line.finding
    return pb.PairResidual(
        one=rated_version_to_proto(line.one),
        other=rated_version_to_proto(line.other),
        games=finding.games,
        score=finding.score,
        expected_score=finding.expected,
        deviations=finding.deviations,
        p_value=finding.p_value,
        sure=finding.is_sure,
    )


def _triple_to_proto(line: TripleLine) -> pb.CircularTriad:
    finding = line.finding
    return pb.CircularTriad(
        one=rated_version_to_proto(line.one),
        other=rated_version_to_proto(line.other),
        third=rated_version_to_proto(line.third),
        excess=finding.excess,
        deviations=finding.deviations,
        p_value=finding.p_value,
        sure=finding.is_sure,
    )


def _drift_to_proto(line: DriftLine) -> pb.VersionDrift:
    finding = line.finding
    return pb.VersionDrift(
        version=rated_version_to_proto(line.version),
        elo_per_100_games=finding.elo_per_100_games,
        deviations=finding.deviations,
        p_value=finding.p_value,
        sure=finding.is_sure,
    )
