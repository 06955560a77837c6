"""A scheduler whose games are only noted, with bots that come and go."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from meijin.game import GOMOKU, Board, Clock, Color, Ending, Outcome, Party, TimeControl
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import Lobby, Player
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.pending import PendingPairings
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.faults import NewFault
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FormatName,
    GameId,
    PairingId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing, TournamentEnd
from meijin.wire import Capabilities

BLITZ = TimeControl.parse("60")
NAMES = {BotId(1): "ada", BotId(2): "bob", BotId(3): "cleo"}


class FakeSession(SimpleNamespace):
    """The open stream of a bot."""


@dataclass
class FakeLobby:
    """Who is there."""

    players: dict[BotId, Player] = field(default_factory=dict)
    is_draining: bool = False


@dataclass
class FakeGames:
    """Notes what the scheduler starts and voids."""

    lobby: FakeLobby
    running: dict[GameId, LiveGame] = field(default_factory=dict)
    listeners: list[Scheduler] = field(default_factory=list)
    is_committing: bool = True
    _uncommitted: list[LiveGame] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(
        self, run: TournamentRun, pairing: PendingPairing, first: Player, second: Player
    ) -> None:
        """Enter a game."""
        number = next(self._numbers)
        game = LiveGame(
            number=number,
            id=GameId(number),
            run=run,
            pairing=pairing,
            arbiter=Arbiter(Board(), Clock(run.time_control), grace_ns=0),
            first=first,
            second=second,
            first_version=BotVersionId(first.bot_id),
            second_version=BotVersionId(second.bot_id),
            start_time=datetime(2026, 3, 4, tzinfo=UTC),
            opening_plies=0,
        )
        self.running[game.id] = game
        first.games[number] = second.games[number] = game
        run.games[number] = game
        self._uncommitted.append(game)
        if self.is_committing:
            self.commit_starts()

    def commit_starts(self) -> None:
        """Have the starts of games committed."""
        for game in self._uncommitted:
            for listener in self.listeners:
                listener.game_started(game)
        self._uncommitted.clear()

    def void_all(self, games: Iterable[LiveGame], party: Party, detail: str) -> None:
        """Stop games, all at once."""
        for game in list(games):
            self.void(game, party, detail)

    stop_all = void_all

    def void(self, game: LiveGame, party: Party, detail: str) -> None:
        """Stop a game."""
        game.arbiter.void(party, detail)
        self.end(game)

    def end(self, game: LiveGame, outcome: Outcome | None = None) -> None:
        """End a game, as void if it is not said how, and tell the scheduler."""
        self.stop(game, outcome)
        self.commit(game)

    def stop(self, game: LiveGame, outcome: Outcome | None = None) -> None:
        """End a game whose end is not committed yet."""
        arbiter = game.arbiter
        arbiter.outcome = arbiter.outcome or outcome
        assert arbiter.outcome is not None
        del game.run.games[game.number]
        for participant in (game.first, game.second):
            del self.lobby.players[participant.bot_id].games[game.number]
        del self.running[game.id]
        for listener in self.listeners:
            listener.game_over(game)

    def commit(self, game: LiveGame) -> None:
        """Have the end of a game committed."""
        for listener in self.listeners:
            listener.game_ended(game)


@dataclass
class FakeJournal:
    """Notes how tournaments end."""

    ends: list[TournamentEnd] = field(default_factory=list)

    def add_incident(self, incident: NewFault) -> None:
        """Forget what went wrong."""

    def add_tournament_end(self, end: TournamentEnd) -> None:
        """Note it."""
        self.ends.append(end)


class Hall:
    """A scheduler, its games, and bots that come and go."""

    def __init__(self, most_faults: int = 0) -> None:
        self.lobby = FakeLobby()
        self.games = FakeGames(self.lobby)
        self.journal = FakeJournal()
        self.scheduler = Scheduler(
            cast("Lobby", self.lobby),
            cast("Games", self.games),
            cast("Journal", self.journal),
            Pauses(most_faults),
        )
        self.games.listeners.append(self.scheduler)
        self._sessions = itertools.count(1)

    def join(self, bot: int, capabilities: Capabilities | None = None) -> None:
        """A bot's stream is opened."""
        name = NAMES.get(BotId(bot), f"bot-{bot}")
        player = self.lobby.players.setdefault(BotId(bot), Player(BotId(bot), name))
        session = FakeSession(
            id=f"session-{next(self._sessions)}",
            capabilities=capabilities or Capabilities(),
            version_id=bot,
            may_be_rated=True,
            announce_pause=lambda _reason, _duration: None,
        )
        player.session = cast("Session", session)
        self.scheduler.player_joined(player)

    def leave(self, bot: int) -> None:
        """A bot's stream ends."""
        self.lobby.players[BotId(bot)].session = None

    def plan(self, *pairs: tuple[int, int], first: int = 1, **more: Any) -> TournamentRun:
        """Play a tournament of these games of black and white."""
        pairings = [
            PendingPairing(PairingId(10 * first + n), n, BotId(black), BotId(white), b"")
            for n, (black, white) in enumerate(pairs, start=1)
        ]
        run = TournamentRun(
            id=TournamentId(first),
            variant=GOMOKU,
            time_control=BLITZ,
            max_games=more.pop("max_games", 0),
            ladder_id=None,
            format_name=FormatName("round-robin"),
            format=more.pop("form", RoundRobin)(more.pop("games", len(pairs))),
            pending=PendingPairings(pairings),
            **more,
        )
        self.scheduler.add(run)
        return run

    async def playing(self) -> list[tuple[int, int]]:
        """The black and white of the games that run once the scheduler has looked, in order."""
        await asyncio.sleep(0)
        return [(game.black.bot_id, game.white.bot_id) for game in self.games.running.values()]

    def end(self, black: int, white: int, outcome: Outcome | None = None) -> LiveGame:
        """End the oldest running game of black and white."""
        game = next(
            game
            for game in self.games.running.values()
            if (game.black.bot_id, game.white.bot_id) == (black, white)
        )
        self.games.end(game, outcome or Outcome(Ending.FIVE, Color.BLACK))
        return game
