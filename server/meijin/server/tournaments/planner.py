"""Keeps tournaments without a schedule in games."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import structlog

from meijin.server.errors import StoreAwayError
from meijin.server.match.feed import Feed
from meijin.server.storage import FIRST_RETRY, Storage, retry_while_unavailable
from meijin.server.tournaments.formats.base import GamePair, Supply
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.tournaments import PendingPairing, PlannedGame, add_pairings

TICK = 2.0
"""Seconds after which supplies are asked anew: a ladder may have a run that decides."""
log = structlog.get_logger()


class Planner:
    """Has games planned, stores them, and hands them to the scheduler."""

    def __init__(self, scheduler: Scheduler, storage: Storage, feed: Feed) -> None:
        self._scheduler = scheduler
        self._storage = storage
        self._feed = feed

    async def run(self) -> None:
        """Look after every tournament whenever the scheduler has, or after a while, for ever."""
        due = self._scheduler.supply_due
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await due.wait()
            due.clear()
            for run in list(self._scheduler.runs.values()):
                if run.supply is not None:
                    await self._provide(run, run.supply)

    async def _provide(self, run: TournamentRun, supply: Supply) -> None:
        pairs = await self._next_pairs(run, supply)
        if run.cancelled:
            return
        if run.has_ended:
            await self._finish(run)
        elif pairs:
            first = run.last_number + 1
            games = [
                game for place, pair in enumerate(pairs) for game in pair.games(first + 2 * place)
            ]
            pairings = await self._store(run, games)
            run.last_number = pairings[-1].number
            self._scheduler.plan(run, pairings)

    async def _next_pairs(self, run: TournamentRun, supply: Supply) -> Sequence[GamePair]:
        """What a supply plans; nothing for a while where it fails, and then it is asked again."""
        try:
            return await supply.next_pairs(self._scheduler.demand(run))
        except StoreAwayError:  # told by the storage
            await asyncio.sleep(FIRST_RETRY.total_seconds())
        except Exception:  # one tournament's trouble must not end all the others
            log.exception("can't plan games", tournament=run.id)
            await asyncio.sleep(FIRST_RETRY.total_seconds())
        return ()

    async def _store(
        self, run: TournamentRun, games: Sequence[PlannedGame]
    ) -> Sequence[PendingPairing]:
        """Store games, however long it takes."""
        work = partial(add_pairings, tournament_id=run.id, first=run.last_number + 1, games=games)
        return await retry_while_unavailable(partial(self._storage.write, work))

    async def _finish(self, run: TournamentRun) -> None:
        """Leave a tournament whose supply needs no more games, though none has just ended."""
        if run.is_finished:
            return
        self._scheduler.finish(run)
        self._scheduler.leave(run)
        await self._scheduler.settled()
        self._feed.tournament_changed(run.id)
