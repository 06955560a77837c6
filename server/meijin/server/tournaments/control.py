"""Control of tournaments: takes them up, stops them and voids games, in the store and in memory."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.game import Party
from meijin.server.errors import WrongStateError
from meijin.server.match.feed import Feed
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.storage import Storage, retry_while_unavailable
from meijin.server.tournaments.creation import check_load
from meijin.server.tournaments.formats.challenge import CHALLENGE
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.run import TournamentRun, load_pending, load_run
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.access.audit import Act, Actor, add_act
from meijin.store.games import get_game
from meijin.store.schema import GameId, GameState, TournamentId, TournamentState
from meijin.store.tournaments import get_state, get_tournament, set_state
from meijin.store.voids import GameVoid

_ACTIONS = {TournamentState.CANCELLED: "cancel", TournamentState.RUNNING: "resume"}
"""What the audit log calls the change to a state."""


class TournamentControl:
    """Keeps what the scheduler plays and what the store says the same."""

    def __init__(
        self,
        games: Games,
        journal: Journal,
        scheduler: Scheduler,
        storage: Storage,
        *,
        refreshes: RefreshSender,
        feed: Feed,
    ) -> None:
        self.changing = asyncio.Lock()
        """Held while a tournament is taken up or stopped, or a game is voided."""
        self._games = games
        self._journal = journal
        self._scheduler = scheduler
        self._storage = storage
        self._refreshes = refreshes
        self._feed = feed

    async def play(self, tournament_id: TournamentId, place_of: TournamentId | None = None) -> None:
        """Have the scheduler play a running tournament, unless it does already.

        Args:
            place_of: Another, before which it comes.
        """
        async with self.changing:
            if tournament_id not in self._scheduler.runs:
                await self._scheduler.settled()
                self._scheduler.add(await self._load(tournament_id), place_of)

    async def cancel(self, tournament_id: TournamentId, actor: Actor) -> None:
        """Stop a tournament; its running games become void.

        Raises:
            WrongStateError: it is not running.
        """
        async with self.changing:
            is_done = tournament_id not in self._scheduler.runs
            state = TournamentState.CANCELLED
            await self._storage.write(_change_state, tournament_id, state, actor, is_done=is_done)
            await self.follow(tournament_id, self._scheduler.cancel)

    async def follow(
        self, tournament_id: TournamentId, stop: Callable[[TournamentRun], None]
    ) -> None:
        """Play a tournament no more that the store has as cancelled; `changing` is held."""
        run = self._scheduler.runs.get(tournament_id)
        if run is not None:
            stop(run)
            await self._scheduler.settled()
        self._feed.tournament_changed(tournament_id)

    async def resume(self, tournament_id: TournamentId, actor: Actor) -> None:
        """Take a cancelled tournament up again.

        Raises:
            WrongStateError: it is not cancelled, or a challenge.
            BusyError: there is too much to be played already.
        """
        async with self.changing:
            is_done = tournament_id in self._scheduler.runs
            state = TournamentState.RUNNING
            await self._storage.write(_change_state, tournament_id, state, actor, is_done=is_done)
        await self.play(tournament_id)

    async def void(self, game_id: GameId, reason: str, act: Act) -> None:
        """Void a game, which is running or in the store; the act is stored with the void.

        Raises:
            WrongStateError: it is void already.
            StoreAwayError: the database does not answer; nothing was changed.
        """
        async with self.changing:
            game = self._games.running.get(game_id)
            if game is None:
                await self._scheduler.settled()
                await self._void_finished(game_id, reason, act)
            else:
                self._games.void(game, Party.OPERATOR, reason)
                self._journal.add_act(replace(act, before={"state": "running"}))
                await self._scheduler.settled()

    async def _void_finished(self, game_id: GameId, reason: str, act: Act) -> None:
        row = await self._storage.read(lambda connection: get_game(connection, game_id))
        if row.state is not GameState.FINISHED:
            raise WrongStateError(f"game {game_id} is {row.state.value}")
        suspended = self._scheduler.suspend(row.tournament_id)
        ending = "" if row.ending is None else row.ending.value
        before = {"state": row.state.value, "result": row.result.value, "ending": ending}
        self._journal.add_void(GameVoid(game_id, reason, datetime.now(UTC)))
        self._journal.add_act(replace(act, before=before))
        run = await self._reload(row.tournament_id, suspended)
        if suspended is not None:
            self._games.hand_over(suspended, run)
        self._scheduler.add(run)  # which stops it where a cancellation was stored unheard
        self._feed.tournament_changed(run.id)
        if row.ladder_id is not None:
            self._refreshes.send(row.ladder_id)

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
        run = await self._storage.read(load_run, tournament_id)
        while await self._storage.read(load_pending, run):
            pass
        return run


def _change_state(
    connection: Connection,
    tournament_id: TournamentId,
    after: TournamentState,
    actor: Actor,
    *,
    is_done: bool,
) -> None:
    """Change the state alone: games wait for the writer, which should count none here.

    Args:
        is_done: The scheduler has followed. Where it has not, the state may be the new one
            already, by a call whose answer was lost.
    """
    before = get_state(connection, tournament_id)
    if before is after and not is_done:
        return
    if before is after or before not in _ACTIONS:
        raise WrongStateError(f"tournament {tournament_id} is {before.value}")
    if after is TournamentState.RUNNING:
        row = get_tournament(connection, tournament_id)
        if row.format == CHALLENGE:
            raise WrongStateError(f"challenge {tournament_id} was taken back; make another")
        check_load(connection, row.planned - row.finished)
    set_state(connection, tournament_id, after)
    add_act(
        connection,
        Act(
            actor,
            _ACTIONS[after],
            f"tournament {tournament_id}",
            datetime.now(UTC),
            before={"state": before.value},
            after={"state": after.value},
        ),
    )
