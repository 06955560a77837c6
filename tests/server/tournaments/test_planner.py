"""What becomes of planned games while the database is away, or a plan fails."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.server.rows import tournament_row

from meijin.game import TimeClasses
from meijin.server.errors import StoreAwayError
from meijin.server.tournaments import planner
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.server.tournaments.planner import Planner
from meijin.server.tournaments.run import RunState, TournamentRun
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame

CLASSES = TimeClasses.parse("all")
NOBODY: Any = None


@pytest.mark.parametrize(
    ("state", "tries"), [(RunState.PLAYING, 4), (RunState.SUSPENDED, 1), (RunState.CANCELLED, 1)]
)
def test_nothing_is_stored_for_a_tournament_that_was_stopped_meanwhile(
    monkeypatch: pytest.MonkeyPatch, state: RunState, tries: int
) -> None:
    """Whoever takes it up again has read what was stored; else it is tried again."""
    monkeypatch.setattr(planner, "FIRST_RETRY", timedelta(0))
    run = TournamentRun(row=tournament_row(), format=RoundRobin(1))
    calls: list[object] = []

    async def write(work: object, *, time_classes: TimeClasses, **_: object) -> list[object]:
        """Fail three times; meanwhile the tournament comes to its state."""
        assert time_classes is CLASSES
        calls.append(work)
        run.state = state
        if len(calls) <= 3:
            raise StoreAwayError("the database does not answer")
        return ["stored"]

    storage: Any = SimpleNamespace(write=write)
    made = Planner(NOBODY, storage, NOBODY, CLASSES)
    games = [PlannedGame(1, BotId(1), BotId(2), b"")]
    stored = asyncio.run(made._store(run, games))
    assert (len(calls), len(stored)) == (tries, state is RunState.PLAYING)


@pytest.mark.parametrize(
    ("trouble", "logged"), [(StoreAwayError("no answer"), 0), (ZeroDivisionError(), 1)]
)
async def test_a_plan_that_fails_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, trouble: Exception, logged: int
) -> None:
    """It is made a little later; a database that is away is told of by the storage."""
    monkeypatch.setattr(planner, "FIRST_RETRY", timedelta(0))

    async def fail(_: object) -> Any:
        raise trouble

    scheduler: Any = SimpleNamespace(capacity=fail)
    run = TournamentRun(row=tournament_row(), format=RoundRobin(1))
    with capture_logs() as logs:
        assert await Planner(scheduler, NOBODY, NOBODY)._next_pairs(run) == ()
    assert [line["event"] for line in logs] == ["can't plan games"] * logged


async def test_what_is_stopped_while_it_is_planned_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is decided too, but another run may have taken its place."""
    monkeypatch.setattr(RoundRobin, "IS_SCHEDULED", False)
    run = TournamentRun(row=tournament_row(), format=RoundRobin(0))

    async def stop(_: object) -> None:
        run.state = RunState.SUSPENDED

    scheduler: Any = SimpleNamespace(capacity=stop)
    await Planner(scheduler, NOBODY, NOBODY)._plan(run)
    assert run.state is RunState.SUSPENDED
