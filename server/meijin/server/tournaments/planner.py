"""The planner: has formats plan games where there is capacity for them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import structlog

from meijin.game import TIME_CLASSES, TimeClasses
from meijin.server.errors import StoreAwayError
from meijin.server.match.feed import Feed
from meijin.server.storage import FIRST_RETRY, Storage
from meijin.server.tournaments.formats.base import GamePair
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.tournaments import PendingPairing, PlannedGame, add_pairings

REPLAN_INTERVAL = timedelta(seconds=2)
"""After it formats are asked anew: a ladder may have a run that decides."""

log = structlog.get_logger()


class Planner:
    """Has games planned, stores them, and hands them to the scheduler."""

    def __init__(
        self,
        scheduler: Scheduler,
        storage: Storage,
        feed: Feed,
        time_classes: TimeClasses = TIME_CLASSES,
    ) -> None:
        self._scheduler = scheduler
        self._storage = storage
        self._feed = feed
        self._time_classes = time_classes

    async def run(self) -> None:
        """Look after every tournament whenever the scheduler has, or after a while."""
        due = self._scheduler.planning_due
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(REPLAN_INTERVAL.total_seconds()):
                    await due.wait()
            due.clear()
            for run in list(self._scheduler.runs.values()):
                await self._plan(run)

    async def _plan(self, run: TournamentRun) -> None:
        pairs = () if run.format.IS_SCHEDULED else await self._next_pairs(run)
        if not run.is_playing:
            return
        if run.format.is_decided:
            await self._finish(run)
        elif pairs:
            first = run.last_number + 1
            games = [
                game for place, pair in enumerate(pairs) for game in pair.games(first + 2 * place)
            ]
            pairings = await self._store(run, games)
            if pairings:
                run.last_number = pairings[-1].number
                self._scheduler.plan(run, pairings)

    async def _next_pairs(self, run: TournamentRun) -> Sequence[GamePair]:
        """What a format plans; nothing for a while where it fails, and then it is asked again."""
        try:
            capacity = await self._scheduler.capacity(run)
            return await run.format.next_pairs(capacity, self._storage)
        except StoreAwayError:  # told by the storage
            await asyncio.sleep(FIRST_RETRY.total_seconds())
        except Exception:  # one tournament's trouble must not end all the others
            log.exception("can't plan games", tournament=run.id)
            await asyncio.sleep(FIRST_RETRY.total_seconds())
        return ()

    async def _store(
        self, run: TournamentRun, games: Sequence[PlannedGame]
    ) -> Sequence[PendingPairing]:
        """Store games, however long it takes; none once the tournament was stopped meanwhile.

        Whoever takes a stopped one up again reads what is stored, and must find all of it.
        """
        while run.is_playing:
            try:
                return await self._storage.write(
                    add_pairings,
                    tournament_id=run.id,
                    first=run.last_number + 1,
                    games=games,
                    time_classes=self._time_classes,
                )
            except StoreAwayError:  # told by the storage
                await asyncio.sleep(FIRST_RETRY.total_seconds())
        return ()

    async def _finish(self, run: TournamentRun) -> None:
        """Leave a tournament that is decided, though no game of it has just ended."""
        self._scheduler.finish(run)
        self._scheduler.leave(run)
        await self._scheduler.settled()
        self._feed.tournament_changed(run.id)
