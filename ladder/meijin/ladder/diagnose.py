"""The diagnosis of a ladder's run: what speaks against its fit, by versions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.diagnosis.drift import in_blocks
from meijin.ladder.statistics.fit.bradley_terry import Fit
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.store.ladders.rated_games import ScoredGame
from meijin.store.schema import BotVersionId

BLOCKS = 64
"""Into so many parts of equal size the games are taken in order, to see who changes."""
DIGITS = 4
P_DIGITS = 6
"""Decimals of a p-value: small ones say most."""


@dataclass(frozen=True, slots=True)
class GoodnessFinding:
    """How well one strength a version explains the scores of all pairs."""

    p_value: float
    """The chance of so much scatter where the model holds."""
    is_rejected: bool
    chi_square: float
    """Pearson's, over the pairs with enough games."""
    deviance: float
    freedom: float
    """What both should be."""
    pairs: int
    """How many have enough games."""
    overdispersion: float
    """How much more the scores scatter than by luck alone; 1 where the model holds."""
    deviation: float
    """Of the differences of pairs from those of their ratings, over luck; Elo."""


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Two whose results depart from their ratings."""

    one: BotVersionId
    other: BotVersionId
    games: int
    score: float
    """Of `one`: the share of the points."""
    expected: float
    deviations: float
    """The standardised residual."""
    p_value: float
    """For all pairs of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class TripleFinding:
    """A circular triad: `one` beat `other`, `other` beat `third`, `third` beat `one`."""

    one: BotVersionId
    other: BotVersionId
    third: BotVersionId
    excess: float
    """The sum of the three leads, in Elo: 0 where strengths alone decide."""
    deviations: float
    p_value: float
    """For all triples of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """A version whose strength has a trend."""

    version_id: BotVersionId
    elo_per_100_games: float
    deviations: float
    p_value: float
    """For all versions of the ladder together."""
    is_sure: bool


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """What speaks against the fit of a run, rounded as it is published; the surest first."""

    goodness: GoodnessFinding
    pairs: tuple[PairFinding, ...]
    triples: tuple[TripleFinding, ...]
    drifts: tuple[DriftFinding, ...]

    @classmethod
    def of(cls, found: Diagnosis, fit: Fit) -> Self:
        """The versions for the places in a fit."""
        versions = [BotVersionId(key) for key in fit.players.tolist()]
        goodness = found.goodness
        return cls(
            goodness=GoodnessFinding(
                p_value=round(goodness.p_value, P_DIGITS),
                is_rejected=goodness.is_rejected,
                chi_square=round(goodness.chi_square, DIGITS),
                deviance=round(goodness.deviance, DIGITS),
                freedom=round(goodness.freedom, DIGITS),
                pairs=goodness.pairs,
                overdispersion=round(goodness.overdispersion, DIGITS),
                deviation=round(goodness.deviation, DIGITS),
            ),
            pairs=tuple(
                PairFinding(
                    one=versions[pair.one],
                    other=versions[pair.other],
                    games=pair.games,
                    score=round(pair.score, DIGITS),
                    expected=round(pair.expected, DIGITS),
                    deviations=round(pair.deviations, DIGITS),
                    p_value=round(pair.p_value, P_DIGITS),
                    is_sure=pair.is_sure,
                )
                for pair in found.pairs
            ),
            triples=tuple(
                TripleFinding(
                    one=versions[triple.one],
                    other=versions[triple.other],
                    third=versions[triple.third],
                    excess=round(triple.excess, DIGITS),
                    deviations=round(triple.deviations, DIGITS),
                    p_value=round(triple.p_value, P_DIGITS),
                    is_sure=triple.is_sure,
                )
                for triple in found.triples
            ),
            drifts=tuple(
                DriftFinding(
                    version_id=versions[drift.player],
                    elo_per_100_games=round(drift.elo_per_100_games, DIGITS),
                    deviations=round(drift.deviations, DIGITS),
                    p_value=round(drift.p_value, P_DIGITS),
                    is_sure=drift.is_sure,
                )
                for drift in found.drifts
            ),
        )

    @property
    def summary(self) -> dict[str, Any]:
        """What stands among a run's parameters."""
        return {
            "p_value": self.goodness.p_value,
            "overdispersion": self.goodness.overdispersion,
            "deviation": self.goodness.deviation,
            "is_rejected": self.goodness.is_rejected,
            "pairs": sum(each.is_sure for each in self.pairs),
            "triples": sum(each.is_sure for each in self.triples),
            "drifts": sum(each.is_sure for each in self.drifts),
        }

    def to_json(self) -> dict[str, Any]:
        """As it is kept with a run."""
        lists = {name: [asdict(each) for each in getattr(self, name)] for name in _LISTS}
        return {"goodness": asdict(self.goodness), **lists}

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Self:
        """The inverse of `to_json`."""
        return cls(
            goodness=GoodnessFinding(**kept["goodness"]),
            pairs=tuple(PairFinding(**each) for each in kept["pairs"]),
            triples=tuple(TripleFinding(**each) for each in kept["triples"]),
            drifts=tuple(DriftFinding(**each) for each in kept["drifts"]),
        )


_LISTS = ("pairs", "triples", "drifts")


def by_blocks(results: Sequence[ScoredGame]) -> PairCounts:
    """Games in order as counts by pair and block; the blocks stand where openings do."""
    flat = np.fromiter(chain.from_iterable(results), dtype=np.float64, count=3 * len(results))
    first, second, points = flat.reshape(-1, 3).T
    return PairCounts(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        wins=(points == 1).astype(np.float64),
        draws=(points == 0.5).astype(np.float64),  # noqa: PLR2004 - half a point
        losses=(points == 0).astype(np.float64),
        openings=in_blocks(len(results), BLOCKS),
    ).merged()
