"""The spread of measurements."""

from spread import Spread


def test_quartiles_surround_the_median() -> None:
    """Of one value all three are that value."""
    assert Spread.of([5, 1, 3, 2, 4]) == Spread(3, 2, 4)
    assert Spread.of([7]) == Spread(7, 7, 7)


def test_ratios_are_of_neighbours() -> None:
    """A slow minute slows both, and leaves the ratio alone."""
    assert Spread.of_ratios([20, 2, 200], [10, 1, 100]) == Spread(2, 2, 2)


def test_columns_are_named() -> None:
    """The median has the name, and the quartiles tell which."""
    columns = Spread(2.0, 1.23456, 345.678).columns("ratio")
    assert columns == {"ratio": 2.0, "ratio_low": 1.2346, "ratio_high": 345.7}
