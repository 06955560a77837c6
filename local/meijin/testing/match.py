"""A match between two bots on a server in the test, as any client has one played."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import grpc

from meijin.bots.sdk.runner import BotThread
from meijin.game import Color, GameRecord, Outcome
from meijin.local.connection import (
    Connection,
    get_tournament,
    list_bots,
    make_tournament,
    set_state,
)
from meijin.local.match_play import finished_games
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.records import record_from_proto
from meijin.wire.values import time_control_from_proto, variant_from_proto

POLL_INTERVAL = timedelta(milliseconds=10)
"""Between two looks at the server, and whether all bots are still there."""


class MatchError(Exception):
    """A match has no result; the message says why."""


class BotStoppedError(MatchError):
    """A bot has ended, with an exception of its own or refused by the server: see its cause."""


class MatchTimeoutError(MatchError):
    """A bot has not connected in time, or games go on; the message names them."""


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


@dataclass(frozen=True, slots=True)
class Match:
    """Games between two bots, with alternating colours."""

    connection: Connection
    bots: Sequence[BotThread]
    wanted: pb.TournamentSettings
    timeout: timedelta

    def play(self) -> list[PlayedGame]:
        """Play them, and return them in order; those of a match that fails become void."""
        variant = variant_from_proto(self.wanted.variant)
        control = time_control_from_proto(self.wanted.time_control)
        for bot in self.bots:
            if objection := bot.capabilities.objection(variant, control):
                raise MatchError(f'"{bot.name}" can\'t play this match: {objection}')
        deadline = time.monotonic() + self.timeout.total_seconds()
        self._wait(lambda: not self._away(), deadline)
        try:
            key = make_tournament(self.connection, self.wanted).tournament_id
        except grpc.RpcError as error:
            raise MatchError(error.details() if isinstance(error, grpc.Call) else error) from error

        def has_ended() -> bool:
            found = get_tournament(self.connection, key).tournament
            return found.state == pb.TOURNAMENT_STATE_FINISHED

        try:
            self._wait(has_ended, deadline)
        except MatchError:
            with suppress(grpc.RpcError):  # it has finished meanwhile
                set_state(self.connection, key, pb.TOURNAMENT_STATE_CANCELLED)
            raise
        records = map(record_from_proto, finished_games(self.connection, key))
        return [PlayedGame(one, one.outcome) for one in records if one.outcome is not None]

    def _wait(self, is_done: Callable[[], bool], deadline: float) -> None:
        """Wait for something as long as the bots are there."""
        while not is_done():
            for bot in self.bots:
                if bot.error is not None:
                    said = f'bot "{bot.name}" has stopped: {bot.error!r}'
                    raise BotStoppedError(said) from bot.error
            if time.monotonic() > deadline:
                raise MatchTimeoutError(self._delay())
            time.sleep(POLL_INTERVAL.total_seconds())

    def _away(self) -> list[str]:
        connected = {bot.name for bot in list_bots(self.connection, connected=True)}
        return [bot.name for bot in self.bots if bot.name not in connected]

    def _delay(self) -> str:
        limit = f"{self.timeout.total_seconds():g} s"
        if away := self._away():
            return f"after {limit}, not connected: {', '.join(away)}"
        request = game_service_pb2.ListGamesRequest(state=game_pb2.GAME_STATE_RUNNING)
        games = self.connection.ask(self.connection.games.ListGames, request).games
        running = [
            f'"{each.black}" (black) against "{each.white}" at ply {each.ply}' for each in games
        ]
        return f"after {limit}, games go on: {'; '.join(running) or 'none began'}"
