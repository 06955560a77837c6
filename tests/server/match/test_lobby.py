"""Streams of one bot that take each other's place."""

from __future__ import annotations

from collections import deque
from typing import cast

import pytest
from structlog.testing import capture_logs

from meijin.server.errors import ReplacedError, TooManyReplacementsError
from meijin.server.match.live.live_game import Participant
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import MAX_REPLACED, Replacements
from meijin.store.schema import BotId


class FakeSession:
    """A session as far as it is replaced."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.player = Participant(BotId(1), "ada")


def session(session_id: str) -> Session:
    """A stream that is open."""
    return cast("Session", FakeSession(session_id))


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
    """A connection that breaks again and again is no second copy: it knows its session."""
    replacements = Replacements(0.0)
    for number in range(1_000):
        replacements.add(session(f"s{number}"), f"s{number}", 0.0)


def test_the_replaced_streams_are_bounded() -> None:
    """Those of late are refused; the oldest are forgotten."""
    replacements = Replacements(0.0)
    for number in range(1_000):
        replacements.add(session(f"s{number}"), f"s{number}", 0.0)
    with pytest.raises(ReplacedError):
        replacements.add(session("open"), "s999", 0.0)
    held = [value for value in vars(replacements).values() if isinstance(value, deque)]
    assert [len(ids) for ids in held] == [MAX_REPLACED]
