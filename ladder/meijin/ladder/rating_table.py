"""The rating table of a ladder: ratings with intervals, computed from a snapshot of its games."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np

from meijin.ladder.pool import ACTIVE_DAYS, BASE, DIGITS, ESTABLISHED, Pool
from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.diagnosis.residuals import in_blocks
from meijin.ladder.statistics.fit.covariance import superiority_to_next
from meijin.ladder.statistics.fit.empirical_bayes import shows_draw_slope, shows_openings
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts
from meijin.ladder.statistics.intervals.performance import Performance
from meijin.ladder.tally import Snapshot, VersionState, last_days_of
from meijin.store.ladders.games import ScoredGame
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import (
    BotVersionId,
    ChangeFinding,
    DriftFinding,
    FitSummary,
    GoodnessFinding,
    PairFinding,
    Posterior,
    RatingLine,
    RunDiagnosis,
    RunParameters,
    TripleFinding,
)

ALGORITHM = "rao-kupper-3"
"""The version of the algorithm; it changes whenever the same games would get other numbers.

That of a release before is then frozen, see `algorithms`.
"""
P_DIGITS = 6
"""Decimals of a p-value: small ones say most."""
BLOCKS = 64
"""Parts of equal size that the games are divided into, in order, to see who changes."""

F = TypeVar("F")
Versions: TypeAlias = Mapping[BotVersionId, VersionState]


def rate(snapshot: Snapshot, create_time: datetime) -> NewRun:
    """The rating run of a snapshot: nothing else goes into it but the time it is stamped with."""
    ladder, tally = snapshot.ladder, snapshot.tally
    recent = by_blocks(tally.recent)
    pool = Pool.of(
        snapshot.counts,
        snapshot.anchors,
        parents=dict[int, int](snapshot.parents),
        last_days=last_days_of(tally.versions),
        recent=recent,
    )
    assert pool.over_time is not None
    found = Diagnosis.of(
        pool.fit,
        pool.model_covariance,
        pool.over_time,
        correlation=pool.overdispersion.correlation,
    )
    diagnosis = _diagnosis(found, pool)
    bounded = pool.scores.is_one_sided & pool.is_linked & ~pool.is_anchor
    form = Performance.of(pool.fit, *columns_of(tally.recent), bounded=bounded)
    sources = (pool, pool.scores, found, form.shifted(pool.shift))
    return NewRun(
        ladder_id=ladder.id,
        revision=ladder.revision,
        voided=ladder.voided,
        sequenced=ladder.sequenced,
        cutoff=tally.cutoff,
        games=tally.games,
        repeats=tally.repeats,
        checksum=snapshot.checksum,
        algorithm=ALGORITHM,
        parameters=_parameters(pool, snapshot.anchors, diagnosis),
        create_time=create_time,
        ratings=list(_lines(tally.versions, pool, sources)),
        covariances=_covariances(pool),
        diagnosis=diagnosis,
    )


def columns_of(results: Collection[ScoredGame]) -> tuple[Integers, Integers, Floats]:
    """Who moved first, who moved second, and the points of the former, game by game."""
    flat = np.fromiter(chain.from_iterable(results), dtype=np.float64, count=3 * len(results))
    first, second, points = flat.reshape(-1, 3).T
    return first.astype(np.int64), second.astype(np.int64), points


def by_blocks(results: Collection[ScoredGame]) -> PairCounts:
    """Games in order as counts by pair and block; the blocks stand where openings do."""
    first, second, points = columns_of(results)
    return PairCounts(
        first=first,
        second=second,
        wins=(points == 1).astype(np.float64),
        draws=(points == 0.5).astype(np.float64),  # noqa: PLR2004 - half a point
        losses=(points == 0).astype(np.float64),
        openings=in_blocks(len(results), BLOCKS),
    ).merged()


def _parameters(
    pool: Pool, anchors: Sequence[BotVersionId], diagnosis: RunDiagnosis
) -> RunParameters:
    outcomes, prior = pool.outcomes, pool.fit.prior
    return RunParameters(
        advantage=round(outcomes.advantage, DIGITS),
        draws=round(outcomes.draws, DIGITS),
        draw_slope=round(outcomes.draw_slope, DIGITS),
        draw_level=round(outcomes.level, DIGITS),
        draw_slope_is_sure=shows_draw_slope(pool.fit),
        correlation=round(pool.overdispersion.correlation, DIGITS),
        correlation_is_sure=pool.overdispersion.correlation_is_sure,
        pair_deviation=round(pool.overdispersion.pair_deviation, DIGITS),
        pair_deviation_is_sure=pool.overdispersion.pair_deviation_is_sure
        and diagnosis.goodness.is_rejected,
        factor=round(pool.factor, DIGITS),
        log_likelihood=round(pool.fit.log_likelihood, DIGITS),
        base=BASE,
        prior=prior.strength,
        prior_mean=round(pool.prior_mean, DIGITS),
        lineage=prior.lineage,
        openings=prior.opening,
        opening_is_sure=shows_openings(pool.fit),
        established=ESTABLISHED,
        active_days=ACTIVE_DAYS,
        anchors=tuple(anchors),
        diagnosis=summary_of(diagnosis),
    )


def _lines(versions: Versions, pool: Pool, sources: Sequence[object]) -> Iterator[RatingLine]:
    """The lines, best first."""
    players = pool.fit.players.tolist()
    columns = {"version_id": players} | _columns([versions[key] for key in players], sources)
    order = np.lexsort((pool.fit.players, -np.array(columns["elo"])))
    leads = superiority_to_next(pool.fit.elo, order, pool.covariance)
    chances = [*np.round(leads, DIGITS).tolist(), None]
    for rank, (place, chance) in enumerate(zip(order.tolist(), chances, strict=False), start=1):
        line = {name: column[place] for name, column in columns.items()}
        yield RatingLine(rank=rank, superiority=chance, **line)


def _columns(states: Sequence[VersionState], sources: Sequence[object]) -> dict[str, Sequence[Any]]:
    """The columns of the lines, by places: each is what a source, or the states, have by its name.

    What is masked is ``None``.
    """
    columns: dict[str, Sequence[Any]] = {}
    for name in (field.name for field in fields(RatingLine)):
        for source in sources:
            if (column := getattr(source, name, None)) is not None:
                is_float = column.dtype == np.float64
                columns[name] = (np.round(column, DIGITS) if is_float else column).tolist()
        if hasattr(VersionState, name):
            columns[name] = [round(getattr(state, name), DIGITS) for state in states]
    return columns


def _covariances(pool: Pool) -> Posterior | None:
    if len(pool.covariance.older):
        return None
    return Posterior(
        version_ids=pool.fit.players.astype("<i8").tobytes(),
        matrix=pool.covariance.matrix.astype("<f4").tobytes(),
    )


def _diagnosis(found: Diagnosis, pool: Pool) -> RunDiagnosis:
    """What speaks against a fit, rounded as it is published."""
    players = pool.fit.players.tolist()
    return RunDiagnosis(
        goodness=_finding(found.goodness, GoodnessFinding, players),
        pairs=tuple(_finding(each, PairFinding, players) for each in found.pairs),
        triples=tuple(_finding(each, TripleFinding, players) for each in found.triples),
        drifts=tuple(_finding(each, DriftFinding, players) for each in found.drifts),
        changes=tuple(_finding(each, ChangeFinding, players) for each in found.changes),
    )


_PLACES = {"one": "one", "other": "other", "third": "third", "version_id": "player"}
"""The fields of findings that name versions, by their places in the fit."""


def _finding(found: object, kind: type[F], players: Sequence[int]) -> F:
    """A finding as a record, whose other fields are its attributes of their names."""
    values: dict[str, Any] = {}
    for name in (field.name for field in fields(kind)):  # type: ignore[arg-type]
        value = getattr(found, _PLACES.get(name, name))
        if name in _PLACES:
            value = players[value]
        elif isinstance(value, float):
            value = round(value, P_DIGITS if name == "p_value" else DIGITS)
        values[name] = value
    return kind(**values)


def summary_of(diagnosis: RunDiagnosis) -> FitSummary:
    goodness = diagnosis.goodness
    return FitSummary(
        p_value=goodness.p_value,
        overdispersion=goodness.overdispersion,
        deviation=goodness.deviation,
        is_rejected=goodness.is_rejected,
        pairs=sum(each.is_sure for each in diagnosis.pairs),
        triples=sum(each.is_sure for each in diagnosis.triples),
        drifts=sum(each.is_sure for each in diagnosis.drifts),
        changes=sum(each.is_sure for each in diagnosis.changes),
    )
