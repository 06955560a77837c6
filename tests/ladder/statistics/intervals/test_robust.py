"""The robust covariance, against sums written out and against what games were drawn from."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.ladder.statistics.made_games import OUTCOMES, counts, shuffled

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts
from meijin.ladder.statistics.intervals.overdispersion import Overdispersion, clustered_pairs
from meijin.ladder.statistics.intervals.robust import robust_covariance

ROBUST = "meijin.ladder.statistics.intervals.robust"


def games(
    players: int = 12,
    openings: int = 3,
    *,
    each: int = 4,
    copies: int = 1,
    pair_deviation: float = 0.0,
    seed: int = 1,
) -> PairCounts:
    """Each two with both colours on each opening: this many games, each copied this many times."""
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


def written_out(known: Fit, found: Overdispersion) -> Floats:
    bread = covariance(known).matrix / ELO_PER_NAT**2
    total = bread.copy()
    pairs = clustered_pairs(known)
    for first, second, excess in zip(pairs.first, pairs.second, found.excess(pairs), strict=True):
        column = bread[:, first] - bread[:, second]
        total += excess * np.outer(column, column)
    return ELO_PER_NAT**2 * total


def test_it_is_the_sandwich_written_out() -> None:
    """Bread, meat of each pair, bread."""
    known = fit(games(copies=3, pair_deviation=80))
    robust = robust_covariance(known)
    assert robust.overdispersion.correlation > 0.15
    assert robust.overdispersion.pair_deviation > 30
    wanted = written_out(known, robust.overdispersion)
    assert robust.covariance.matrix == pytest.approx(wanted, rel=1e-9)
    weights = np.full(12, 1 / 12)
    ratio = robust.covariance.from_mean(weights).sum() / covariance(known).from_mean(weights).sum()
    assert robust.factor == pytest.approx(ratio**0.5)


def test_where_nothing_hangs_together_it_is_the_models() -> None:
    """Games that have nothing in common, each on an opening of its own."""
    made = games(each=1, seed=3)
    known = fit(replace(made, openings=np.arange(len(made.first))))
    robust = robust_covariance(known)
    assert robust.overdispersion == Overdispersion(0.0, 0.0)
    assert (robust.covariance.matrix == covariance(known).matrix).all()
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
    """One bot against all others, or two alone: their strengths explain whatever comes."""
    wins = np.random.default_rng(1).integers(0, 50, 9).tolist()
    star = counts((0, other, won, 0, 50 - won) for other, won in enumerate(wins, start=1))
    assert robust_covariance(fit(star)).overdispersion.pair_deviation < 5
    alone = counts([(0, 1, 0, 1, 44), (1, 0, 45, 1, 4)])
    assert robust_covariance(fit(alone)).factor == pytest.approx(1, abs=0.02)


def test_equal_games_give_equal_bytes() -> None:
    """In whatever order their rows come."""
    made = games(pair_deviation=50)
    one, other = (robust_covariance(fit(each)) for each in (made, shuffled(made)[0]))
    assert one.overdispersion == other.overdispersion
    assert one.covariance.matrix.tobytes() == other.covariance.matrix.tobytes()


def test_the_older_of_a_large_pool_scatter_by_their_own_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Near to the whole sandwich, where everyone has met everyone."""
    made = games(30, copies=2, pair_deviation=80)
    whole = robust_covariance(fit(made))
    monkeypatch.setattr(f"{ROBUST}.covariance", partial(covariance, joint=10))
    large = robust_covariance(fit(made))
    assert len(large.covariance.older) == 20
    found, wanted = large.overdispersion, whole.overdispersion
    assert found.correlation == pytest.approx(wanted.correlation, abs=0.05)
    assert found.pair_deviation == pytest.approx(wanted.pair_deviation, rel=0.1)
    weights = np.full(30, 1 / 30)
    near, exact = (each.covariance.from_mean(weights) ** 0.5 for each in (large, whole))
    assert near == pytest.approx(exact, rel=0.05)
    pairs = np.array([0, 3, 21]), np.array([19, 29, 22])
    near, exact = (each.covariance.of_differences(*pairs) for each in (large, whole))
    assert near == pytest.approx(exact, rel=0.1)


def test_an_empty_pool_has_no_overdispersion() -> None:
    robust = robust_covariance(fit(counts([])))
    assert robust.overdispersion == Overdispersion(0.0, 0.0)
    assert robust.factor == 1


def test_an_unsure_strength_now_widens_its_own_interval() -> None:
    """And leaves what errors share."""
    known, own = fit(games()), np.arange(12.0)
    still, walking = (robust_covariance(known, each) for each in (None, own))
    added = walking.covariance.matrix - still.covariance.matrix
    assert added == pytest.approx(np.diag(own), abs=1e-9)
    assert walking.factor > still.factor


@pytest.mark.parametrize("players", [5, 20])
def test_luck_alone_hardly_widens(players: int) -> None:
    """Neither component is taken to be there in pools of dice, and none is named."""
    found = [robust_covariance(fit(games(players, seed=seed))) for seed in range(20)]
    assert np.mean([each.factor for each in found]) < 1.04
    named = [
        each.overdispersion.correlation_is_sure or each.overdispersion.pair_deviation_is_sure
        for each in found
    ]
    assert sum(named) <= 1


def test_what_is_sure_is_named() -> None:
    """Either cause, and not the other."""
    repeated = robust_covariance(fit(games(each=1, copies=4))).overdispersion
    assert (repeated.correlation_is_sure, repeated.pair_deviation_is_sure) == (True, False)
    paired = robust_covariance(fit(games(each=8, pair_deviation=120))).overdispersion
    assert (paired.correlation_is_sure, paired.pair_deviation_is_sure) == (False, True)
