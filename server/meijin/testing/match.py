"""A match between two bots on a server in the test, seen from the server's event loop."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import grpc

from meijin.bots.sdk.bot_thread import BotThread
from meijin.game import Color, GameRecord, Outcome, TimeControl, Variant
from meijin.server.views.games import game_detail, record
from meijin.store.games import list_games
from meijin.store.schema import GameState, TournamentId
from meijin.testing.errors import BotStoppedError, MatchError, MatchTimeoutError
from meijin.testing.server import ServerInTest

POLL_INTERVAL = timedelta(milliseconds=10)
"""Between two looks whether all bots are still there."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that has ended."""

    record: GameRecord
    outcome: Outcome
    """How it ended; ``outcome.detail`` is the evidence of a forfeit."""

    @property
    def winner(self) -> str | None:
        """The name of the bot that won, if one did."""
        return self._name(self.outcome.winner)

    @property
    def at_fault(self) -> str | None:
        """The name of the bot that forfeited, if one did."""
        return self._name(self.outcome.at_fault.color)

    def _name(self, color: Color | None) -> str | None:
        if color is None:
            return None
        return self.record.black if color is Color.BLACK else self.record.white


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Games between two bots, with alternating colours."""

    server: ServerInTest
    bots: Sequence[BotThread]
    variant: Variant
    control: TimeControl
    games: int
    seed: int
    timeout: timedelta

    async def play(self) -> list[PlayedGame]:
        """Play them, and return them in order; those of a match that fails become void."""
        self._check_capabilities()
        deadline = asyncio.get_running_loop().time() + self.timeout.total_seconds()
        await self._wait(self.server.until(lambda: not self._away(), time_limit=None), deadline)
        tournament_id = await self._create()
        try:
            await self._wait(self.server.until_finished(tournament_id, time_limit=None), deadline)
        except MatchError:
            with suppress(grpc.aio.AioRpcError):  # it has finished meanwhile
                await self.server.cancel(tournament_id)
            raise
        return await self._played(TournamentId(int(tournament_id)))

    async def _wait(self, event: Coroutine[Any, Any, None], deadline: float) -> None:
        """Wait for something as long as the bots are there, up to an instant of the event loop."""
        waiting = asyncio.create_task(event)
        try:
            while not waiting.done():
                self._check_bots()
                if asyncio.get_running_loop().time() > deadline:
                    raise MatchTimeoutError(self._delay())
                await asyncio.wait((waiting,), timeout=POLL_INTERVAL.total_seconds())
            waiting.result()
        finally:
            waiting.cancel()

    async def _create(self) -> str:
        """Make the tournament and return its id."""
        try:
            return await self.server.tournament(
                *(bot.name for bot in self.bots),
                rounds=self.games,
                variant=self.variant,
                control=str(self.control),
                seed=self.seed,
                unrated=True,
            )
        except grpc.aio.AioRpcError as error:
            raise MatchError(error.details()) from error

    async def _played(self, tournament_id: TournamentId) -> list[PlayedGame]:
        """The games with a result, in the order in which they began."""
        rows = await self.server.parts.storage.read(
            partial(
                list_games,
                limit=self.games,
                tournament_id=tournament_id,
                state=GameState.FINISHED,
            )
        )
        records = [record(game_detail(row, live=None)) for row in reversed(rows)]
        return [PlayedGame(one, one.outcome) for one in records if one.outcome is not None]

    def _check_capabilities(self) -> None:
        for bot in self.bots:
            if objection := bot.capabilities.objection(self.variant, self.control):
                raise MatchError(f'"{bot.name}" can\'t play this match: {objection}')

    def _check_bots(self) -> None:
        for bot in self.bots:
            if bot.error is not None:
                raise BotStoppedError(f'bot "{bot.name}" has stopped: {bot.error!r}') from bot.error

    def _away(self) -> list[str]:
        """The names of the bots that have no stream."""
        players = self.server.parts.lobby.players.values()
        connected = {player.name for player in players if player.session}
        return [bot.name for bot in self.bots if bot.name not in connected]

    def _delay(self) -> str:
        """What the match waits for."""
        limit = f"{self.timeout.total_seconds():g} s"
        if away := self._away():
            return f"after {limit}, not connected: {', '.join(away)}"
        running = [
            f'"{game.black.name}" (black) against "{game.white.name}" at ply '
            f"{len(game.committed_moves)}"
            for game in self.server.running
        ]
        return f"after {limit}, games go on: {'; '.join(running) or 'none began'}"
