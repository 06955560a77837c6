"""A scheduler whose games are only noted, with bots that come and go."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from tests.server.rows import live_game, tournament_row

from meijin.game import Color, Ending, Outcome, Party, TimeControl
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import Player
from meijin.server.tournaments.formats.schedule import PlayedOut, RoundRobin
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.pending import PendingPairings
from meijin.server.tournaments.run import TournamentRun
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.schema import BotId, BotVersionId, GameId, PairingId
from meijin.store.tournaments import PendingPairing, TournamentEnd
from meijin.wire.capabilities import Capabilities

BLITZ = TimeControl.parse("60")
NAMES = {BotId(1): "ada", BotId(2): "bob", BotId(3): "cleo"}


class FakeSession(SimpleNamespace):
    """The open stream of a bot."""

    @property
    def room(self) -> int:
        return int(self.capabilities.max_games - len(self.games) - self.unready)


class FakeGames:
    """Notes what the scheduler starts and voids, and tells it of starts and ends."""

    scheduler: Scheduler

    def __init__(self, players: dict[BotId, Player]) -> None:
        self.running: dict[GameId, LiveGame] = {}
        self.is_committing = True
        self._players = players
        self._uncommitted: list[LiveGame] = []
        self._numbers = itertools.count(1)

    def start(
        self, run: TournamentRun, pairing: PendingPairing, first: Player, second: Player
    ) -> None:
        number = next(self._numbers)
        game = live_game(
            number,
            run=run,
            pairing=pairing,
            first=first,
            second=second,
            first_version=BotVersionId(first.bot_id),
            second_version=BotVersionId(second.bot_id),
        )
        self.running[game.id] = game
        first.games[number] = second.games[number] = game
        run.games[number] = game
        self._uncommitted.append(game)
        if self.is_committing:
            self.commit_starts()

    def commit_starts(self) -> None:
        for game in self._uncommitted:
            self.scheduler.game_started(game)
        self._uncommitted.clear()

    def void_all(self, games: Iterable[LiveGame], party: Party, detail: str) -> None:
        for game in list(games):
            self.void(game, party, detail)

    stop_all = void_all

    def void(self, game: LiveGame, party: Party, detail: str) -> None:
        game.arbiter.void(party, detail)
        self.end(game)

    def end(self, game: LiveGame, outcome: Outcome | None = None) -> None:
        """End a game, as void if it is not said how, and tell the scheduler."""
        self.stop(game, outcome)
        self.commit(game)

    def stop(self, game: LiveGame, outcome: Outcome | None = None) -> None:
        arbiter = game.arbiter
        arbiter.outcome = arbiter.outcome or outcome
        assert arbiter.outcome is not None
        del game.run.games[game.number]
        for participant in (game.first, game.second):
            del self._players[participant.bot_id].games[game.number]
        del self.running[game.id]
        self.scheduler.game_over(game)

    def commit(self, game: LiveGame) -> None:
        self.scheduler.game_ended(game)


class Hall:
    """A scheduler, its games, and bots that come and go."""

    def __init__(self, most_faults: int = 0) -> None:
        self.players: dict[BotId, Player] = {}
        self.lobby = SimpleNamespace(players=self.players, is_draining=False)
        self.games = FakeGames(self.players)
        self.ends: list[TournamentEnd] = []
        """How tournaments end, by the journal."""
        journal = SimpleNamespace(
            add_incident=lambda _incident: None, add_tournament_end=self.ends.append
        )
        parts: tuple[Any, Any, Any] = (self.lobby, self.games, journal)
        self.scheduler = Scheduler(*parts, Pauses(most_faults))
        self.games.scheduler = self.scheduler
        self._sessions = itertools.count(1)

    def join(self, bot: int, capabilities: Capabilities | None = None, name: str = "") -> None:
        name = name or NAMES.get(BotId(bot), f"bot-{bot}")
        player = self.players.setdefault(BotId(bot), Player(BotId(bot), name))
        session = FakeSession(
            id=f"session-{next(self._sessions)}",
            capabilities=capabilities or Capabilities(),
            games=player.games,
            unready=0,
            version_id=bot,
            may_be_rated=True,
            announce_pause=lambda _reason, _duration: None,
        )
        player.session = cast("Session", session)
        self.scheduler.player_joined(player)

    def leave(self, bot: int) -> None:
        self.players[BotId(bot)].session = None

    def plan(
        self,
        *pairs: tuple[int, int],
        first: int = 1,
        form: type[PlayedOut] = RoundRobin,
        games: int | None = None,
        **more: Any,
    ) -> TournamentRun:
        """Play a tournament of these games of black and white, with other settings as told."""
        pairings = [
            PendingPairing(PairingId(10 * first + n), n, BotId(black), BotId(white), b"")
            for n, (black, white) in enumerate(pairs, start=1)
        ]
        run = TournamentRun(
            row=tournament_row(first, **more),
            format=form(len(pairs) if games is None else games),
            pending=PendingPairings(pairings),
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
