"""Bots in games of one another on a fake clock, over the real lobby, games and actions."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import cast

from meijin.game import TimeControl, Variant
from meijin.server.match.actions import ActionHandler
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, TICK_INTERVAL_NS, StallWatch
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import Actions, Play
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Listener, Listeners, MassDisconnect
from meijin.server.match.live.live_game import Contest, LiveGame
from meijin.server.match.live.session import Session
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby, Player
from meijin.server.match.silence import SilenceWatch
from meijin.server.match.watchdog import TICKS_PER_EXPIRY
from meijin.store.schema import BotId, BotVersionId, GameId, PairingId
from meijin.store.tournaments import PendingPairing
from meijin.wire import Capabilities

SECOND = NS_PER_SECOND
MS = SECOND // 1000
KEEPALIVE = timedelta(seconds=10)
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
    """

    def __init__(self, bots: int, control: str = "1/move", *, games: type[Games] = Games) -> None:
        self.now_ns = 0
        self.told: list[MassDisconnect] = []
        self.pings = 0
        self._ticks = 0
        self.stalls = StallWatch(lambda: self.now_ns)
        listeners = Listeners()
        listeners.add(self)
        self.store_watch = StoreWatch(self.stalls)
        self.deadlines = Deadlines()
        self.lobby = Lobby(
            self.stalls,
            listeners,
            deadlines=self.deadlines,
            grace=timedelta(seconds=30),
            max_notices=100,
        )
        journal = cast(
            "Journal",
            SimpleNamespace(
                **dict.fromkeys(("add_start", "add_end", "add_moves", "wake"), self._store),
            ),
        )
        self.games = games(
            self.lobby,
            journal,
            listeners,
            self.stalls,
            self.store_watch,
            deadlines=self.deadlines,
            grace=timedelta(seconds=30),
            margin=timedelta(0),
            last_game=GameId(0),
        )
        self.actions = ActionHandler(self.games, journal, self.stalls)
        self.silence = SilenceWatch(self.lobby, listeners, keepalive=KEEPALIVE, rng=Random(bots))
        self._due: list[tuple[int, Bot, int]] = []
        self.bots = [self._join(number) for number in range(1, bots + 1)]
        self._run = cast(
            "Contest",
            SimpleNamespace(
                id=1,
                variant=Variant(width=5, height=5),
                adjudication=None,
                control_of=lambda _: TimeControl.parse(control),
                ladder_id=None,
                games={},
            ),
        )
        self.live: list[LiveGame] = []
        self.pass_time(SECOND)

    def _store(self, what: object = ()) -> None:
        if not isinstance(what, LiveGame):
            list(cast("list[object]", what))

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        """Keep it."""
        self.told.append(loss)

    def _join(self, number: int) -> Bot:
        player = self.lobby.player(BotId(number), f"bot{number}")
        return Bot(self.lobby.join(player, self.version(number - 1), Capabilities()))

    def player(self, place: int) -> Player:
        """The player of a bot, by its place."""
        return self.lobby.players[BotId(place + 1)]

    @staticmethod
    def version(place: int) -> BotVersionId:
        """The version of a bot, by its place."""
        return BotVersionId(place + 1)

    def play(self, first: int, second: int) -> LiveGame:
        """Have two bots, by their places, begin a game: the first is asked at once."""
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
        play = (game.number, ply, game.arbiter.board.ply, None, 0)
        self.say(bot, play)

    def say(self, bot: Bot, *plays: Play) -> None:
        """A message of a bot is read now."""
        said = Actions(plays=plays, resigns=[], failures=[])
        self.actions.judge(bot.session, said, self.actions.hear(bot.session, said))

    def hear(self, *bots: Bot) -> None:
        """The ways of bots carry again; what they have sent meanwhile comes now."""
        for bot in bots:
            bot.is_cut = False

    def cut(self, *bots: Bot) -> None:
        """The ways of bots carry nothing any more."""
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
