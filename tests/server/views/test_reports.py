"""Reports of tournaments are kept, whoever waits for them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from meijin.server.views.reports import MOST_KEPT, TournamentReports
from meijin.store.schema import TournamentId

if TYPE_CHECKING:
    from meijin.server.storage import Storage

ONE = TournamentId(1)


class HeldStorage:
    """Answers each look once it is let to, and notes what was kept before it."""

    def __init__(self) -> None:
        self.before: list[Any] = []
        self.begun = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def read(self, _look: object, *, kept: Any, **_: object) -> object:
        """Wait, and return what is to be kept."""
        self.before.append(kept)
        self.begun.set()
        await self.may_answer.wait()
        return SimpleNamespace(summary="summary", report=len(self.before))


@pytest.fixture
async def storage() -> HeldStorage:
    """A store that has answered nobody."""
    return HeldStorage()


def reports_of(storage: HeldStorage) -> TournamentReports[int]:
    """Reports of what is in it."""
    return TournamentReports(cast("Storage", storage), lambda _: 0)


async def test_what_a_caller_did_not_wait_for_is_kept(storage: HeldStorage) -> None:
    """A call has a deadline, and the first count of a large tournament may take longer."""
    reports = reports_of(storage)
    call = asyncio.create_task(reports.find(ONE))
    await storage.begun.wait()
    call.cancel()
    storage.may_answer.set()
    assert (await reports.find(ONE))[1] == 2
    assert [kept and kept.report for kept in storage.before] == [None, 1]


async def test_callers_of_one_tournament_wait_for_each_other(storage: HeldStorage) -> None:
    """Each looks for itself, so that it sees what came before its call; those of others go on."""
    reports = reports_of(storage)
    calls = [asyncio.create_task(reports.find(each)) for each in (ONE, ONE, TournamentId(2))]
    for _ in range(5):
        await asyncio.sleep(0)
    assert storage.before == [None, None]
    storage.may_answer.set()
    await asyncio.gather(*calls)
    assert len(storage.before) == 3


async def test_reports_that_are_kept_are_so_many(storage: HeldStorage) -> None:
    """The one that was asked for longest ago goes first."""
    storage.may_answer.set()
    reports = reports_of(storage)
    for number in (*range(MOST_KEPT), 0, MOST_KEPT, 0, 1):
        await reports.find(TournamentId(number))
    again = [kept is not None for kept in storage.before[MOST_KEPT:]]
    assert again == [True, False, True, False]
