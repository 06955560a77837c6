"""The diagnosis of a fit, on small pools whose fault is known."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import (
    all_pairs,
    counts,
    expected_games,
    leads_of,
    played,
)

from meijin.ladder.statistics.diagnosis import diagnosis as module
from meijin.ladder.statistics.diagnosis.diagnosis import (
    MOST_SHOWN,
    SHOWN,
    Diagnosis,
    GoodnessOfFit,
    circular_triads,
    scatter_by_player,
)
from meijin.ladder.statistics.diagnosis.over_time import points_over_time
from meijin.ladder.statistics.diagnosis.residuals import PairResiduals, in_blocks
from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts

BOTS = 8
STRENGTHS = np.linspace(-300, 300, BOTS)


def beaten(cycle: tuple[int, int, int], by: float = 250.0) -> Floats:
    """Equals but for three who beat each other in a circle."""
    leads = np.zeros((BOTS, BOTS))
    for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        leads[one, other], leads[other, one] = by, -by
    return leads


def diagnosis(games: PairCounts) -> Diagnosis:
    known = fit(games)
    at_once = replace(games, openings=np.zeros(len(games.first), dtype=np.int64))
    return Diagnosis.of(known, covariance(known), points_over_time(known, at_once))


def residuals(known: Fit) -> PairResiduals:
    return PairResiduals.of(known, covariance(known))


# -- goodness of fit ------------------------------------------------------------------


def test_games_as_expected_fit_too_well() -> None:
    """Nothing scatters: no chi-square, and nothing to say."""
    said = diagnosis(expected_games(leads_of(STRENGTHS), 20))
    assert said.goodness.chi_square == pytest.approx(0, abs=0.1)
    assert said.goodness.p_value > 0.999
    assert said.goodness.deviation == 0
    assert not said.is_misfit
    assert not said.depends_on_opponents.any()


def test_chi_square_and_freedom_are_those_of_the_cells() -> None:
    """28 pairs less 7 strengths, and squares over variances as by hand."""
    rng = np.random.default_rng(5)
    found = residuals(fit(played(leads_of(STRENGTHS), all_pairs(BOTS), 30, rng)))
    goodness, points = GoodnessOfFit.of(found), found.points
    wanted = float((points.residual**2 / points.variance).sum())
    assert goodness.pairs == 28
    assert goodness.chi_square == pytest.approx(wanted)
    assert goodness.freedom == pytest.approx(28 - 7, abs=0.5)
    assert goodness.deviance == pytest.approx(wanted, rel=0.5)
    assert 0.01 < goodness.p_value < 0.99


def test_the_scatter_of_pairs_is_told_in_elo() -> None:
    """Each lead 80 Elo from that of the strengths, up or down: that is found, nearly."""
    rng = np.random.default_rng(1)
    signs = np.triu(rng.choice((-80.0, 80.0), (20, 20)), 1)
    games = expected_games(leads_of(np.zeros(20)) + signs - signs.T, 100)
    goodness = diagnosis(games).goodness
    assert goodness.is_rejected
    # The games end as they should, so there is no luck to be taken away: a game's worth less.
    assert goodness.deviation == pytest.approx(80, rel=0.15)
    assert goodness.overdispersion > 3


def test_who_scatters_is_told_from_who_does_not() -> None:
    """One player's pairs alone depart, up and down by turns."""
    leads = leads_of(STRENGTHS)
    turns = 150.0 * (-1.0) ** np.arange(1, BOTS)
    leads[0, 1:] += turns
    leads[1:, 0] -= turns
    games = expected_games(leads, 40)
    assert scatter_by_player(residuals(fit(games)), BOTS).argmin() == 0
    assert diagnosis(games).depends_on_opponents[0]


def test_too_few_games_say_nothing() -> None:
    assert diagnosis(counts([(0, 1, 3, 0, 0)])).goodness.p_value > 0.02
    empty = diagnosis(counts([]))
    assert empty.goodness.p_value == 1.0
    assert not empty.is_misfit


# -- pairs and triples ----------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_the_odd_pair_comes_first(sign: int) -> None:
    """Two whose score is not that of their ratings, from the side of the one that comes first."""
    leads = leads_of(STRENGTHS)
    leads[2, 5] += sign * 300
    leads[5, 2] -= sign * 300
    said = diagnosis(expected_games(leads, 50))
    worst, *others = said.pairs
    assert (worst.one, worst.other, worst.games) == (2, 5, 100)
    assert worst.is_sure
    assert sign * worst.deviations > 4
    assert sign * (worst.score - worst.expected) > 0.1
    assert not any(pair.is_sure for pair in others)
    assert len(said.pairs) == SHOWN
    assert set(np.flatnonzero(said.depends_on_opponents)) >= {2, 5}


@pytest.mark.parametrize("cycle", [(1, 4, 6), (1, 6, 4)])
def test_a_circle_is_told_in_the_order_of_its_wins(cycle: tuple[int, int, int]) -> None:
    """Each beats the next by 250 Elo, which sum to what strengths can't explain."""
    said = diagnosis(expected_games(beaten(cycle), 60))
    worst, *others = said.triples
    assert worst.players == cycle
    assert worst.is_sure
    assert worst.excess == pytest.approx(750, rel=0.25)
    assert all(len(set(triple.players) & set(cycle)) == 2 for triple in others if triple.is_sure)


def test_transitive_players_make_no_circle() -> None:
    """However far apart they are."""
    assert diagnosis(expected_games(leads_of(STRENGTHS), 60)).triples == []


def test_triples_are_those_of_a_slow_search() -> None:
    """Every three looked at in both directions, by their own leads."""
    known = fit(played(np.zeros((BOTS, BOTS)), all_pairs(BOTS), 12, np.random.default_rng(3)))
    found = residuals(known)
    lead, scaled, variance = ({} for _ in range(3))
    own = found.log_odds + (known.elo[found.one] - known.elo[found.other]) * np.log(10) / 400
    roots = found.deviance_roots / np.sqrt(found.information)
    for row, pair in enumerate(zip(found.one.tolist(), found.other.tolist(), strict=True)):
        for places, sign in ((pair, 1), (pair[::-1], -1)):
            lead[places], scaled[places] = sign * own[row], sign * roots[row]
            variance[places] = 1 / found.information[row]
    wanted = {}
    for one, other, third in itertools.permutations(range(BOTS), 3):
        circle = [(one, other), (other, third), (third, one)]
        if one < min(other, third) and all(lead[pair] > 0 for pair in circle):
            total = sum(scaled[pair] for pair in circle)
            wanted[one, other, third] = total / sum(variance[pair] for pair in circle) ** 0.5
    triads = circular_triads(known, found, MOST_SHOWN)
    assert wanted
    assert {each.players: pytest.approx(each.deviations) for each in triads} == wanted
    surest_first = sorted(wanted.values(), reverse=True)
    assert [each.deviations for each in triads] == pytest.approx(surest_first)


def test_of_a_large_pool_the_most_surprising_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The circle is found among few, and judged as if all had been looked at."""
    known = fit(expected_games(beaten((1, 4, 6)), 60))
    whole = circular_triads(known, residuals(known), 1)
    monkeypatch.setattr(module, "MOST_PLAYERS", 4)
    assert circular_triads(known, residuals(known), 1) == whole


def test_what_luck_explains_is_cut_short() -> None:
    """Ten of each kind, and fifty of what is sure."""
    rng = np.random.default_rng(2)
    signs = np.triu(rng.choice((-200.0, 200.0), (30, 30)), 1)
    said = diagnosis(expected_games(signs - signs.T, 200))
    assert len(said.pairs) == len(said.triples) == MOST_SHOWN
    assert all(pair.is_sure for pair in said.pairs)


# -- changes --------------------------------------------------------------------------


def changed(by: Floats) -> Diagnosis:
    """Of equals, the first of whom is this many Elo stronger in each of some blocks of games."""
    first = np.eye(BOTS)[0]
    parts = [
        replace(games, openings=np.full(len(games.first), block))
        for block, games in enumerate(
            expected_games(leads_of(each * first), 5) for each in by.tolist()
        )
    ]
    games = parts[0].joined(*parts[1:])
    known = fit(games.pooled())
    return Diagnosis.of(known, covariance(known), points_over_time(known, games))


def test_who_drifts_is_marked() -> None:
    """By the pool's diagnosis, with the sign of its trend."""
    said = changed(np.linspace(200, -200, 10))
    assert np.flatnonzero(said.changes_over_time).tolist() == [0]
    assert said.drifts[0].player == 0
    assert said.drifts[0].elo_per_100_games < -30
    assert said.is_misfit


def test_who_changes_late_is_marked() -> None:
    """With its games since then, and the size of the step."""
    said = changed(np.array([0.0] * 8 + [300.0] * 2))
    assert np.flatnonzero(said.changes_over_time).tolist() == [0]
    assert said.changes[0].player == 0
    assert said.changes[0].games == 140
    assert said.changes[0].elo == pytest.approx(300, rel=0.2)
    assert said.is_misfit


def test_blocks_are_equal() -> None:
    assert in_blocks(10, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert in_blocks(2, 5).tolist() == [0, 2]
    assert in_blocks(0, 5).tolist() == []
