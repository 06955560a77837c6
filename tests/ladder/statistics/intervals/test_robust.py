"""The robust covariance, against sums written out and against what games were drawn from."""

from dataclasses import replace

import numpy as np
import pytest

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, Outcomes, fit
from meijin.ladder.statistics.fit.covariance import DenseCovariance, covariance
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.ladder.statistics.intervals.overdispersion import Overdispersion, clustered_pairs
from meijin.ladder.statistics.intervals.robust import ScaledCovariance, robust_covariance

OUTCOMES = Outcomes(advantage=60.0, draws=40.0)


def games(
    players: int = 12,
    openings: int = 3,
    *,
    each: int = 4,
    copies: int = 1,
    pair_deviation: float = 0.0,
    seed: int = 1,
) -> PairCounts:
    """Each two with both colours on each opening: so many games, each copied so many times."""
    rng = np.random.default_rng(seed)
    first, second = np.nonzero(~np.eye(players, dtype=bool))
    strengths = rng.normal(0, 150, players)
    effects = np.triu(rng.normal(0, pair_deviation, (players, players)), 1)
    lead = (strengths[:, None] - strengths + effects - effects.T)[first, second]
    chances = np.column_stack((OUTCOMES.wins(lead), np.zeros(len(lead)), OUTCOMES.losses(lead)))
    chances[:, 1] = 1 - chances.sum(axis=1)
    rows = [copies * rng.multinomial(each, chances) for _ in range(openings)]
    wins, draws, losses = np.concatenate(rows).T.astype(float)
    began = np.repeat(np.arange(openings), len(first))
    return PairCounts(
        np.tile(first, openings), np.tile(second, openings), wins, draws, losses, began
    )


def written_out(known: Fit, found: Overdispersion) -> np.ndarray:
    """The sandwich as a sum over pairs of games."""
    matrix = covariance(known)
    assert isinstance(matrix, DenseCovariance)
    bread = matrix.matrix / ELO_PER_NAT**2
    total = bread.copy()
    pairs = clustered_pairs(known)
    for first, second, excess in zip(pairs.first, pairs.second, found.excess(pairs), strict=True):
        column = bread[:, first] - bread[:, second]
        total += excess * np.outer(column, column)
    return np.asarray(ELO_PER_NAT**2 * total)


def test_it_is_the_sandwich_written_out() -> None:
    """Bread, meat of each pair, bread."""
    known = fit(games(copies=3, pair_deviation=80))
    robust = robust_covariance(known)
    assert isinstance(robust.covariance, DenseCovariance)
    assert robust.overdispersion.correlation > 0.15
    assert robust.overdispersion.pair_deviation > 30
    wanted = written_out(known, robust.overdispersion)
    assert robust.covariance.matrix == pytest.approx(wanted, rel=1e-9)
    weights = np.full(12, 1 / 12)
    ratio = robust.covariance.from_mean(weights).sum() / covariance(known).from_mean(weights).sum()
    assert robust.factor == pytest.approx(ratio**0.5)


def test_where_nothing_hangs_together_it_is_the_models() -> None:
    """Games that have nothing in common, each on an opening of its own."""
    counts = games(each=1, seed=3)
    counts = replace(counts, openings=np.arange(len(counts.first)))
    known = fit(counts)
    robust, model = robust_covariance(known), covariance(known)
    assert isinstance(robust.covariance, DenseCovariance)
    assert isinstance(model, DenseCovariance)
    assert robust.overdispersion == Overdispersion(0.0, 0.0)
    assert (robust.covariance.matrix == model.matrix).all()
    assert robust.factor == 1


def test_copies_of_games_are_no_evidence() -> None:
    """Each game four times over: the correlation is near 1, and intervals as from one of each."""
    once = robust_covariance(fit(games(each=1)))
    copied = robust_covariance(fit(games(each=1, copies=4)))
    assert copied.overdispersion.correlation == pytest.approx(1, abs=0.05)
    weights = np.full(12, 1 / 12)
    wide, narrow = (found.covariance.from_mean(weights) for found in (copied, once))
    assert wide == pytest.approx(narrow, rel=0.2)
    assert copied.factor == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("deviation", [60.0, 120.0])
def test_the_effect_of_pairs_is_found(deviation: float) -> None:
    """Its mean variance over some pools; a correlation isn't taken for it."""
    found = [
        robust_covariance(fit(games(each=8, pair_deviation=deviation, seed=seed))).overdispersion
        for seed in range(6)
    ]
    variance = np.mean([each.pair_deviation**2 for each in found])
    assert variance**0.5 == pytest.approx(deviation, rel=0.2)
    assert max(each.correlation for each in found) < 0.05


def test_without_circles_pairs_have_no_effect() -> None:
    """One bot against all others: their strengths explain whatever comes."""
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 50, 9).astype(float)
    none, others = np.zeros(9, dtype=np.int64), np.arange(1, 10)
    counts = PairCounts(none, others, wins, 0 * wins, 50 - wins)
    assert robust_covariance(fit(counts)).overdispersion.pair_deviation < 5


def test_two_alone_have_no_effect() -> None:
    """Their difference explains whatever comes, also where one draws and never wins."""
    counts = PairCounts(
        np.array([0, 1]), np.array([1, 0]), np.array([0.0, 45.0]), np.ones(2), np.array([44.0, 4])
    )
    assert robust_covariance(fit(counts)).factor == pytest.approx(1, abs=0.02)


def test_equal_games_give_equal_bytes() -> None:
    """In whatever order their rows come."""
    counts = games(pair_deviation=50)
    order = np.random.default_rng(2).permutation(len(counts.first))
    shuffled = PairCounts(
        counts.first[order],
        counts.second[order],
        counts.wins[order],
        counts.draws[order],
        counts.losses[order],
        np.asarray(counts.openings)[order],
    )
    one, other = robust_covariance(fit(counts)), robust_covariance(fit(shuffled))
    assert isinstance(one.covariance, DenseCovariance)
    assert isinstance(other.covariance, DenseCovariance)
    assert one.overdispersion == other.overdispersion
    assert one.covariance.matrix.tobytes() == other.covariance.matrix.tobytes()


def test_a_large_pool_is_scaled_player_by_player(monkeypatch: pytest.MonkeyPatch) -> None:
    """Near to the whole sandwich, where everyone has met everyone."""
    counts = games(30, copies=2, pair_deviation=80)
    whole = robust_covariance(fit(counts))
    monkeypatch.setattr(laplacian, "DENSE", 10)
    scaled = robust_covariance(fit(counts))
    assert isinstance(scaled.covariance, ScaledCovariance)
    found, wanted = scaled.overdispersion, whole.overdispersion
    assert found.correlation == pytest.approx(wanted.correlation, abs=0.05)
    assert found.pair_deviation == pytest.approx(wanted.pair_deviation, rel=0.1)
    weights = np.full(30, 1 / 30)
    near, exact = (each.covariance.from_mean(weights) ** 0.5 for each in (scaled, whole))
    assert near == pytest.approx(exact, rel=0.12)
    pair = np.array([0]), np.array([29])
    assert scaled.covariance.of_differences(*pair) == pytest.approx(
        whole.covariance.of_differences(*pair), rel=0.25
    )


def test_an_empty_pool_has_no_overdispersion() -> None:
    """Nobody, no games."""
    none = np.empty(0, dtype=np.int64)
    known = fit(PairCounts(none, none, np.empty(0), np.empty(0), np.empty(0)))
    robust = robust_covariance(known)
    assert robust.overdispersion == Overdispersion(0.0, 0.0)
    assert robust.factor == 1
