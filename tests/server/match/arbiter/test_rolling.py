"""Rolling counts by minutes."""

from meijin.server.match.arbiter.rolling import NS_PER_MINUTE, RollingTotal


def test_the_last_minutes_add_up() -> None:
    """What is older is left out, and what is older than all that is kept is gone."""
    rolling = RollingTotal(3)
    for minute, amount in ((0, 5), (0, 7), (1, 2), (3, 4)):
        rolling.add(amount, minute * NS_PER_MINUTE + 1)
    now = 3 * NS_PER_MINUTE + 2
    assert [rolling.total(minutes, now) for minutes in (1, 2, 3, 4)] == [4, 4, 6, 18]
    assert [rolling.largest(minutes, now) for minutes in (1, 3, 4)] == [4, 4, 7]
    rolling.add(1, 4 * NS_PER_MINUTE)
    assert rolling.total(9, 4 * NS_PER_MINUTE) == 7
    assert rolling.total(3, 99 * NS_PER_MINUTE) == 0


def test_nothing_has_come() -> None:
    """The sum and the largest of nothing."""
    assert (RollingTotal(2).total(2, 0), RollingTotal(2).largest(2, 0)) == (0, 0)
