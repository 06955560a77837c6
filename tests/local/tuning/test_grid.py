"""The points of a grid, and which of them meet."""

from collections import Counter

import pytest

from meijin.local.tuning.grid import Grid, grid_levels
from meijin.local.tuning.parameter import parse_parameters
from meijin.local.tuning.trial import Schedule

PARAMETERS = parse_parameters(["k=1..9", "x=0..1.0"], {})


def test_levels_go_from_end_to_end() -> None:
    """Of integers there are no more than the range has."""
    assert grid_levels(PARAMETERS, 5, 100) == [[1, 3, 5, 7, 9], [0, 0.25, 0.5, 0.75, 1]]
    assert grid_levels(parse_parameters(["k=1..4"], {}), 9, 100) == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("ranges", "count", "pairs", "words"),
    [
        (["k=1..9"], 10_000, 2000, "--grid 10000 makes 10000 points, and at most 1000"),
        (["k=1..9", "x=0..1.0"], 100, 2000, "makes 10000 points"),
        (["k=1..2"], 3, 2000, "k has 2 values, and a curve needs 3"),
        (["k=1..9"], 5, 19, "38 games are too few for a curve of 2 terms; give --games 40"),
        (["k=1..9", "x=0..1.0"], 5, 49, "of 5 terms; give --games 100"),
    ],
)
def test_what_makes_no_curve_is_refused(
    ranges: list[str], count: int, pairs: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        grid_levels(parse_parameters(ranges, {}), count, pairs)


def test_every_point_plays_once_in_a_turn() -> None:
    """Against another of them; the same seed deals the same, in whatever order it is asked."""
    grid = Grid(PARAMETERS, grid_levels(PARAMETERS, 4, 100), seed=1)
    trials = [grid.trial(number) for number in range(8 * 30)]
    for turn in range(30):
        met = trials[8 * turn : 8 * (turn + 1)]
        points = {tuple(side.items()) for trial in met for side in (trial.plus, trial.minus)}
        assert len(points) == 16
    opponents = Counter(frozenset((*t.plus.items(), "against", *t.minus.items())) for t in trials)
    assert len(opponents) > 60
    again = Grid(PARAMETERS, grid_levels(PARAMETERS, 4, 100), seed=1)
    assert [again.trial(number) for number in reversed(range(240))] == trials[::-1]


def test_results_are_scaled() -> None:
    """Each range to -1 to 1, and the points of plus to a share."""
    grid = Grid(PARAMETERS, grid_levels(PARAMETERS, 3, 100), seed=1)
    observed = grid.observed({0: 2, 1: -2, 2: 1})
    assert observed.score.tolist() == [1, 0, 0.75]
    for number in range(3):
        trial = grid.trial(number)
        for side, scaled in ((trial.plus, observed.plus), (trial.minus, observed.minus)):
            values = grid.values(scaled[number])
            assert values.tolist() == [float(side["k"]), float(side["x"])]
    assert abs(observed.plus).max() == 1


def test_a_schedule_opens_a_few_at_a_time() -> None:
    """And refuses a second result, and one of a trial that it doesn't have."""
    grid = Grid(PARAMETERS, grid_levels(PARAMETERS, 3, 100), seed=1)
    schedule = Schedule(range(10, 16), grid.trial, window=3)
    assert [trial.number for trial in schedule.open_trials] == [10, 11, 12]
    schedule.note(11, 0)
    assert [trial.number for trial in schedule.open_trials] == [10, 12]
    for number in (9, 11, 16):
        with pytest.raises(ValueError, match="not open"):
            schedule.note(number, 0)
    for number in (10, 12, 13, 14, 15):
        assert not schedule.is_over
        schedule.note(number, 0)
    assert schedule.is_over
    assert schedule.open_trials == []
    assert Schedule(range(5, 5), grid.trial, window=3).is_over
