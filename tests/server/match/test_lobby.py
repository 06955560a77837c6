"""Streams of one bot that take each other's place, and bots that lose theirs together."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import cast

import pytest
from structlog.testing import capture_logs

from meijin.server.errors import ReplacedError, TooManyReplacementsError
from meijin.server.match.live.live_game import Participant
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import (
    LEAST_DEPARTURES,
    MAX_REPLACED,
    WINDOW_NS,
    Departures,
    Replacements,
)
from meijin.store.schema import BotId

STEP_NS = WINDOW_NS // (LEAST_DEPARTURES - 2)


def session(session_id: str) -> Session:
    player = Participant(BotId(1), "ada")
    return cast("Session", SimpleNamespace(id=session_id, player=player))


def test_a_thief_is_locked_out_for_a_minute() -> None:
    """Five times a minute the newer stream wins; then the one that is open stays, said once."""
    replacements = Replacements(0.0)
    for number in range(5):
        replacements.add(session(f"s{number}"), "", 0.0)
    with capture_logs() as logs:
        for now in (0.0, 30.0, 59.9):
            with pytest.raises(TooManyReplacementsError, match=r"stolen.* come back in"):
                replacements.add(session("s5"), "", now)
    assert [entry["bot"] for entry in logs if entry["log_level"] == "warning"] == ["ada"]
    replacements.add(session("s5"), "", 60.0)


def test_a_bot_may_always_take_its_own_place() -> None:
    """A connection that breaks again and again is no second copy: it knows its session.

    Those of late that were replaced are refused; the oldest are forgotten.
    """
    replacements = Replacements(0.0)
    for number in range(1_000):
        replacements.add(session(f"s{number}"), f"s{number}", 0.0)
    with pytest.raises(ReplacedError):
        replacements.add(session("open"), "s999", 0.0)
    held = [value for value in vars(replacements).values() if isinstance(value, deque)]
    assert [len(ids) for ids in held] == [MAX_REPLACED]


def lose(departures: Departures, connected: int, *times_ns: int) -> list[list[BotId]]:
    """Bots 1, 2, 3 and so on leave at these times; this many were connected before."""
    return [
        departures.add(BotId(number), time_ns, connected - number)
        for number, time_ns in enumerate(times_ns, start=1)
    ]


@pytest.mark.parametrize(
    ("connected", "times_ns", "lost"),
    [
        (8, range(5), [[], [], [], [1, 2, 3, 4], [5]]),  # half of them: all, and each that follows
        *((few, range(few), [[]] * few) for few in (1, 2, LEAST_DEPARTURES - 1)),
        (101, range(50), [[]] * 50),  # less than half
        (8, range(0, 8 * STEP_NS, STEP_NS), [[]] * 8),  # one after another
    ],
)
def test_half_of_the_bots_at_once_are_lost_by_the_network(
    connected: int, times_ns: range, lost: list[list[BotId]]
) -> None:
    """At least this many; each may have a cause of its own else. It ends, and may begin again."""
    departures = Departures()
    assert lose(departures, connected, *times_ns) == lost
    later = range(20 * WINDOW_NS, 20 * WINDOW_NS + 4)
    assert lose(departures, 4, *later) == [[], [], [], [1, 2, 3, 4]]


def test_one_bot_that_comes_and_goes_is_no_mass() -> None:
    departures = Departures()
    assert not any(departures.add(BotId(1), time_ns, 1) for time_ns in range(20))
