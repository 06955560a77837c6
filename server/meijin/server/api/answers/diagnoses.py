"""Diagnoses of ladders: what speaks against a run, by the names of versions."""

from collections.abc import Iterator
from itertools import chain

from sqlalchemy import Connection

from meijin.server.api.answers.messages import run_to_proto
from meijin.store.ladders.ladders import get_ladder, ladder_row
from meijin.store.ladders.runs import diagnosed_run, rated_versions
from meijin.store.schema import BotVersionId, RatingRunId, RunDiagnosis
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.mapping import to_message


def diagnosis_of(
    connection: Connection, ladder: str, run_id: RatingRunId | None = None
) -> pb.GetDiagnosisResponse:
    """What the published run of a ladder, or an earlier one, keeps of its diagnosis.

    What hidden bots take part in is left out.

    Raises:
        UnknownLadderError: no ladder has the name.
        RowNotFoundError: the ladder has no such run, or not any more.
        NoRunError: it has none at all.
    """
    ladder_id = get_ladder(connection, ladder)
    run = diagnosed_run(connection, ladder_id, run_id)
    name = ladder_row(connection, ladder_id).name
    answer = pb.GetDiagnosisResponse(ladder=name, run=run_to_proto(run))
    if run.diagnosis is not None:
        _fill(answer, connection, run.diagnosis)
    return answer


def _fill(answer: pb.GetDiagnosisResponse, connection: Connection, found: RunDiagnosis) -> None:
    goodness = found.goodness
    answer.chi_square, answer.deviance = goodness.chi_square, goodness.deviance
    answer.degrees_of_freedom = goodness.freedom
    answer.pairs_with_enough_games = goodness.pairs
    named = rated_versions(connection, set(chain.from_iterable(_versions(found))))
    shown = {
        key: to_message(each, pb.RatedVersion) for key, each in named.items() if not each.is_hidden
    }
    for pair in found.pairs:
        if {pair.one, pair.other} <= shown.keys():
            one, other = shown[pair.one], shown[pair.other]
            expected = pair.expected
            answer.pairs.append(
                to_message(pair, pb.PairResidual, one=one, other=other, expected_score=expected)
            )
    for triple in found.triples:
        ids = (triple.one, triple.other, triple.third)
        if set(ids) <= shown.keys():
            one, other, third = (shown[each] for each in ids)
            answer.triples.append(
                to_message(triple, pb.CircularTriad, one=one, other=other, third=third)
            )
    for drift in found.drifts:
        if drift.version_id in shown:
            version = shown[drift.version_id]
            answer.drifts.append(to_message(drift, pb.VersionDrift, version=version))
    for change in found.changes:
        if change.version_id in shown:
            version = shown[change.version_id]
            answer.changes.append(to_message(change, pb.VersionChange, version=version))


def _versions(found: RunDiagnosis) -> Iterator[tuple[BotVersionId, ...]]:
    for pair in found.pairs:
        yield pair.one, pair.other
    for triple in found.triples:
        yield triple.one, triple.other, triple.third
    for drift in found.drifts:
        yield (drift.version_id,)
    for change in found.changes:
        yield (change.version_id,)
