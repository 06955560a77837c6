"""Who hears of what happens, in which order, and what becomes of one that fails."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs
from tests.server.rows import live_game

from meijin.server.match.feed import Feed
from meijin.server.match.live.listeners import Absence, Listener, Listeners, MassDisconnect
from meijin.server.match.observers import GameLog, GameRate
from meijin.server.match.presence.incidents import Incidents
from meijin.server.match.presence.lost_moves import LostMoves
from meijin.server.metrics.registry import GameCounts
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import BotVersionId

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

HOOKS = [name for name in vars(Listener) if not name.startswith("_")]


A, B, C, D, E, F = map(live_game, range(1, 7))
ABSENCE = Absence(BotVersionId(7), 3, is_excused=False, games=())
LOSS = MassDisconnect(("ada", "bob"), 4)


class Noting(Listener):
    """Notes what it hears; fails at one hook."""

    def __init__(self, name: str, heard: list[Any], failing: str = "") -> None:
        def note(hook: str, fact: Any) -> None:
            if hook == failing:
                raise RuntimeError
            heard.append((name, hook, fact))

        for hook in HOOKS:
            told = partial(note, hook)
            told.__qualname__ = f"Noting.{hook}"  # type: ignore[attr-defined]
            setattr(self, hook, told)


def tell_all(listeners: Listeners) -> None:
    for hook, fact in BEFORE:
        listeners.tell(getattr(Listener, hook), fact)
    listeners.committed([A, B], [C, E], [D])


BEFORE = [
    ("player_joined", A.first),
    ("player_returned", ABSENCE),
    ("mass_disconnected", LOSS),
    ("game_disputed", F),
    ("game_over", D),
]
COMMITTED = [
    ("game_started", A),
    ("game_started", B),
    ("games_moved", [C, E]),
    ("game_ended", D),
]


def test_listeners_hear_in_the_order_they_were_added() -> None:
    """Of a commit each hears the starts, the moves and the ends before the next hears of it."""
    heard: list[Any] = []
    listeners = Listeners()
    listeners.add(Noting("1", heard), Noting("2", heard))
    tell_all(listeners)
    told = [(name, *fact) for fact in BEFORE for name in "12"]
    assert heard == told + [(name, *fact) for name in "12" for fact in COMMITTED]
    heard.clear()
    listeners.committed([], [], [A])
    assert [hook for _, hook, _ in heard] == ["game_ended"] * 2


@pytest.mark.parametrize("hook", HOOKS)
def test_one_that_fails_is_logged_and_the_others_hear(hook: str) -> None:
    """Before it and after it; each time it is told again."""
    heard: list[Any] = []
    listeners = Listeners()
    listeners.add(Noting("1", heard), Noting("2", heard, failing=hook), Listener())
    listeners.add(Noting("3", heard))
    with capture_logs() as logs:
        tell_all(listeners)
    facts = [*BEFORE, *COMMITTED]
    failures = sum(each == hook for each, _ in facts)
    assert [(entry["event"], entry["listener"]) for entry in logs] == [
        ("a listener failed", f"Noting.{hook}")
    ] * failures
    by_name = {name: [fact for each, *fact in heard if each == name] for name in "123"}
    assert by_name["1"] == by_name["3"] == [[*fact] for fact in facts]
    assert by_name["2"] == [[*fact] for fact in facts if fact[0] != hook]


async def test_a_tournament_counts_a_game_before_anybody_looks_at_it(server: ServerInTest) -> None:
    """The order in a server: the scheduler, who watches, the jobs, the log, the ledger, the rates."""
    order = [Scheduler, Feed, RefreshSender, GameLog, Incidents, GameRate, LostMoves, GameCounts]
    assert [type(listener) for listener in server.parts.listeners.order] == order
