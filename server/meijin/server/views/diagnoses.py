"""Diagnoses of ladders as they are shown: what speaks against a run, by the names of versions."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection

from meijin.ladder.diagnose import (
    DriftFinding,
    GoodnessFinding,
    PairFinding,
    RunDiagnosis,
    TripleFinding,
)
from meijin.store.ladders.ladders import get_ladder, name_of
from meijin.store.ladders.runs import (
    PublishedRun,
    RatedVersion,
    diagnosed_run,
    rated_versions,
)
from meijin.store.schema import BotVersionId, RatingRunId

Names = dict[BotVersionId, RatedVersion]


@dataclass(frozen=True, slots=True)
class PairLine:
    """A pair's residual."""

    one: RatedVersion
    other: RatedVersion
    finding: PairFinding


@dataclass(frozen=True, slots=True)
class TripleLine:
    """Three who beat each other in a circle."""

    one: RatedVersion
    other: RatedVersion
    third: RatedVersion
    finding: TripleFinding


@dataclass(frozen=True, slots=True)
class DriftLine:
    """A version's trend."""

    version: RatedVersion
    finding: DriftFinding


@dataclass(frozen=True, slots=True)
class LadderDiagnosis:
    """What speaks against a run; without what hidden bots take part in."""

    ladder: str
    run: PublishedRun
    goodness: GoodnessFinding | None
    """``None`` for a run of a release that did not look."""
    pairs: tuple[PairLine, ...] = ()
    triples: tuple[TripleLine, ...] = ()
    drifts: tuple[DriftLine, ...] = ()


def ladder_diagnosis(
    connection: Connection, ladder: str, run_id: RatingRunId | None = None
) -> LadderDiagnosis:
    """What the published run of a ladder, or an earlier one, keeps of its diagnosis.

    Raises:
        UnknownLadderError: no ladder has the name.
        UnknownRunError: the ladder has no such run, or not any more.
        NoRunError: it has none at all.
    """
    ladder_id = get_ladder(connection, ladder)
    kept = diagnosed_run(connection, ladder_id, run_id)
    name = name_of(connection, ladder_id)
    if kept.diagnosis is None:
        return LadderDiagnosis(name, kept.run, None)
    found = RunDiagnosis.from_json(kept.diagnosis)
    names = rated_versions(connection, {key for keys in _versions(found) for key in keys})
    shown = {key: version for key, version in names.items() if not version.is_hidden}
    return LadderDiagnosis(
        ladder=name,
        run=kept.run,
        goodness=found.goodness,
        pairs=tuple(
            PairLine(shown[each.one], shown[each.other], each)
            for each in found.pairs
            if {each.one, each.other} <= shown.keys()
        ),
        triples=tuple(
            TripleLine(shown[each.one], shown[each.other], shown[each.third], each)
            for each in found.triples
            if {each.one, each.other, each.third} <= shown.keys()
        ),
        drifts=tuple(
            DriftLine(shown[each.version_id], each)
            for each in found.drifts
            if each.version_id in shown
        ),
    )


def _versions(found: RunDiagnosis) -> Iterable[tuple[BotVersionId, ...]]:
    """Everyone that is told of."""
    return chain(
        ((each.one, each.other) for each in found.pairs),
        ((each.one, each.other, each.third) for each in found.triples),
        ((each.version_id,) for each in found.drifts),
    )
