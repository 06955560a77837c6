"""What was counted of tournaments is kept, whoever waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from meijin.server.views.kept import KeptByTournament
from meijin.store.schema import TournamentId

if TYPE_CHECKING:
    from meijin.server.storage import Storage

MOST = 3


class HeldStorage:
    """Answers each look, by its number, once it is let to; notes what was kept before it."""

    def __init__(self) -> None:
        self.before: list[int | None] = []
        self.begun, self.may_answer = asyncio.Event(), asyncio.Event()
        self.kept = KeptByTournament[int](cast("Storage", self), MOST)

    async def read(self, _look: object, _tournament_id: TournamentId, before: int | None) -> int:
        self.before.append(before)
        self.begun.set()
        await self.may_answer.wait()
        return len(self.before)

    async def find(self, number: int) -> int:
        return await self.kept.find(TournamentId(number), lambda *_: 0)


async def test_what_a_caller_did_not_wait_for_is_kept() -> None:
    """A call has a deadline, and the first count of a large tournament may take longer."""
    storage = HeldStorage()
    call = asyncio.create_task(storage.find(1))
    await storage.begun.wait()
    call.cancel()
    storage.may_answer.set()
    assert await storage.find(1) == 2
    assert storage.before == [None, 1]


async def test_callers_of_one_tournament_wait_for_each_other() -> None:
    """Each looks for itself, so that it sees what came before its call; those of others go on."""
    storage = HeldStorage()
    calls = [asyncio.create_task(storage.find(number)) for number in (1, 1, 2)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert storage.before == [None, None]
    storage.may_answer.set()
    await asyncio.gather(*calls)
    assert len(storage.before) == 3


async def test_so_many_are_kept() -> None:
    """The one that was asked for longest ago goes first."""
    storage = HeldStorage()
    storage.may_answer.set()
    for number in (*range(MOST), 0, MOST, 0, 1):
        await storage.find(number)
    again = [before is not None for before in storage.before[MOST:]]
    assert again == [True, False, True, False]
