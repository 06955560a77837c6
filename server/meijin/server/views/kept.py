"""What was counted of tournaments, kept for whoever looks at them next."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from meijin.server.storage import Storage
from meijin.store.schema import TournamentId

T = TypeVar("T")


class KeptByTournament(Generic[T]):
    """Shows tournaments to however many callers, at the cost of what has happened in them.

    Callers of one tournament wait for each other, on the event loop: who comes later finds what
    the first has had counted.

    Args:
        most: Tournaments that are kept; the one that was asked for longest ago goes first.
    """

    def __init__(self, storage: Storage, most: int) -> None:
        self._storage = storage
        self._most = most
        self._kept: OrderedDict[TournamentId, T] = OrderedDict()
        self._turns: WeakValueDictionary[TournamentId, asyncio.Lock] = WeakValueDictionary()

    def kept(self, tournament_id: TournamentId) -> T | None:
        """What the last look has found, if it is kept; nothing is read."""
        return self._kept.get(tournament_id)

    async def find(
        self, tournament_id: TournamentId, look: Callable[[Connection, TournamentId, T | None], T]
    ) -> T:
        """What a look finds, which goes on from what was kept of the one before, if anything was."""
        # Of a caller who does not wait for it, what was counted is kept all the same.
        return await asyncio.shield(asyncio.ensure_future(self._find(tournament_id, look)))

    async def _find(
        self, tournament_id: TournamentId, look: Callable[[Connection, TournamentId, T | None], T]
    ) -> T:
        turn = self._turns.setdefault(tournament_id, asyncio.Lock())
        async with turn:
            before = self._kept.get(tournament_id)
            found = await self._storage.read(look, tournament_id, before)
            self._kept[tournament_id] = found
            self._kept.move_to_end(tournament_id)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
