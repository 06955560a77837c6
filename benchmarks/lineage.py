"""Whether the prior of a lineage makes the ratings of new versions true.

    python benchmarks/lineage.py [--ladders 40] [--processes 2] [--json]

Ladders of 12 bots with five old versions each, every one stronger than the one before by
N(20, 60^2) Elo, and 100 games for each old version. Then each bot comes with a sixth version, which
plays 0, 10 or 50 games against old versions drawn by lot. Of these new versions: how often the 95 %
interval holds the strength (coverage, in percent), the root mean square error, and the mean half
width, all in Elo and relative to the mean of the old versions; with the prior and without. Without
it and without games a version has the prior of a stranger. The width is the estimated one of the
prior, on average; 0 without one.

Games are drawn by lot from the strengths, with one draw in ten between equals. Equal numbers of
ladders give equal rows.

--ladders    how many are played
--processes  how many at a time
--json       print the rows as one object on the last line too
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from report import Row, parser_of, pool_of, report

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

DEVIATION = 250.0
ADVANTAGE = 60.0
DRAWS = 40.0
"""One game in ten between equals is drawn."""


class Kind(NamedTuple):
    """What a row is of."""

    games: int
    """Of each new version."""
    model: str


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What a fit says of some players, beside the truth."""

    kind: "Kind"
    errors: Floats
    margins: Floats
    """Half of each 95 % interval."""
    width: float
    """The estimated width of the prior; 0 without one."""


def judge(
    kind: Kind, found: Fit, strengths: Floats, judged: Integers, mean_of: Integers
) -> Judgement:
    """The errors of some players, relative to the mean of some."""
    weights = np.zeros(len(strengths))
    weights[mean_of] = 1 / len(mean_of)
    elo, truth = found.elo - weights @ found.elo, strengths - weights @ strengths
    margins = Z_95 * np.sqrt(covariance(found).from_mean(weights))
    width = found.prior.lineage if len(found.lineage) else 0.0
    return Judgement(kind, (elo - truth)[judged], margins[judged], width)


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
            kind = Kind(number, model)
            judgements.append(judge(kind, found, strengths, new, old))
    return judgements


def _counts(
    strengths: Floats, first: Integers, second: Integers, rng: np.random.Generator
) -> PairCounts:
    """Games between some, drawn by lot."""
    lead = strengths[first] - strengths[second] + ADVANTAGE
    luck = rng.random(len(first))
    won = luck < 1 / (1 + 10 ** ((DRAWS - lead) / 400))
    lost = luck > 1 - 1 / (1 + 10 ** ((DRAWS + lead) / 400))
    wins, draws, losses = np.array([won, ~won & ~lost, lost]).astype(float)
    return PairCounts(first, second, wins, draws, losses)


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
            "width": round(float(np.mean([each.width for each in these])), 1),
        }


def main() -> None:
    """Simulate the ladders."""
    parser = parser_of(__doc__)
    parser.add_argument("--ladders", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with pool_of(options.processes) as processes:
        ladders = list(processes.map(lineage_ladder, range(options.ladders)))
    found = list(rows(list(chain.from_iterable(ladders))))
    report("New versions with and without the prior", found, as_json=options.json)


if __name__ == "__main__":
    main()
