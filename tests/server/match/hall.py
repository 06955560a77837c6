"""Bots in games of one another on a fake clock, over the real lobby, games and actions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from tests.server.rows import tournament_row

from meijin.game import TimeControl, Variant
from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.match.actions import ActionHandler
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import Actions, Play
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listener, Listeners, MassDisconnect
from meijin.server.match.live.live_game import Contest, LiveGame
from meijin.server.match.live.session import Session
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.presence.silence import SilenceWatch
from meijin.server.match.presence.watchdog import TICKS_PER_EXPIRY
from meijin.server.match.stalls import TICK_INTERVAL_NS, StallWatch
from meijin.store.schema import BotId, BotVersionId, GameId, PairingId
from meijin.store.tournaments import PendingPairing
from meijin.wire.capabilities import Capabilities

SECOND = NS_PER_SECOND
MS = SECOND // 1000
KEEPALIVE = timedelta(seconds=10)
GRACE = timedelta(seconds=30)
PROMPT_NS = 20 * MS
"""How long a bot usually takes to answer a ping."""


@dataclass
class Bot:
    """A bot whose way to the server may be cut."""

    session: Session
    pong_after_ns: int = PROMPT_NS
    is_cut: bool = False
    arrival: AbstractContextManager[None] = field(default_factory=nullcontext)
    """Its wait at the door."""


class Hall(Listener):
    """Bots in games of one another, and the time; the pings of those that are not cut are answered.

    What a bot that is cut is sent is lost, as far as it concerns this test: nothing comes back.
    Bots are known by their places.
    """

    def __init__(
        self,
        bots: int,
        control: str = "1/move",
        *,
        deadlines: type[Deadlines] = Deadlines,
        capabilities: Capabilities = Capabilities(),  # noqa: B008 - never changed
    ) -> None:
        self._capabilities = capabilities
        self.now_ns = self._ticks = self.pings = 0
        self.told: list[MassDisconnect] = []
        self.stalls = stalls = StallWatch(lambda: self.now_ns)
        self.store_watch, self.deadlines = StoreWatch(stalls), deadlines()
        listeners = Listeners()
        listeners.add(self)
        self.lobby = Lobby(
            stalls, listeners, deadlines=self.deadlines, grace=GRACE, max_notices=100
        )

        def add_moves(moves: Iterable[object]) -> None:
            list(moves)

        names = ("add_start", "add_end", "add_analysis")
        noted: dict[str, Any] = dict.fromkeys(names, lambda *_: None)
        journal = cast("Journal", SimpleNamespace(add_moves=add_moves, **noted))
        self.games = Games(
            self.lobby,
            journal,
            listeners,
            stalls,
            self.store_watch,
            deadlines=self.deadlines,
            grace=GRACE,
            margin=timedelta(0),
            last_game=GameId(0),
        )
        self.actions = ActionHandler(self.games, journal, stalls)
        self.silence = SilenceWatch(self.lobby, listeners, keepalive=KEEPALIVE, rng=Random(bots))
        self._due: list[tuple[int, Bot, int]] = []
        for number in range(1, bots + 1):
            self.lobby.players[BotId(number)] = Player(BotId(number), f"bot{number}")
        self.bots = [Bot(self.join(place)) for place in range(bots)]
        variant = Variant(width=5, height=5)
        row = tournament_row(variant=variant, time_control=TimeControl.parse(control))
        self._run = Contest(row)
        self.live: list[LiveGame] = []
        self.pass_time(SECOND)

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        self.told.append(loss)

    def join(self, place: int, resumed: str = "", **more: Any) -> Session:
        player, version = self.lobby.players[BotId(place + 1)], BotVersionId(place + 1)
        return self.lobby.join(player, version, self._capabilities, resumed, **more)

    def play(self, first: int, second: int) -> LiveGame:
        """Have two bots begin a game: the first is asked at once."""
        black, white = (self.lobby.players[BotId(place + 1)] for place in (first, second))
        number = len(self.live) + 1
        pairing = PendingPairing(PairingId(number), number, black.bot_id, white.bot_id, b"")
        game = self.games.start(self._run, pairing, black, white)
        game.announce_start()
        self.live.append(game)
        self._deliver()
        return game

    def move(self, bot: Bot, game: LiveGame) -> None:
        """The answer of a bot to its pending turn is read now."""
        ply = game.arbiter.board.ply
        self.say(bot, (game.number, ply, ply, None, 0))

    def say(self, bot: Bot, *plays: Play, **more: Any) -> bool:
        """Have a message judged; whether any of it had an effect."""
        said = Actions(plays=plays, resigns=[], failures=[], **more)
        return self.actions.judge(bot.session, said, self.actions.hear(bot.session, said))

    def hear(self, *bots: Bot) -> None:
        """The ways of bots carry again; what they have sent meanwhile comes now."""
        for bot in bots:
            bot.is_cut = False

    def cut(self, *bots: Bot) -> None:
        for bot in bots:
            bot.is_cut = True

    def pass_time(self, ns: int) -> None:
        """Let time pass, with the watchdog's looks in it."""
        end_ns = self.now_ns + ns
        while self.now_ns < end_ns:
            self.now_ns += TICK_INTERVAL_NS
            moment = self.stalls.tick()
            self._deliver()
            self._ticks += 1
            if self._ticks % TICKS_PER_EXPIRY == 0:
                is_flag_up = self.games.expire(moment)
                self.silence.look(moment, is_flag_up=is_flag_up)

    def _deliver(self) -> None:
        """Have the bots read what waits for them, and the server what they have answered."""
        for bot in self.bots:
            ping = bot.session.drain(self.stalls.moment()).ping
            if ping:
                self.pings += 1
                self._due.append((self.now_ns + bot.pong_after_ns, bot, ping))
        for entry in list(self._due):
            due_ns, bot, ping = entry
            if due_ns <= self.now_ns and not bot.is_cut:
                self._due.remove(entry)
                self.actions.receive_pong(bot.session, ping)

    def close(self, *bots: Bot) -> None:
        """Keepalive finds out that the ways of bots are cut."""
        for bot in bots:
            self.lobby.leave(bot.session)
