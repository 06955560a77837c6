"""Takes tournaments up and games back, in the store and in the arena alike."""

import asyncio
from functools import partial

from sqlalchemy import Connection

from meijin.game import Party
from meijin.server.errors import WrongStateError
from meijin.server.match.arena import Arena
from meijin.server.match.feed import Feed
from meijin.server.storage import Storage, retry_while_unavailable
from meijin.server.tournaments.refresh_jobs import HintSender
from meijin.server.tournaments.run import TournamentRun, load_run
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.games import get_game
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.store.tournaments import get_tournament


class TournamentControl:
    """Keeps what the scheduler plays and what the store says the same."""

    def __init__(
        self, arena: Arena, scheduler: Scheduler, storage: Storage, hints: HintSender, feed: Feed
    ) -> None:
        self.changing = asyncio.Lock()
        """Held while a tournament is taken up or stopped, or a game is taken back."""
        self._arena = arena
        self._scheduler = scheduler
        self._storage = storage
        self._hints = hints
        self._feed = feed

    async def play(self, tournament_id: TournamentId) -> None:
        """Have the scheduler play a running tournament, unless it does already."""
        async with self.changing:
            if tournament_id not in self._scheduler.runs:
                await self._scheduler.settled()
                self._add(await self._load(tournament_id))

    async def void(self, game_id: GameId, reason: str) -> None:
        """Take a game back, which the store has or the arena plays.

        Raises:
            WrongStateError: it is void already.
            StoreAwayError: the database does not answer; nothing was changed.
        """
        async with self.changing:
            game = self._arena.games.get(game_id)
            if game is None:
                await self._scheduler.settled()
                await self._void_finished(game_id, reason)
            else:
                self._arena.void(game, Party.OPERATOR, reason)
                await self._scheduler.settled()

    async def _void_finished(self, game_id: GameId, reason: str) -> None:
        row = await self._storage.read(lambda connection: get_game(connection, game_id))
        assert row is not None
        if row.state is not GameState.FINISHED:
            raise WrongStateError(f"game {game_id} is {row.state.value}")
        suspended = self._scheduler.suspend(row.tournament_id)
        self._arena.void_finished(game_id, reason)
        run = await self._reload(row.tournament_id, suspended)
        if suspended is not None:
            self._arena.hand_over(suspended, run)
        self._add(run)
        self._feed.tournament_changed(run.id)
        if run.ladder_id is not None:
            self._hints.ladder_changed(run.ladder_id)

    async def _reload(
        self, tournament_id: TournamentId, suspended: TournamentRun | None
    ) -> TournamentRun:
        """A tournament as it is in the store once everything that has happened is there.

        Games of a suspended one go on meanwhile: when one has ended it is loaded once more.
        """
        while True:
            running = suspended.running if suspended else 0
            await self._scheduler.settled()
            run = await retry_while_unavailable(partial(self._load, tournament_id))
            if suspended is None or suspended.running == running:
                return run

    async def _load(self, tournament_id: TournamentId) -> TournamentRun:
        def load(connection: Connection) -> TournamentRun:
            row = get_tournament(connection, tournament_id)
            assert row is not None
            return load_run(connection, row, self._storage)

        return await self._storage.read(load)

    def _add(self, run: TournamentRun) -> None:
        if run.is_playing:
            self._scheduler.add(run)
