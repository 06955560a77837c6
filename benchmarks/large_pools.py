"""How true the intervals of large pools are, whose newest versions alone have a joint covariance.

    python benchmarks/large_pools.py [--versions 2500] [--joint 800] [--games 40] [--pools 2] [--json]

Strengths are N(0, 200^2) Elo, and this many games of each version are drawn by lot from them, without
draws. Each pool is fitted as a ladder is, and its covariance is compared with that in which all
versions are joint.

meetings   of whom: any two, half of them within a tenth of the versions (mixed); versions of about
           the same time (time); each version and one of the next ten (chain)
between    newest versions, older ones, or one of each; 20,000 differences of either
ratio      deviations of differences over what they are when all are joint; the median
least      the same, the least of all
holds      95 % intervals of differences that hold the truth, in percent
joint      likewise, when all are joint

--versions  in each pool
--joint     the newest of these
--games     of each version
--pools     of each kind of meetings
--json      print the rows as one object on the last line too
"""

from collections.abc import Iterator

import numpy as np
from report import Row, parser_of, report

from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import Z_95, covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

DEVIATION = 200.0
DIFFERENCES = 20_000
MEETINGS = ("mixed", "time", "chain")
SAME_TIME = 60.0
"""The deviation of how many versions lie between two that meet."""


def meetings(kind: str, versions: int, games: int, rng: np.random.Generator) -> Integers:
    """Who meets whom, as the places of two; shape (about versions * games / 2, 2)."""
    one = rng.integers(0, versions, versions * games // 2)
    if kind == "mixed":
        farthest = np.where(rng.random(len(one)) < 0.5, versions - 1, versions // 10)
        other = (one + rng.integers(1, farthest + 1)) % versions
    elif kind == "time":
        other = one + np.rint(rng.normal(0, SAME_TIME, len(one))).astype(np.int64)
    else:
        other = one + rng.integers(1, 11, len(one))
    seats = np.column_stack((one, other))
    kept: Integers = seats[(one != other) & (other >= 0) & (other < versions)]
    return kept


def played(strengths: Floats, seats: Integers, rng: np.random.Generator) -> Fit:
    """The fit of a game of each two."""
    one, other = seats.T
    won = rng.random(len(one)) < 1 / (1 + 10 ** ((strengths[other] - strengths[one]) / 400))
    none = np.zeros(len(one))
    return fit(PairCounts(one, other, won * 1.0, none, ~won * 1.0))


def judged(kind: str, versions: int, joint: int, games: int, seed: int) -> Iterator[Row]:
    """What a pool adds to each row."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, DEVIATION, versions)
    known = played(strengths, meetings(kind, versions, games, rng), rng)
    old, error = versions - joint, known.elo - strengths
    near, exact = covariance(known, joint), covariance(known, versions)
    newest, older = (old, versions), (0, old)
    sides = {"newest": (newest, newest), "both": (newest, older), "older": (older, older)}
    for between, ends in sides.items():
        one, other = (rng.integers(*end, DIFFERENCES) for end in ends)
        one, other = one[one != other], other[one != other]
        ours, theirs = (np.sqrt(each.of_differences(one, other)) for each in (near, exact))
        missed = np.abs(error[one] - error[other])
        yield {
            "meetings": kind,
            "between": between,
            "ratio": float(np.median(ours / theirs)),
            "least": float((ours / theirs).min()),
            "holds": 100 * float((missed <= Z_95 * ours).mean()),
            "joint": 100 * float((missed <= Z_95 * theirs).mean()),
        }


def merged(rows: list[Row]) -> Row:
    """One row of several pools': the least of all, and means."""
    numbers = {name: [float(row[name]) for row in rows] for name in ("ratio", "holds", "joint")}
    return {
        "meetings": rows[0]["meetings"],
        "between": rows[0]["between"],
        "least": round(min(float(row["least"]) for row in rows), 3),
        **{name: round(sum(column) / len(column), 3) for name, column in numbers.items()},
    }


def main() -> None:
    """Judge pools of every kind."""
    parser = parser_of(__doc__)
    for name, number in (("versions", 2500), ("joint", 800), ("games", 40), ("pools", 2)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    rows = []
    for kind in MEETINGS:
        pools = [
            list(judged(kind, options.versions, options.joint, options.games, seed))
            for seed in range(options.pools)
        ]
        rows += [merged(list(each)) for each in zip(*pools, strict=True)]
    report("Large pools", rows, as_json=options.json)


if __name__ == "__main__":
    main()
