"""Reports of tournaments: kept, and made anew only when a game has ended."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from meijin.server.storage import Storage
from meijin.server.views.tallies import Tally
from meijin.server.views.tournaments import (
    TournamentDetail,
    TournamentSummary,
    summary_of,
    tournament_detail,
    with_detail,
)
from meijin.store.schema import TournamentId
from meijin.store.tournaments import TournamentRow, get_tournament

MOST_KEPT = 16
"""Tournaments whose reports are kept; the one that was asked for longest ago goes first."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    """What is kept of a tournament, as of its last results."""

    tally: Tally
    summary: TournamentSummary
    report: T


class TournamentReports(Generic[T]):
    """Shows tournaments to however many callers, at the cost of what has happened in them.

    Callers of one tournament wait for each other, on the event loop: who comes later finds what
    the first has had made.

    Args:
        render: Makes of a tournament what is kept, in a thread.
    """

    def __init__(self, storage: Storage, render: Callable[[TournamentDetail], T]) -> None:
        self._storage = storage
        self._render = render
        self._kept: OrderedDict[TournamentId, _Kept[T]] = OrderedDict()
        self._turns: WeakValueDictionary[TournamentId, asyncio.Lock] = WeakValueDictionary()

    async def find(self, tournament_id: TournamentId) -> tuple[TournamentSummary, T]:
        """A tournament as it stands, and its report, which nobody may change.

        Raises:
            NotFoundError: there is none of that id.
        """
        # Of a caller who does not wait for it, what was counted is kept all the same.
        kept = await asyncio.shield(asyncio.ensure_future(self._find(tournament_id)))
        return kept.summary, kept.report

    async def _find(self, tournament_id: TournamentId) -> _Kept[T]:
        turn = self._turns.setdefault(tournament_id, asyncio.Lock())
        async with turn:
            known = self._kept.get(tournament_id)
            kept = await self._storage.read(self._look, kept=known, tournament_id=tournament_id)
            self._kept[tournament_id] = kept
            self._kept.move_to_end(tournament_id)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept

    def _look(
        self, connection: Connection, *, tournament_id: TournamentId, kept: _Kept[T] | None
    ) -> _Kept[T]:
        row = get_tournament(connection, tournament_id)
        before = Tally() if kept is None else kept.tally
        tally = before.at(connection, row)
        if kept is not None and tally.last_end == before.last_end and _is_same(kept, row):
            summary = with_detail(connection, row, kept.summary.detail)
            return _Kept(tally, summary, kept.report)
        summary = summary_of(connection, row)
        return _Kept(tally, summary, self._render(tournament_detail(connection, summary, tally)))


def _is_same(kept: _Kept[T], row: TournamentRow) -> bool:
    """Whether nothing that a report shows has changed but how many games run."""
    return replace(kept.summary.row, running=row.running) == row
