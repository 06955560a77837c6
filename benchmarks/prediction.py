"""Which model of a game predicts held-out games best: the log-loss of each, by cross-validation.

    python benchmarks/prediction.py [--golden FOLDER] [--sets NAME ...] [--folds 5] [--repeats 2]
                                    [--processes 2] [--json]

--golden     the folder with the counts of real Gomocup tournaments, NAME_pairs.csv; those that are
             not there are told and left out
--sets       gomocup_2026_renju, gomocup_2026_standard, gomocup_renju_all, gomocup_global, and
             simulated ones: constant (draws as the ladder's model has them) and rising (the
             stronger the two, the more they draw)
--folds      of the pairings of two players, all of whose games are held out together
--repeats    of that, with other folds
--processes  at a time
--json       the rows as one JSON object on the last line

The counts of Gomocup tell no colours, so that no model has a first-move advantage here. Models:
the ladder's own fit, where draws depend on strength by the levels of a fit before; rao-kupper with
a normal prior of 600 Elo, of 400, and with BayesElo's two virtual draws; davidson (1970); and both
with draws that depend on strength, the logarithm of the draw parameter being linear in the mean
strength of the two (as in Glickman, Parameter estimation in large dynamic paired comparison
experiments, 1999), whose slope is fitted by turns. Each row has the mean log-loss of a game, in
thousandths of a nat, and its difference from the ladder's with its standard error over the
pairings: above twice its error it is worth a thought.
"""

import argparse
import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from report import Row, parser_of, pool_of, report

from meijin.ladder.statistics.fit.bradley_terry import Fit, Prior
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

GOLDEN = Path(__file__).parents[1] / "../shared/golden/ratings"
REAL = ("gomocup_2026_renju", "gomocup_2026_standard", "gomocup_renju_all", "gomocup_global")
SIMULATED = ("constant", "rising")
NAT = 400 / math.log(10)
STEPS = 60
BARELY = 1e-7
SLOPES = np.linspace(-1.2, 1.2, 13)
"""Of the logarithm of the draw parameter, in one nat of mean strength; refined once."""
PLAYERS, GAMES = 40, 12
"""Of the simulated sets, and how many games each two play."""


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """Games of pairings; shapes (pairings,)."""

    players: int
    one: Integers
    other: Integers
    results: Floats
    """Losses, draws and wins of the one; shape (pairings, 3)."""

    def of(self, rows: Integers) -> "Games":
        """Those of some pairings."""
        return replace(self, one=self.one[rows], other=self.other[rows], results=self.results[rows])


def read(folder: Path, name: str) -> Games:
    """The games of a real set."""
    with (folder / f"{name}_pairs.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    names = sorted({player for row in rows for player in row[:2]})
    place = {player: number for number, player in enumerate(names)}
    seats = np.array([[place[player] for player in row[:2]] for row in rows])
    results = np.array([[float(count) for count in row[:1:-1]] for row in rows])
    return Games(len(names), seats[:, 0], seats[:, 1], results)


def simulate(name: str) -> Games:
    """The games of a simulated set; equal names have equal games."""
    rng = np.random.default_rng(16)
    strengths = rng.normal(0, 250 / NAT, PLAYERS)
    one, other = np.triu_indices(PLAYERS, 1)
    slope = 0.5 if name == "rising" else 0.0
    mean = (strengths[one] + strengths[other]) / 2
    draws = 0.35 * np.exp(slope * mean)
    chances = rao_kupper(strengths[one] - strengths[other], draws)
    return Games(PLAYERS, one, other, rng.multinomial(GAMES, chances).astype(float))


Chances = Callable[[Floats, Floats], Floats]
"""Of losses, draws and wins, shape (pairings, 3), by the difference and the draw parameter."""


def rao_kupper(difference: Floats, draws: Floats) -> Floats:
    """Rao and Kupper's model; draws is the half-width of what counts as equal, in nats."""
    wins, losses = 1 / (1 + np.exp(draws - difference)), 1 / (1 + np.exp(draws + difference))
    return np.stack((losses, 1 - wins - losses, wins), axis=1)


def davidson(difference: Floats, draws: Floats) -> Floats:
    """Davidson's model; a draw weighs `draws` times the geometric mean of win and loss."""
    weights = np.stack((np.exp(-difference / 2), draws, np.exp(difference / 2)), axis=1)
    chances: Floats = weights / weights.sum(axis=1, keepdims=True)
    return chances


@dataclass(frozen=True, slots=True)
class Model:
    """A way to tell chances from games."""

    chances: Chances
    deviation: float = 600.0
    """Of the normal prior of strengths, in Elo."""
    virtual_draws: float = 0.0
    depends_on_strength: bool = False


MODELS: Mapping[str, Model] = {
    "rao-kupper 600": Model(rao_kupper),
    "rao-kupper 400": Model(rao_kupper, deviation=400.0),
    "rao-kupper virtual draws": Model(rao_kupper, deviation=1e5, virtual_draws=2.0),
    "davidson 600": Model(davidson),
    "rao-kupper by strength": Model(rao_kupper, depends_on_strength=True),
    "davidson by strength": Model(davidson, depends_on_strength=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model with its parameters, in nats."""

    model: Model
    strengths: Floats
    draws: float
    """The draw parameter's logarithm where the two are of mean strength."""
    slope: float

    def chances(self, games: Games) -> Floats:
        """Of losses, draws and wins of each pairing."""
        one, other = self.strengths[games.one], self.strengths[games.other]
        draws = np.exp(self.draws + self.slope * (one + other) / 2)
        return self.model.chances(one - other, draws)

    def log_likelihood(self, games: Games) -> Floats:
        """Of each pairing's games."""
        told: Floats = (games.results * np.log(np.maximum(self.chances(games), 1e-12))).sum(axis=1)
        return told


@dataclass(frozen=True, slots=True, eq=False)
class LadderFit:
    """The ladder's own fit, of the players who have a game in it."""

    fit: Fit

    @classmethod
    def of(cls, games: Games) -> "LadderFit":
        """Without a first-move advantage."""
        losses, draws, wins = games.results.T
        counts = PairCounts(games.one, games.other, wins, draws, losses)
        return cls(fit_with_widths(counts, prior=Prior(advantage=0.0)))

    def log_likelihood(self, games: Games) -> Floats:
        """Of each pairing's games; who is new has the prior's mean."""
        elo = np.full(games.players, self.fit.level)
        elo[self.fit.players] = self.fit.elo
        one, other = elo[games.one], elo[games.other]
        between = self.fit.outcomes.between(one, other)
        wins, losses = between.wins(one - other), between.losses(one - other)
        chances = np.stack((losses, 1 - wins - losses, wins), axis=1)
        told: Floats = (games.results * np.log(np.maximum(chances, 1e-12))).sum(axis=1)
        return told


def fit_model(model: Model, games: Games) -> Fitted:
    """The maximum of the posterior, in its slope along a grid."""
    games = _with_virtual_draws(games, model.virtual_draws)
    if not model.depends_on_strength:
        return _fit(model, games, Fitted(model, np.zeros(games.players), -1.0, 0.0))
    slopes = SLOPES
    best = _fit(model, games, Fitted(model, np.zeros(games.players), -1.0, 0.0))
    for width in (0.2, 0.05):
        found = [_fit(model, games, replace(best, slope=float(slope))) for slope in slopes]
        best = max(found, key=lambda each: _posterior(each, games))
        slopes = best.slope + width * np.array([-0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 0.0])
    return best


def _with_virtual_draws(games: Games, draws: float) -> Games:
    """BayesElo's prior: draws of each player, spread over those it has met."""
    if not draws:
        return games
    count = games.results.sum(axis=1)
    total = np.bincount(games.one, count, games.players)
    total += np.bincount(games.other, count, games.players)
    results = games.results.copy()
    results[:, 1] += draws / 2 * count * (1 / total[games.one] + 1 / total[games.other])
    return replace(games, results=results)


def _posterior(found: Fitted, games: Games) -> float:
    penalty = float(found.strengths @ found.strengths) * (NAT / found.model.deviation) ** 2 / 2
    return float(found.log_likelihood(games).sum()) - penalty - found.slope**2 / 2


def _fit(model: Model, games: Games, start: Fitted) -> Fitted:
    """Fisher scoring of strengths and the draw parameter, halving steps that do not climb."""
    found, value = start, _posterior(start, games)
    for _ in range(STEPS):
        step = _step(model, games, found)
        share = min(1.0, 2 / max(float(np.abs(step).max()), 1e-12))
        while share > BARELY:
            moved = replace(
                found,
                strengths=found.strengths + share * step[:-1],
                draws=found.draws + share * float(step[-1]),
            )
            climbed = _posterior(moved, games)
            if climbed > value:
                break
            share /= 2
        else:
            break
        gain, found, value = climbed - value, moved, climbed
        if gain < BARELY:
            break
    return found


def _step(model: Model, games: Games, found: Fitted) -> Floats:
    """The expected information's step, by chances that are differentiated numerically."""
    one, other = found.strengths[games.one], found.strengths[games.other]
    log_draws = found.draws + found.slope * (one + other) / 2
    small = 1e-5

    def at(difference: float, draws: float) -> Floats:
        return model.chances(one - other + difference, np.exp(log_draws + draws))

    chances = np.maximum(at(0, 0), 1e-12)
    by_difference = (at(small, 0) - at(-small, 0)) / (2 * small)
    by_draws = (at(0, small) - at(0, -small)) / (2 * small)
    half = found.slope / 2
    by_one, by_other = by_difference + half * by_draws, -by_difference + half * by_draws
    count = games.results.sum(axis=1)
    parts = (by_one, by_other, by_draws)
    places = (games.one, games.other, np.full(len(one), games.players))
    gradient, size = np.zeros(games.players + 1), games.players + 1
    information = np.zeros(size * size)
    for part, place in zip(parts, places, strict=True):
        np.add.at(gradient, place, (games.results / chances * part).sum(axis=1))
        for twin, twin_place in zip(parts, places, strict=True):
            shared = count * (part * twin / chances).sum(axis=1)
            np.add.at(information, place * size + twin_place, shared)
    precision = np.append(np.full(games.players, (NAT / model.deviation) ** 2), 1e-4)
    gradient[:-1] -= precision[:-1] * found.strengths
    matrix = information.reshape(size, size) + np.diag(precision + 1e-9)
    step: Floats = np.asarray(np.linalg.solve(matrix, gradient), dtype=np.float64)
    return step


@dataclass(frozen=True, slots=True)
class Task:
    """One set of games, and how it is cut."""

    name: str
    folder: Path
    folds: int
    repeats: int


def judge(task: Task) -> list[Row]:
    """The rows of a set: one for each model."""
    games = simulate(task.name) if task.name in SIMULATED else read(task.folder, task.name)
    usual = _held_out(LadderFit.of, games, task)
    losses = {
        "ladder": usual,
        **{
            name: _held_out(partial(fit_model, model), games, task)
            for name, model in MODELS.items()
        },
    }
    return [
        {
            "set": task.name,
            "games": round(float(games.results.sum())),
            "model": name,
            "log_loss": round(1000 * float(loss.sum() / games.results.sum()), 2),
            **_difference(loss - usual, float(games.results.sum())),
        }
        for name, loss in losses.items()
    ]


def _difference(change: Floats, games: float) -> Mapping[str, float]:
    """Of a game, in thousandths of a nat, with its error over the pairings."""
    error = math.sqrt(len(change)) * float(change.std())
    return {
        "difference": round(1000 * float(change.sum()) / games, 3),
        "error": round(1000 * error / games, 3),
    }


def _held_out(fit: Callable[[Games], Fitted | LadderFit], games: Games, task: Task) -> Floats:
    """The negative log-likelihood of each pairing when it is held out, the mean of all repeats."""
    loss = np.zeros(len(games.one))
    for train, test in _cuts(len(loss), task):
        found = fit(games.of(train))
        loss[test] -= found.log_likelihood(games.of(test)) / task.repeats
    return loss


def _cuts(pairings: int, task: Task) -> Iterator[tuple[Integers, Integers]]:
    rng = np.random.default_rng(5)
    for _ in range(task.repeats):
        fold = rng.permutation(pairings) % task.folds
        for number in range(task.folds):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def tasks(options: argparse.Namespace) -> Sequence[Task]:
    """Those that can be done; the others are told."""
    found = []
    for name in options.sets:
        if name in REAL and not (options.golden / f"{name}_pairs.csv").is_file():
            print(f"{name} left out: there is no {name}_pairs.csv in {options.golden}")
        else:
            found.append(Task(name, options.golden, options.folds, options.repeats))
    return found


def main() -> None:
    """Judge every set."""
    parser = parser_of(__doc__)
    parser.add_argument("--golden", type=Path, default=GOLDEN)
    parser.add_argument(
        "--sets", nargs="+", choices=(*REAL, *SIMULATED), default=[*REAL, *SIMULATED]
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    wanted = tasks(options)
    rows: list[Row] = []
    if wanted:
        with pool_of(options.processes) as processes:
            rows = [row for found in processes.map(judge, wanted) for row in found]
        report("Log-loss of held-out games, thousandths of a nat", rows, as_json=options.json)


if __name__ == "__main__":
    main()
