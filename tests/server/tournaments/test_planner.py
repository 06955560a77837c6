"""What becomes of planned games while the database is away."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest

from meijin.game import TimeClasses
from meijin.server.errors import StoreAwayError
from meijin.server.match.feed import Feed
from meijin.server.storage import Storage
from meijin.server.tournaments import planner
from meijin.server.tournaments.planner import Planner
from meijin.server.tournaments.run import RunState, TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import BotId, PairingId
from meijin.store.tournaments import PendingPairing, PlannedGame

CLASSES = TimeClasses.parse("all")
GAME = PlannedGame(1, BotId(1), BotId(2), b"")


class AwayStorage:
    """A database that is away for some tries."""

    def __init__(self, run: TournamentRun, failures: int, state: RunState) -> None:
        self._run = run
        self._failures = failures
        self._state = state

    async def write(self, work: partial[object]) -> list[PendingPairing]:
        """Fail so often; meanwhile the tournament comes to its state."""
        assert work.keywords["time_classes"] is CLASSES
        if self._failures:
            self._failures -= 1
            self._run.state = self._state
            raise StoreAwayError("the database does not answer")
        return [PendingPairing(PairingId(1), 1, BotId(1), BotId(2), b"")]


@pytest.mark.parametrize(
    ("state", "stored"), [(RunState.PLAYING, 1), (RunState.SUSPENDED, 0), (RunState.CANCELLED, 0)]
)
def test_nothing_is_stored_for_a_tournament_that_was_stopped_meanwhile(
    monkeypatch: pytest.MonkeyPatch, run: TournamentRun, state: RunState, stored: int
) -> None:
    """Whoever takes it up again has read what was stored; else it is tried again."""
    monkeypatch.setattr(planner, "FIRST_RETRY", timedelta(0))
    nobody: Any = None
    storage = cast("Storage", AwayStorage(run, 3, state))
    made = Planner(cast("Scheduler", nobody), storage, cast("Feed", nobody), CLASSES)
    assert len(asyncio.run(made._store(run, [GAME]))) == stored
