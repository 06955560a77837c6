"""How sure a fit is, against other tools' intervals, and in large pools."""

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

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, Prior, fit
from meijin.ladder.statistics.fit.covariance import (
    Z_95,
    Covariance,
    covariance,
    normal_cdf,
    superiority,
    superiority_to_next,
)
from meijin.ladder.statistics.fit.pair_counts import Floats


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


def large_pool() -> tuple[Fit, Covariance, Covariance]:
    """Of 12, whose newest 5 are joint; and as if all were."""
    rng = np.random.default_rng(1)
    games = played(leads_of(rng.normal(0, 200, 12)), random_pairs(12, 300, rng), 2, rng)
    result = fit(games)
    return result, covariance(result, joint=5), covariance(result)


def test_the_newest_of_a_large_pool_are_joint() -> None:
    """Their variances are those where the strengths of all older ones are known."""
    result, found, whole = large_pool()
    known = ELO_PER_NAT**2 * np.linalg.inv(result.information.dense()[7:, 7:])
    one, other = np.triu_indices(5, 1)
    wanted = known[one, one] + known[other, other] - 2 * known[one, other]
    assert found.of_differences(one + 7, other + 7) == pytest.approx(wanted)
    ratio = wanted / whole.of_differences(one + 7, other + 7)
    assert (ratio < 1).all()
    assert ratio == pytest.approx(1, abs=0.15)


def test_the_older_of_a_large_pool_are_independent() -> None:
    """With the variance of their own games beside known opponents; nobody differs from itself."""
    result, found, whole = large_pool()
    own, newest = ELO_PER_NAT**2 / result.information.diagonal, found.matrix
    one, other = np.array([0, 3, 2, 8]), np.array([6, 7, 2, 8])
    wanted = [own[0] + own[6], own[3] + newest[0, 0], 0, 0]
    assert found.of_differences(one, other) == pytest.approx(wanted)
    assert found.of_differences(one, other) == pytest.approx(
        whole.of_differences(one, other), rel=0.2
    )


def test_variances_from_a_mean_in_a_large_pool() -> None:
    """Those of differences, where all the weight is one version's; else less, by the shared."""
    _, found, whole = large_pool()
    everyone = np.arange(12)
    for anchor in (3, 9):
        wanted = found.of_differences(everyone, np.full(12, anchor))
        assert found.from_mean(np.eye(12)[anchor]) == pytest.approx(wanted)
    assert margins(found, 12) == pytest.approx(margins(whole, 12), rel=0.15)


def test_the_level_of_a_large_pool_is_the_older_ones() -> None:
    """Two groups with 16 games between them: their distance is as unsure as those say."""
    rng = np.random.default_rng(1)
    seats = random_pairs(15, 4000, rng)
    seats[2000:] += 15
    seats[:8] = (3, 20), (25, 9), (0, 29), (14, 15), (7, 22), (18, 1), (28, 2), (4, 17)
    result = fit(played(leads_of(rng.normal(0, 200, 30)), seats, 2, rng))
    across, inside = (np.array([3, 10]), np.array([20, 29])), (np.array([1, 16]), np.array([2, 22]))
    found, whole = covariance(result, joint=15), covariance(result)
    assert (found.of_differences(*across) > 4 * found.of_differences(*inside)).all()
    for pairs in (across, inside):
        assert found.of_differences(*pairs) == pytest.approx(whole.of_differences(*pairs), rel=0.2)


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
        np.array([0.0, 10.0, -5.0]), np.array([1, 0, 2]), Covariance(matrix)
    )
    assert chances == pytest.approx(normal_cdf(np.array([1.0, 0.5])))
