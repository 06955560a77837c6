"""Grades of a class: how many marks are wrong at the games that are played.

    python benchmarks/grading.py [--students 2000] [--games 100] [--worlds even uneven wild]
                                 [--advantages 0 25 50 100 200 400] [--json]

--students    simulated of each advantage
--games       the most against an anchor
--worlds      how openings differ; see stopped_tests.py
--advantages  of a student's bot over an anchor, in Elo

A mark is wrong when the bot that is the worse one passes or the better one fails. The last row of
each world is a class whose bots are spread around five anchors, which lie 200 Elo apart, with a
deviation of 300: how many of its marks are wrong, and how many of its grades have one.
"""

from dataclasses import dataclass

import numpy as np
from report import Row, parser_of, report
from stopped_tests import WORLDS, World

from meijin.cli.classes.grading import INDIFFERENCE, MOST_GAMES, RISK
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask
from meijin.ladder.statistics.sequential.sprt import Sprt, likelihood_ratios

ANCHORS = np.arange(-400.0, 600.0, 200.0)
DEVIATION = 300.0
CLASS = 200
"""Students of the class that is spread."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What tests have shown, one of each student; all of shape (n,)."""

    passed: Mask
    failed: Mask
    games: Integers


def mark(world: World, advantage: float, students: int, most_games: int, seed: int) -> Marks:
    """Test this many students' bots of one advantage."""
    test = Sprt(-INDIFFERENCE, INDIFFERENCE, RISK, RISK)
    pairs = most_games // 2
    rng = np.random.default_rng(seed)
    drawn = rng.choice(5, size=(students, pairs), p=world.pairs(advantage))
    counts = np.cumsum(np.eye(5, dtype=np.int64)[drawn], axis=1)
    ratios: Floats = likelihood_ratios(test, counts.reshape(-1, 5)).reshape(students, pairs)
    over = (ratios <= test.lower) | (ratios >= test.upper)
    last = np.where(over.any(axis=1), over.argmax(axis=1), pairs - 1)
    at_end = ratios[np.arange(students), last]
    return Marks(at_end >= test.upper, at_end <= test.lower, 2 * (last + 1))


def row_of(name: str, advantage: float, students: int, most_games: int) -> Row:
    """How tests of one advantage end."""
    marks = mark(WORLDS[name], advantage, students, most_games, seed=1)
    wrong = marks.failed if advantage > 0 else marks.passed
    open_share = 1 - float((marks.passed | marks.failed).mean())
    return {
        "world": name,
        "advantage": f"{advantage:g}",
        "wrong_percent": "" if advantage == 0 else round(100 * float(wrong.mean()), 2),
        "undecided_percent": round(100 * open_share, 1),
        "mean_games": round(float(marks.games.mean()), 1),
        "wrong_grades_percent": "",
    }


def class_row(name: str, most_games: int) -> Row:
    """How the grades of a spread class come out."""
    rng = np.random.default_rng(2)
    wrong, open_marks, games = [], 0, 0.0
    for number, strength in enumerate(rng.normal(0, DEVIATION, CLASS)):
        mistakes = 0
        for anchor in ANCHORS:
            seed = 10 * number + int(anchor) + 1000
            marks = mark(WORLDS[name], strength - anchor, 1, most_games, seed)
            mistakes += int(marks.failed[0] if strength > anchor else marks.passed[0])
            open_marks += int(not (marks.passed[0] or marks.failed[0]))
            games += float(marks.games[0])
        wrong.append(mistakes)
    tests = CLASS * len(ANCHORS)
    return {
        "world": name,
        "advantage": "a class",
        "wrong_percent": round(100 * sum(wrong) / tests, 2),
        "undecided_percent": round(100 * open_marks / tests, 1),
        "mean_games": round(games / tests, 1),
        "wrong_grades_percent": round(100 * float(np.mean(np.array(wrong) > 0)), 1),
    }


def main() -> None:
    """Grade all."""
    parser = parser_of(__doc__)
    parser.add_argument("--students", type=int, default=2000)
    parser.add_argument("--games", type=int, default=MOST_GAMES)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--advantages", type=float, nargs="+", default=[0, 25, 50, 100, 200, 400])
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.worlds:
        rows += [
            row_of(name, advantage, options.students, options.games)
            for advantage in options.advantages
        ]
        rows.append(class_row(name, options.games))
    report("Grades", rows, as_json=options.json)


if __name__ == "__main__":
    main()
