"""Whether lineage and opening priors make ratings of new versions and on biased openings true.

    python benchmarks/lineage.py [--ladders 40] [--processes 2] [--only lineage|openings] [--json]

lineage   ladders of 12 bots with five old versions each, every one stronger than the one before by
          N(20, 60^2) Elo, and 100 games for each old version. Then each bot comes with a sixth
          version, which plays 0, 10 or 50 games against old versions drawn by lot. Of these new
          versions: how often the 95 % interval holds the strength (coverage, in percent), the root
          mean square error, and the mean half width, all in Elo and relative to the mean of the old
          versions; with the prior and without. Without it and without games a version has the
          prior of a stranger.
openings  ladders of 20 bots, N(0, 250^2) Elo apart, with 2,000 and 20,000 games in all on 40
          openings in which moving first is worth N(60, s^2) Elo, with s (bias) 150 and 0: coverage
          as above, relative to the mean, and the scale: the slope of the ratings on the strengths,
          below 1 when they are compressed; with effects of openings and without.

The width is the estimated one of the prior in question, on average; 0 where the model has none.

Games are drawn by lot from the strengths, with one draw in ten between equals. Equal numbers of
ladders give equal rows.

--ladders    how many are played of each kind
--processes  how many at a time
--only       one of the two tables
--json       print the rows as one object on the last line too
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from report import Row, parser_of, pool_of, print_json, show

from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import Z_95, covariance
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

BOTS = 12
OLD_VERSIONS = 5
IMPROVEMENT, SPREAD = 20.0, 60.0
GAMES_EACH = 100
"""Of each old version."""
NEW_GAMES = (0, 10, 50)

PLAYERS = 20
DEVIATION = 250.0
OPENINGS = 40
GAMES_AND_BIASES = ((2_000, 150.0), (20_000, 150.0), (2_000, 0.0), (20_000, 0.0))

ADVANTAGE = 60.0
DRAWS = 40.0
"""One game in ten between equals is drawn."""


class Kind(NamedTuple):
    """What a row is of."""

    table: str
    games: int
    """Of each new version, or of all players together."""
    bias: float
    """The deviation among openings, in Elo."""
    model: str


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What a fit says of some players, beside the truth."""

    kind: "Kind"
    errors: Floats
    margins: Floats
    """Half of each 95 % interval."""
    scale: float
    """The slope of ratings on strengths."""
    width: float
    """The estimated width of the prior; 0 without one."""


def play(
    strengths: Floats, first: Integers, second: Integers, bias: Floats, rng: np.random.Generator
) -> Floats:
    """Wins, draws and losses of the first in each game, as ones and zeros; shape (3, games)."""
    lead = strengths[first] - strengths[second] + ADVANTAGE + bias
    luck = rng.random(len(first))
    won = luck < 1 / (1 + 10 ** ((DRAWS - lead) / 400))
    lost = luck > 1 - 1 / (1 + 10 ** ((DRAWS + lead) / 400))
    results: Floats = np.array([won, ~won & ~lost, lost]).astype(float)
    return results


def judge(
    kind: Kind, found: Fit, strengths: Floats, judged: Integers, mean_of: Integers
) -> Judgement:
    """The errors of some players, relative to the mean of some."""
    weights = np.zeros(len(strengths))
    weights[mean_of] = 1 / len(mean_of)
    elo, truth = found.elo - weights @ found.elo, strengths - weights @ strengths
    margins = Z_95 * np.sqrt(covariance(found).from_mean(weights))
    scale = float(np.polyfit(truth[mean_of], elo[mean_of], 1)[0])
    width = found.prior.lineage if len(found.lineage) else found.prior.opening
    return Judgement(kind, (elo - truth)[judged], margins[judged], scale, width)


def lineage_ladder(seed: int) -> list[Judgement]:
    """One ladder with new versions, after each number of their games, by both models."""
    rng = np.random.default_rng((seed, 1))
    steps = rng.normal(IMPROVEMENT, SPREAD, (BOTS, OLD_VERSIONS + 1))
    steps[:, 0] = rng.normal(0, DEVIATION, BOTS)
    strengths = steps.cumsum(axis=1).ravel()
    place = np.arange(len(strengths))
    is_new = place % (OLD_VERSIONS + 1) == OLD_VERSIONS
    old, new = place[~is_new], place[is_new]
    child = np.setdiff1d(place, place[:: OLD_VERSIONS + 1])
    lineage = Lineage(child, child - 1, np.ones_like(child))
    games = len(old) * GAMES_EACH // 2
    one = rng.choice(old, games)
    other = old[(np.searchsorted(old, one) + rng.integers(1, len(old), games)) % len(old)]
    known = _counts(strengths, one, other, rng)
    unplayed = PairCounts(new, np.full(len(new), old[0]), *np.zeros((3, len(new))))
    judgements = []
    for number in NEW_GAMES:
        mine = np.repeat(new, number)
        met = rng.choice(old, len(mine))
        turned = rng.random(len(mine)) < 0.5
        seats = np.where(turned, met, mine), np.where(turned, mine, met)
        counts = known.joined(unplayed).joined(_counts(strengths, *seats, rng)).merged()
        for model, found in (("with", fit_with_widths(counts, lineage)), ("without", fit(counts))):
            kind = Kind("lineage", number, 0.0, model)
            judgements.append(judge(kind, found, strengths, new, old))
    return judgements


def _counts(
    strengths: Floats, first: Integers, second: Integers, rng: np.random.Generator
) -> PairCounts:
    return PairCounts(first, second, *play(strengths, first, second, np.zeros(len(first)), rng))


def openings_ladder(seed: int) -> list[Judgement]:
    """One ladder on openings with each number of games and bias, by both models."""
    judgements = []
    for games, bias in GAMES_AND_BIASES:
        rng = np.random.default_rng((seed, 2, games, round(bias)))
        strengths = rng.normal(0, DEVIATION, PLAYERS)
        everyone = np.arange(PLAYERS)
        first = rng.integers(0, PLAYERS, games)
        second = (first + rng.integers(1, PLAYERS, games)) % PLAYERS
        openings = rng.integers(0, OPENINGS, games)
        wins, draws, losses = play(
            strengths, first, second, rng.normal(0, bias, OPENINGS)[openings], rng
        )
        counts = PairCounts(first, second, wins, draws, losses, openings)
        for model, found in (("with", fit_with_widths(counts)), ("without", fit(counts))):
            kind = Kind("openings", games, bias, model)
            judgements.append(judge(kind, found, strengths, everyone, everyone))
    return judgements


def rows(judgements: Sequence[Judgement]) -> Iterator[Row]:
    """One row for each kind."""
    for kind in dict.fromkeys(each.kind for each in judgements):
        these = [each for each in judgements if each.kind == kind]
        errors = np.concatenate([each.errors for each in these])
        margins = np.concatenate([each.margins for each in these])
        yield {
            **kind._asdict(),
            "intervals": len(errors),
            "coverage": round(100 * float((np.abs(errors) <= margins).mean()), 1),
            "rms_error": round(float(np.sqrt((errors**2).mean())), 1),
            "margin": round(float(margins.mean()), 1),
            "scale": round(float(np.mean([each.scale for each in these])), 3),
            "width": 0.0
            if kind.model == "without"
            else round(float(np.mean([each.width for each in these])), 1),
        }


def main() -> None:
    """Simulate both."""
    parser = parser_of(__doc__)
    parser.add_argument("--ladders", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=("lineage", "openings"))
    options = parser.parse_args()
    worlds = {"lineage": lineage_ladder, "openings": openings_ladder}
    found: list[Row] = []
    with pool_of(options.processes) as processes:
        for name, world in worlds.items():
            if options.only in {None, name}:
                ladders = processes.map(world, range(options.ladders))
                table = list(rows(list(chain.from_iterable(ladders))))
                show(f"With and without the prior: {name}", table)
                found += table
    if options.json:
        print_json(found)


if __name__ == "__main__":
    main()
