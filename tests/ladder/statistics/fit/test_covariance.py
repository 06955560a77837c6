"""How sure a fit is, against other tools' intervals, and the series for large pools."""

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.ladder.statistics.golden import (
    DATA,
    GOLDEN,
    GOMOCUP,
    Pool,
    needs_golden,
    with_bayes_elo_prior,
)
from tests.ladder.statistics.made_games import (
    FREE,
    NO_ADVANTAGE,
    counts,
    leads_of,
    played,
    random_pairs,
)

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.bradley_terry import Fit, Prior, fit
from meijin.ladder.statistics.fit.covariance import (
    Z_95,
    Covariance,
    DenseCovariance,
    SparseCovariance,
    covariance,
    normal_cdf,
    superiority,
    superiority_to_next,
)
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts


def all_differences(found: Covariance, players: int) -> Floats:
    one, other = np.indices((players, players))
    return found.of_differences(one.ravel(), other.ravel()).reshape(players, players)


def margins(found: Covariance, players: int) -> Floats:
    """Half of everyone's 95 % interval, relative to the mean."""
    return Z_95 * np.sqrt(found.from_mean(np.full(players, 1 / players)))


def with_others_known(result: Fit) -> Fit:
    """As if the advantage and the draw parameter had been known: BayesElo takes it so."""
    empty = np.empty((0, 0))
    return replace(result, information=replace(result.information, border=empty, corner=empty))


def los_matrix(result: Fit) -> Floats:
    lead = result.elo[:, None] - result.elo
    return superiority(lead, all_differences(covariance(result), len(result.players)))


def los_of_fixed_columns(path: Path) -> Mapping[tuple[str, str], float]:
    """BayesElo's matrix: names of nine letters and then cells of eight, in ten millionths."""
    lines = [line for line in path.read_text().splitlines()[1:] if line.strip()]
    names = [line[:9].strip() for line in lines]
    cells = [[line[start : start + 8] for start in range(9, len(line), 8)] for line in lines]
    return {
        (names[row], names[column]): int(cells[row][column]) / 1e7
        for row in range(len(names))
        for column in range(len(names))
        if row != column
    }


def los_of_csv(path: Path) -> Mapping[tuple[str, str], float]:
    with path.open(newline="") as file:
        return {
            (row["player"], other): float(cell)
            for row in csv.DictReader(file)
            for other, cell in row.items()
            if other != "player" and cell
        }


def check_los(pool: Pool, result: Fit, expected: Mapping[tuple[str, str], float]) -> None:
    found = los_matrix(with_others_known(result))
    place = {name.replace(" ", ""): number for number, name in enumerate(pool.players)}
    assert len(expected) == len(pool.players) * (len(pool.players) - 1)
    for (one, other), chance in expected.items():
        assert found[place[one], place[other]] == pytest.approx(chance, abs=1e-4)


def test_los_agrees_with_bayes_elo() -> None:
    """With its prior, and the ratings where it stops: 0.01 Elo from the top."""
    pool = Pool.read("synth_10_1000")
    top = fit(with_bayes_elo_prior(pool.counts), FREE)
    result = replace(top, elo=pool.column("bayeselo_mm11_unscaled"))
    check_los(pool, result, los_of_fixed_columns(DATA / "synth_10_1000_bayeselo_los.txt"))


@needs_golden
def test_los_of_gomocup_agrees_with_bayes_elo() -> None:
    pool = Pool.read("gomocup_2026_renju")
    result = fit(with_bayes_elo_prior(pool.counts), NO_ADVANTAGE)
    check_los(pool, result, los_of_csv(GOLDEN / "gomocup_2026_renju_bayeselo_los.csv"))


def test_intervals_agree_with_bayes_elo() -> None:
    """Those of its full covariance, which holds the advantage and the draws fixed."""
    pool = Pool.read("synth_10_1000")
    result = with_others_known(fit(with_bayes_elo_prior(pool.counts), FREE))
    expected = pool.column("bayeselo_cov_ci95_unscaled")
    assert margins(covariance(result), len(expected)) == pytest.approx(expected, rel=1e-3)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_intervals_of_gomocup_agree_with_bayes_elo(name: str) -> None:
    """Real pools of 12 to 228 engines."""
    pool = Pool.read(name)
    result = with_others_known(fit(with_bayes_elo_prior(pool.counts), NO_ADVANTAGE))
    expected = pool.column("bayeselo_mm01_cov_ci95_unscaled")
    assert margins(covariance(result), len(expected)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["synth_10_1000", "edge_perfect_zero_island"])
def test_the_prior_s_intervals_are_as_computed_elsewhere(name: str) -> None:
    """With a perfect scorer, a newcomer and a second component too."""
    pool = Pool.read(name)
    result = fit(pool.counts, Prior(600.0, math.inf, math.inf))
    expected = pool.column("our_rk_sigma600_ci95_poolcentred_unscaled")
    assert margins(covariance(result), len(expected)) == pytest.approx(expected, rel=1e-3)


def test_two_players_have_a_closed_form() -> None:
    """The variance of the log-odds of w wins and l losses is 1/w + 1/l."""
    result = fit(counts([(1, 2, 30, 0, 10)]), NO_ADVANTAGE)
    variance = (1 / 30 + 1 / 10) * (400 / math.log(10)) ** 2
    found = covariance(result).of_differences(np.array([0]), np.array([1]))
    assert found == pytest.approx([variance])


def test_a_variance_from_an_anchor_is_that_of_the_difference() -> None:
    """All weight on one player; its own is 0, and two anchors share the weight."""
    result = fit(Pool.read("synth_10_1000").counts)
    found = covariance(result)
    anchored = found.from_mean(np.eye(10)[3])
    assert anchored == pytest.approx(all_differences(found, 10)[3], abs=1e-6)
    assert anchored[3] == pytest.approx(0, abs=1e-6)
    both = found.from_mean((np.eye(10)[3] + np.eye(10)[4]) / 2)
    between = all_differences(found, 10)[3, 4]
    assert both[[3, 4]] == pytest.approx([between / 4] * 2)


def test_an_unknown_advantage_widens_intervals() -> None:
    """By little: it is known from all games together."""
    result = fit(Pool.read("synth_10_1000").counts)
    ours = margins(covariance(result), 10)
    narrower = margins(covariance(with_others_known(result)), 10)
    assert (ours >= narrower * (1 - 1e-9)).all()
    assert (ours > narrower).any()
    assert ours == pytest.approx(narrower, rel=0.02)


# -- large pools --------------------------------------------------------------------


def compare(
    games: PairCounts, monkeypatch: pytest.MonkeyPatch, prior: Prior | None = None
) -> tuple[Covariance, Covariance]:
    """The covariance of a pool as of a small one, and as of a large one; nobody differs from itself."""
    result = fit(games, prior)
    dense = covariance(result)
    monkeypatch.setattr(laplacian, "DENSE", 0)
    sparse = covariance(result)
    assert isinstance(dense, DenseCovariance)
    assert isinstance(sparse, SparseCovariance)
    everyone = np.arange(len(result.players))
    for found in (dense, sparse):
        assert found.of_differences(everyone, everyone) == pytest.approx(0 * everyone, abs=1e-6)
    return dense, sparse


def test_a_well_mixed_large_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 80 opponents each, all is right to some percent; from the mean, to far less."""
    rng = np.random.default_rng(1)
    leads = leads_of(rng.normal(0, 200, 200))
    games = played(leads, random_pairs(200, 10_000, rng), 2, rng)
    dense, sparse = compare(games, monkeypatch)
    assert margins(sparse, 200) == pytest.approx(margins(dense, 200), rel=0.01)
    anchor = np.eye(200)[17]
    assert sparse.from_mean(anchor) == pytest.approx(dense.from_mean(anchor), rel=0.03)
    ratio = all_differences(sparse, 200)[np.triu_indices(200, 1)]
    ratio /= all_differences(dense, 200)[np.triu_indices(200, 1)]
    assert 0.98 < ratio.min() <= ratio.max() < 1.05


def test_a_large_pool_of_two_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """That their distance is unsure, with four games between them, is seen."""
    rng = np.random.default_rng(1)
    leads = leads_of(rng.normal(0, 200, 100))
    seats = random_pairs(50, 4000, rng)
    seats[2000:] += 50
    seats[:2] = (3, 70), (80, 9)
    dense, sparse = compare(played(leads, seats, 2, rng), monkeypatch)
    across = np.array([3, 10, 20, 30]), np.array([70, 60, 90, 99])
    inside = np.array([1, 10, 60, 70]), np.array([2, 20, 80, 99])
    assert (dense.of_differences(*across) > 5 * dense.of_differences(*inside)).all()
    for pairs in (across, inside):
        near = dense.of_differences(*pairs)
        assert sparse.of_differences(*pairs) == pytest.approx(near, rel=0.05)
    assert margins(sparse, 100) == pytest.approx(margins(dense, 100), rel=0.01)


def test_a_large_pool_of_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everyone met the three next in rank alone, those far apart are very unsure."""
    rng = np.random.default_rng(1)
    leads = leads_of(-np.sort(-rng.normal(0, 200, 400)))
    first = np.tile(np.arange(397), 10)
    seats = np.column_stack((first, first + rng.integers(1, 4, len(first))))
    dense, sparse = compare(played(leads, seats, 2, rng), monkeypatch)
    assert margins(sparse, 400) == pytest.approx(margins(dense, 400), rel=0.01)
    ends = np.array([0, 10, 100]), np.array([399, 390, 300])
    assert sparse.of_differences(*ends) == pytest.approx(dense.of_differences(*ends), rel=0.01)


def test_a_large_pool_without_a_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of all strengths together, and nothing of them is asked."""
    rng = np.random.default_rng(1)
    games = played(np.zeros((60, 60)), random_pairs(60, 1000, rng), 2, rng)
    dense, sparse = compare(games, monkeypatch, FREE)
    assert margins(sparse, 60) == pytest.approx(margins(dense, 60), rel=0.02)


# -- chances ------------------------------------------------------------------------


def test_the_normal_distribution() -> None:
    """At quantiles that everyone knows."""
    chances = normal_cdf(np.array([-Z_95, 0.0, 1.0, Z_95, 40.0]))
    assert chances == pytest.approx([0.025, 0.5, 0.841344746, 0.975, 1])


def test_superiority() -> None:
    """A lead of 1.645 deviations is worth 95 %; over oneself it is a half."""
    found = superiority(np.array([16.4485, -16.4485, 0.0, 5.0]), np.array([100.0, 100.0, 0.0, 0.0]))
    assert found == pytest.approx([0.95, 0.05, 0.5, 1.0], abs=1e-5)


def test_superiority_to_next() -> None:
    """Each is compared with the one behind, in the given order."""
    matrix = np.diag([50.0, 50.0, 50.0])
    chances = superiority_to_next(
        np.array([0.0, 10.0, -5.0]), np.array([1, 0, 2]), DenseCovariance(matrix)
    )
    assert chances == pytest.approx(normal_cdf(np.array([1.0, 0.5])))
