"""Whether bots lose their streams one by one, or together."""

import pytest

from meijin.server.match.live.departures import LEAST_DEPARTURES, WINDOW_NS, Departures
from meijin.store.schema import BotId


def lose(departures: Departures, connected: int, *times_ns: int) -> list[list[BotId]]:
    """Bots 1, 2, 3 and so on leave at these times; so many were connected before."""
    return [
        departures.add(BotId(number), time_ns, connected - number)
        for number, time_ns in enumerate(times_ns, start=1)
    ]


def test_half_of_the_bots_at_once_are_lost_by_the_network() -> None:
    """All that were lost so far, and then each that follows."""
    assert lose(Departures(), 8, 0, 1, 2, 3, 4) == [[], [], [], [1, 2, 3, 4], [5]]


@pytest.mark.parametrize("connected", [1, 2, LEAST_DEPARTURES - 1])
def test_a_few_bots_are_no_mass(connected: int) -> None:
    """Though they are all that there were."""
    found = lose(Departures(), connected, *range(connected))
    assert found == [[] for _ in range(connected)]


def test_less_than_half_are_no_mass() -> None:
    """However many."""
    assert not any(lose(Departures(), 101, *range(50)))


def test_departures_one_after_another_are_no_mass() -> None:
    """Each may have a cause of its own."""
    step_ns = WINDOW_NS // (LEAST_DEPARTURES - 2)
    assert not any(lose(Departures(), 8, *range(0, 8 * step_ns, step_ns)))


def test_one_bot_that_comes_and_goes_is_no_mass() -> None:
    """It is counted once."""
    departures = Departures()
    assert not any(departures.add(BotId(1), time_ns, 1) for time_ns in range(20))


def test_a_mass_disconnect_ends() -> None:
    """The next one is told of as a whole again."""
    departures = Departures()
    assert lose(departures, 4, 0, 1, 2, 3)[-1] == [1, 2, 3, 4]
    later = range(2 * WINDOW_NS, 2 * WINDOW_NS + 4)
    assert lose(departures, 4, *later) == [[], [], [], [1, 2, 3, 4]]
