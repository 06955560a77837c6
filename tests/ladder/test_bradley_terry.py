"""The fit against closed forms, its own invariances and the published ratings of Gomocup."""

import csv
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.ladder.bradley_terry import ELO_PER_NAT, PRIOR, Fit, NoFitError, PairCounts, fit

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "ratings"
needs_golden = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason=f"the golden ratings are not at {GOLDEN}"
)

Row = tuple[int, int, int, int, int]
"""First, second, wins, draws, losses."""

ROWS: list[Row] = [
    (3, 7, 5, 2, 3),
    (7, 3, 4, 4, 2),
    (9, 3, 1, 0, 6),
    (7, 9, 8, 1, 0),
    (9, 7, 2, 2, 2),
]


def counts(rows: list[Row]) -> PairCounts:
    """The columns of `rows`."""
    return PairCounts(*np.array(rows, dtype=np.int64).reshape(-1, 5).T)


def contents(result: Fit) -> tuple[bytes, bytes, float]:
    """Everything that a fit says, to the byte."""
    return result.players.tobytes(), result.elo.tobytes(), result.advantage


def log_posterior(rows: list[Row], elo: dict[int, float], advantage: float) -> float:
    """The logarithm of the posterior, straight from its definition."""
    value = -(sum(rating**2 for rating in elo.values()) + advantage**2) / (2 * PRIOR**2)
    for first, second, wins, draws, losses in rows:
        expected = 1 / (1 + 10 ** (-(elo[first] - elo[second] + advantage) / 400))
        value += (wins + draws / 2) * math.log(expected)
        value += (losses + draws / 2) * math.log(1 - expected)
    return value


@st.composite
def pools(draw: st.DrawFn) -> list[Row]:
    """Rows of a small pool, some of them of the same pair."""
    player = st.integers(-5, 5)
    count = st.integers(0, 30)
    row = st.tuples(player, player, count, count, count).filter(lambda row: row[0] != row[1])
    return draw(st.lists(row, max_size=20))


@pytest.mark.parametrize(("wins", "draws", "losses"), [(1, 0, 1), (3, 0, 1), (2, 5, 1), (1, 1, 99)])
def test_two_players_have_a_closed_form(wins: int, draws: int, losses: int) -> None:
    """Without priors the difference is 400 log10(s / (1 - s)), s the first's score."""
    result = fit(counts([(1, 2, wins, draws, losses)]), prior=math.inf, advantage_prior=0)
    score = (wins + draws / 2) / (wins + draws + losses)
    expected = 400 * math.log10(score / (1 - score))
    assert result.elo[0] - result.elo[1] == pytest.approx(expected, abs=1e-6)
    assert result.advantage == pytest.approx(0, abs=1e-6)


def test_two_equals_show_the_advantage() -> None:
    """When each wins three of four games with the first move, that is worth 190.8 Elo."""
    result = fit(counts([(1, 2, 3, 0, 1), (2, 1, 3, 0, 1)]), advantage_prior=math.inf)
    assert result.advantage == pytest.approx(400 * math.log10(3))
    assert result.elo == pytest.approx([0, 0], abs=1e-9)


@given(pools(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_and_splits_make_no_difference(rows: list[Row], random: np.random.Generator) -> None:
    """The same games give the same bytes, shuffled and split into single games."""
    single = [
        (first, second, *result)
        for first, second, *totals in rows
        for result, total in zip(np.eye(3, dtype=int).tolist(), totals, strict=True)
        for _ in range(total)
    ]
    random.shuffle(single)
    assert contents(fit(counts(single))) == contents(fit(counts(rows)))


@given(pools())
@settings(deadline=None)
def test_swapped_colours_flip_the_advantage(rows: list[Row]) -> None:
    """Calling the second mover the first changes the sign of the advantage alone."""
    swapped = [(second, first, losses, draws, wins) for first, second, wins, draws, losses in rows]
    one, other = fit(counts(rows)), fit(counts(swapped))
    assert other.elo == pytest.approx(one.elo, abs=1e-6)
    assert other.advantage == pytest.approx(-one.advantage, abs=1e-6)


@given(pools())
@settings(deadline=None)
def test_every_pool_has_a_finite_fit_around_0(rows: list[Row]) -> None:
    """Islands and perfect scorers too are finite, and the mean is 0."""
    result = fit(counts(rows))
    assert np.isfinite(result.elo).all()
    assert math.isfinite(result.advantage)
    assert result.elo.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("parameter", [3, 7, 9, "advantage"])
def test_the_fit_is_at_the_top(parameter: int | str) -> None:
    """By finite differences, the posterior is flat there and falls to both sides."""
    result = fit(counts(ROWS))
    step = 1e-2

    def posterior(change: float) -> float:
        elo = dict(zip(result.players.tolist(), result.elo.tolist(), strict=True))
        if isinstance(parameter, int):
            elo[parameter] += change
            return log_posterior(ROWS, elo, result.advantage)
        return log_posterior(ROWS, elo, result.advantage + change)

    slope = (posterior(step) - posterior(-step)) / (2 * step)
    assert slope == pytest.approx(0, abs=1e-9)
    assert posterior(step) < posterior(0)
    assert posterior(-step) < posterior(0)


def test_a_very_one_sided_pool_has_a_fit() -> None:
    """Half a million games without a point, in a circle: undamped Newton steps never settle."""
    rows: list[Row] = [
        (1, 0, 0, 0, 631300),
        (2, 1, 2, 0, 30),
        (0, 2, 0, 0, 4935),
        (0, 1, 831521, 0, 0),
    ]
    result = fit(counts(rows))
    elo = dict(enumerate(result.elo.tolist()))
    top = log_posterior(rows, elo, result.advantage)
    for player, rating in elo.items():
        assert log_posterior(rows, elo | {player: rating - 1}, result.advantage) < top
        assert log_posterior(rows, elo | {player: rating + 1}, result.advantage) < top


def test_without_a_prior_more_of_the_same_changes_nothing() -> None:
    """Counting every game seven times keeps the strengths."""
    more = [(first, second, *(7 * total for total in totals)) for first, second, *totals in ROWS]
    once = fit(counts(ROWS), prior=math.inf, advantage_prior=math.inf)
    often = fit(counts(more), prior=math.inf, advantage_prior=math.inf)  # type: ignore[arg-type]
    assert often.elo == pytest.approx(once.elo, abs=1e-6)
    assert often.advantage == pytest.approx(once.advantage, abs=1e-6)


def test_the_prior_tells_perfect_scorers_apart() -> None:
    """Ten wins are worth more than one, and both are finite."""
    one = fit(counts([(1, 2, 1, 0, 0)]))
    ten = fit(counts([(1, 2, 10, 0, 0)]))
    assert 0 < one.elo[0] < ten.elo[0] < 1000
    assert one.advantage > 0


def test_an_island_is_around_0_too() -> None:
    """A pool that met nobody else gets the prior's mean for its own."""
    result = fit(counts([*ROWS, (20, 21, 3, 0, 1), (21, 20, 1, 0, 3)]))
    assert result.elo[-2:].mean() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([(1, 2, 3, 0, 0), (2, 1, 0, 0, 3)], "to infinity"),
        ([(1, 2, 5, 0, 5), (2, 1, 5, 0, 5), (8, 9, 700, 1, 30), (9, 8, 4, 4, 4)], "islands"),
    ],
)
def test_without_a_prior_some_pools_have_no_fit(rows: list[Row], match: str) -> None:
    """A perfect scorer or an island needs the prior."""
    with pytest.raises(NoFitError, match=match):
        fit(counts(rows), prior=math.inf, advantage_prior=0)


def test_no_games_have_a_fit() -> None:
    """Nobody has played: nobody is rated."""
    result = fit(counts([]))
    assert result.players.size == result.elo.size == result.advantage == 0


def test_merged_rows_are_sorted_pairs() -> None:
    """A pair's rows are added up; the other colours are another pair."""
    merged = counts([(7, 3, 1, 2, 3), (3, 7, 1, 0, 0), (7, 3, 10, 20, 30)]).merged()
    assert merged.first.tolist() == [3, 7]
    assert merged.second.tolist() == [7, 3]
    assert merged.wins.tolist() == [1, 11]
    assert merged.draws.tolist() == [0, 22]
    assert merged.losses.tolist() == [0, 33]
    assert merged.games == 67


def test_it_finds_the_strengths_that_made_the_games() -> None:
    """From exact expected scores of a million games, strengths and advantage come back."""
    truth = {1: 120.0, 2: 0.0, 3: -40.0, 4: -80.0}
    rows: list[Row] = []
    for first, second in permutations(truth, 2):
        expected = 1 / (1 + 10 ** (-(truth[first] - truth[second] + 55) / 400))
        wins = round(1e6 * expected)
        rows.append((first, second, wins, 0, 10**6 - wins))
    result = fit(counts(rows))
    assert result.elo == pytest.approx(list(truth.values()), abs=0.01)
    assert result.advantage == pytest.approx(55, abs=0.01)


def golden_pairs(name: str) -> tuple[list[str], PairCounts]:
    """The players of a golden set, sorted, and its counts by their places."""
    with (GOLDEN / f"{name}_pairs.csv").open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    names = sorted({name for line in lines for name in line[:2]})
    place = {name: number for number, name in enumerate(names)}
    return names, counts(
        [(place[a], place[b], int(w), int(d), int(l)) for a, b, w, d, l in lines]  # noqa: E741
    )


def golden_column(
    name: str, names: list[str], column: str
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A column of the golden outputs, in the order of `names`."""
    with (GOLDEN / f"{name}_outputs.csv").open(newline="") as file:
        values = {line["player"]: float(line[column]) for line in csv.DictReader(file)}
    return np.array([values[name] for name in names])


GOMOCUP = ["gomocup_2026_renju", "gomocup_2026_standard", "gomocup_renju_all", "gomocup_global"]


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_agrees_with_ordo(name: str) -> None:
    """With a prior too wide to matter, Ordo's half-draw ratings come out to its own precision."""
    names, pairs = golden_pairs(name)
    ordo = golden_column(name, names, "ordo_z200.2379_mean0")
    result = fit(pairs, prior=1e5, advantage_prior=0)
    assert result.elo == pytest.approx(ordo - ordo.mean(), abs=0.05)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_keeps_its_order(name: str) -> None:
    """With the usual prior, the order is Ordo's and BayesElo's but for near ties (Spearman)."""
    names, pairs = golden_pairs(name)
    ours = fit(pairs, advantage_prior=0).elo.argsort().argsort()
    ordo = golden_column(name, names, "ordo_z200.2379_mean0").argsort().argsort()
    bayes_elo = golden_column(name, names, "bayeselo_gomocup_settings").argsort().argsort()
    assert np.corrcoef(ours, ordo)[0, 1] > 0.999
    assert np.corrcoef(ours, bayes_elo)[0, 1] > 0.99


@needs_golden
def test_colours_agree_with_ordo() -> None:
    """Ordo, which fits the first move's advantage too, finds the same strengths and advantage."""
    names, pairs = golden_pairs("synth_10_1000")
    ordo = golden_column("synth_10_1000", names, "ordo_W_D_z200.2379")
    result = fit(pairs, prior=1e5, advantage_prior=1e5)
    assert result.elo == pytest.approx(ordo - ordo.mean(), abs=0.05)
    assert result.advantage == pytest.approx(49.02, abs=0.05)


@needs_golden
def test_the_edge_case_agrees_with_the_prior() -> None:
    """A perfect scorer, a zero scorer, a newcomer and an island, near another model's answer."""
    name = "edge_perfect_zero_island"
    names, pairs = golden_pairs(name)
    other = golden_column(name, names, "our_rk_sigma600_unscaled")
    assert fit(pairs).elo == pytest.approx(other, abs=35)


def test_the_scale_is_400_elo_to_a_tenfold() -> None:
    """400 Elo are odds of ten to one."""
    assert math.exp(400 / ELO_PER_NAT) == pytest.approx(10)
