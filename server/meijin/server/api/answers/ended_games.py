"""The games of a tournament that ended before somebody watches it, told page by page."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Concatenate, ParamSpec

from sqlalchemy import Connection

from meijin.server.api.answers.games import stored_game
from meijin.server.storage import Storage
from meijin.store.games import GameRow, games_by_id, games_of_tournament
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.v1 import tournament_service_pb2 as pb

P = ParamSpec("P")

PAGE = 200
"""Games that are read, and made messages, at once: all that a slow watcher holds of them."""

Messages = Sequence[tuple[GameId, pb.WatchTournamentResponse | None]]
"""Games in their order, with the message of each that has ended."""


class EndedGames:
    """Reads the ended games of a tournament, once each, and knows which the feed tells again.

    Games are read in the order of their starts. Of those that were being played when their page
    was read the ids are kept, so that what is remembered grows with the games played at once and
    not with the tournament.
    """

    def __init__(self, storage: Storage, tournament_id: TournamentId) -> None:
        self._storage = storage
        self._tournament_id = tournament_id
        self._last = GameId(0)
        self._running: list[GameId] = []
        self._told: set[GameId] = set()

    async def until_now(self) -> AsyncIterator[pb.WatchTournamentResponse]:
        """All that have ended, until none more is there.

        The feed is to be subscribed to afterwards, once it has told of everything that is stored.
        """
        async for messages in self._pages():
            for game_id, message in messages:
                if message is None:
                    self._running.append(game_id)
                else:
                    yield message

    async def since(self) -> AsyncIterator[pb.WatchTournamentResponse]:
        """What has ended since, or between the two: the feed has been subscribed to."""
        while self._running:
            part, self._running = self._running[:PAGE], self._running[PAGE:]
            for game_id, message in await self._read(games_by_id, part):
                if message is not None:
                    self._told.add(game_id)
                    yield message
        async for messages in self._pages():
            for game_id, message in messages:
                if message is not None:
                    self._told.add(game_id)
                    yield message

    def is_new(self, game_id: GameId) -> bool:
        """Whether the end of a game, which the feed tells, is none that was told here."""
        if game_id in self._told:
            self._told.remove(game_id)
            return False
        return True

    async def _pages(self) -> AsyncIterator[Messages]:
        while True:
            messages = await self._read(
                games_of_tournament, self._tournament_id, after=self._last, limit=PAGE
            )
            if messages:
                self._last = messages[-1][0]
                yield messages
            if len(messages) < PAGE:
                return

    async def _read(
        self,
        read: Callable[Concatenate[Connection, P], Sequence[GameRow]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Messages:
        """Read games, and make their messages in the same thread, not on the event loop."""
        return await self._storage.read(lambda at: list(map(_message, read(at, *args, **kwargs))))


def _message(row: GameRow) -> tuple[GameId, pb.WatchTournamentResponse | None]:
    if row.state is GameState.RUNNING:
        return row.id, None
    return row.id, pb.WatchTournamentResponse(game_ended=stored_game(row))
