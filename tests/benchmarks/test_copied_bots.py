"""Simulated classes with copies: their bots, and the rows."""

from copied_bots import Settings, judge, summary


def made_settings(seed: int, change: float | None) -> Settings:
    """A small class."""
    return Settings(seed, bots=10, openings=12, plies=6, schools=10, change=change, risk=0.01)


def test_a_copy_is_found_and_nobody_else_is_named() -> None:
    """In a class of ten."""
    assert judge(made_settings(1, 0.05)) == (True, 0)
    assert judge(made_settings(2, None)) == (False, 0)


def test_rows() -> None:
    """One for the classes without a copy, and one for each change."""
    settings = [made_settings(1, None), made_settings(2, 0.1), made_settings(3, 0.1)]
    rows = summary(settings, [(False, 1), (True, 0), (False, 2)])
    assert [row["copy"] for row in rows] == ["none", "10% changed"]
    assert [row["copies_found"] for row in rows] == [0, 1]
    assert [row["innocent_pairs_named"] for row in rows] == [1, 2]
