"""A bot's session: its open stream, with the outbox of what waits to be sent to it."""

import asyncio
import enum
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from datetime import timedelta
from typing import NamedTuple

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.errors import BannedError, DisabledError, MeijinError, TooManyNoticesError
from meijin.server.match.live.commands import Actions
from meijin.server.match.live.evaluations import Asked, Evaluations
from meijin.server.match.live.lag import LagMeter
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.token_bucket import Rate, TokenBucket
from meijin.store.schema import BotVersionId
from meijin.wire.capabilities import Capabilities

MAX_EVENTS = 1024
"""The most starts, ends and turns each in one message: 22x22 boards stay below 4 MB."""

MAX_STOPPED = 1024
"""Games that were stopped are remembered, the newest N: bots answer in far less time."""

NOTICES_REFILL = timedelta(seconds=100)
"""In this time a stream that has used up its notices may have all of them again."""

MAX_STREAM_END = 200
"""Characters kept of why a stream was ended."""

MILLISECOND = timedelta(milliseconds=1)

SPARE_ACTIONS = 64
"""A message may hold so many actions more than there are games that they may be for."""

SILENT_AFTER_NS = NS_PER_SECOND * 2 // 5
"""A bot of which nothing is heard for so long after a ping is silent; one that has answered its
last pings sooner is prompt."""


UNEXAMINED = (
    "no rated games yet: on this server a version has to pass `meijin bot doctor` first; run it "
    "with --report"
)
"""What a bot is told that is to be examined."""


class NoticeReason(enum.Enum):
    """Why an action had no effect, by the names of the contract."""

    UNKNOWN_GAME = enum.auto()
    STALE_PLY = enum.auto()
    NOT_YOUR_TURN = enum.auto()
    NOT_ASKED = enum.auto()
    UNKNOWN_EVALUATION = enum.auto()


class Notice(NamedTuple):
    """An action had no effect."""

    game: int
    """The number that the bot named."""
    ply: int
    reason: NoticeReason
    detail: str
    evaluation: int = 0
    """The number that the bot named, where it is about no game."""


@dataclass(frozen=True, slots=True)
class Welcome:
    session_id: str
    bot_name: str
    grace_ms: int
    """How long the bot may be away in one game altogether."""
    running_games: int
    """How many starts of games that go on follow."""
    notice: str = ""
    """What the bot's owner is to know at once."""


class PausedNotice(NamedTuple):
    reason: str
    duration_ms: int


class Delivery(NamedTuple):
    """What is sent to a bot at once. A plain tuple: one is made for every message."""

    welcome: Welcome | None = None
    ended: Sequence[LiveGame] = ()
    started: Sequence[LiveGame] = ()
    notices: Sequence[Notice] = ()
    turns: Sequence[tuple[LiveGame, int]] = ()
    """The games in which the bot is to move, and the nanoseconds on its clock, which run now."""
    ping: int = 0
    """The sequence number of a ping; 0 without one."""
    is_draining: bool = False
    """The server is about to stop."""
    paused: PausedNotice | None = None
    """The bot gets no new games for a while."""
    choices: Sequence[LiveGame] = ()
    """Games in which a player has chosen its side."""
    evaluations: Sequence[Asked] = ()
    """Positions outside of games that the bot is asked for."""

    @property
    def has_events(self) -> bool:
        """Whether anything is told of games or asked."""
        return bool(
            self.turns
            or self.started
            or self.ended
            or self.notices
            or self.choices
            or self.evaluations
        )


@dataclass(slots=True, eq=False)
class Session:
    """One stream of a player, with an outbox that one task drains."""

    id: str
    player: Participant
    version_id: BotVersionId
    capabilities: Capabilities
    _: KW_ONLY
    games: Mapping[int, LiveGame]
    """The player's running games by their numbers, also those of other versions of it."""
    grace: timedelta
    max_notices: InitVar[int]
    heard: Moment
    """When the last message was read."""
    unready: int = 0
    """Places of ended games that the bot isn't ready to fill again."""
    siblings: Collection[BotVersionId] = ()
    """Versions of the same program, whose running games it goes on with."""
    may_be_rated: bool = True
    """It gets rated games; else it is to be examined first."""
    notice: str = ""
    """What the bot's owner is to know at once, before anything else."""
    lag_ns: int = 0
    """The round trip on this stream."""
    refused: int = 0
    """How many actions had no effect on this stream."""
    effective_messages: int = 0
    """How many of the bot's messages, or of the portions of large ones, had an effect."""
    spare_actions: int = SPARE_ACTIONS
    """How many actions more than there are games a message may hold."""
    last_actions: Actions | None = None
    """The last message with actions: a reference, and no copy."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while something waits in the outbox."""
    evaluations: Evaluations = field(init=False)
    """What the bot is asked outside of games."""
    closed: asyncio.Future[MeijinError] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Why the server ends the stream, once it does."""
    writing_since_ns: int | None = None
    """When the write began that has not ended yet; ``None`` between writes."""
    silent_since_ns: int | None = None
    """Since when it is known to be silent together with others, as served; ``None`` while it
    isn't. No clock of the bot's runs meanwhile."""
    _allowance: TokenBucket = field(init=False)
    _forgiven: int = 0
    _is_welcomed: bool = False
    _is_draining: bool = False
    _paused: PausedNotice | None = None
    _stopped: dict[int, None] = field(default_factory=dict)
    _ended: list[LiveGame] = field(default_factory=list)
    _started: dict[int, LiveGame] = field(default_factory=dict)
    _choices: list[LiveGame] = field(default_factory=list)
    _turns: list[LiveGame] = field(default_factory=list)
    _notices: list[Notice] = field(default_factory=list)
    _flags: dict[int, tuple[LiveGame, int]] = field(default_factory=dict)
    """Games whose flag is up by their numbers, with the ping whose answer each waits for."""
    _meter: LagMeter = field(default_factory=LagMeter)

    def __post_init__(self, max_notices: int) -> None:
        self.evaluations = Evaluations(self.wake.set)
        rate = Rate(max_notices / NOTICES_REFILL.total_seconds(), max_notices)
        self._allowance = TokenBucket(rate, self.heard.now_ns / NS_PER_SECOND)

    @property
    def room(self) -> int:
        """How many more games the bot takes."""
        return self.capabilities.max_games - len(self.games) - self.unready

    def lose_place(self) -> None:
        """A game is over: its place is free when the bot says so, where it does."""
        self.unready += self.capabilities.announces_readiness

    def regain_places(self, count: int) -> int:
        """The bot is ready for so many more games; how many it had to say that of."""
        regained = min(count, self.unready)
        self.unready -= regained
        return regained

    # -- what is to be sent -----------------------------------------------------

    def add_turn(self, game: LiveGame) -> None:
        self._turns.append(game)
        self.wake.set()

    def add_start(self, game: LiveGame) -> None:
        self._started[game.number] = game
        self.wake.set()

    def add_choice(self, game: LiveGame) -> None:
        """A player has chosen its side in `game`."""
        # A start tells the sides as they are, and so does a choice that waits.
        if game.number not in self._started and game not in self._choices:
            self._choices.append(game)
            self.wake.set()

    def add_end(self, game: LiveGame) -> None:
        self._flags.pop(game.number, None)
        if game in self._choices:
            self._choices.remove(game)
        if self._started.pop(game.number, None) is None:
            self._ended.append(game)
            self.wake.set()
        else:
            self.regain_places(1)  # the bot never hears of that game

    def excuse_action(self, game: LiveGame) -> None:
        """`game` was stopped: an action may be on its way that is not counted as refused."""
        self._stopped[game.number] = None
        if len(self._stopped) > MAX_STOPPED:
            del self._stopped[next(iter(self._stopped))]
        self.spare_actions = SPARE_ACTIONS + len(self._stopped)

    def refuse(self, notice: Notice, now_ns: int) -> None:
        """Tell the bot that an action had no effect; too many of them end the stream.

        The first one in a game that was stopped is the stop's doing, and not counted. The
        allowance comes back with time, and with messages that have an effect: a bot that is
        late once a game is not ended for it, however long it plays.
        """
        self.refused += 1
        self._notices.append(notice)
        self._allowance.add(self.effective_messages - self._forgiven)
        self._forgiven = self.effective_messages
        if notice.game in self._stopped:
            del self._stopped[notice.game]
            self.spare_actions = SPARE_ACTIONS + len(self._stopped)
        elif not self._allowance.take(now_ns / NS_PER_SECOND):
            self.close(TooManyNoticesError("too many actions had no effect; find out why"))
        self.wake.set()

    def ping(self) -> None:
        """Measure the round trip, unless the last ping is still on its way."""
        if self._meter.request():
            self.wake.set()

    def probe(self, game: LiveGame) -> None:
        """The flag is up in `game`: have a ping answered before it falls."""
        if game.number not in self._flags:
            self._flags[game.number] = game, self._meter.request_fresh()
            self.wake.set()

    def announce_draining(self) -> None:
        self._is_draining = True
        self.wake.set()

    def announce_pause(self, reason: str, duration: timedelta) -> None:
        self._paused = PausedNotice(reason, duration // MILLISECOND)
        self.wake.set()

    def close(self, reason: MeijinError) -> None:
        """End the stream; the first reason stands."""
        if not self.closed.done():
            self.closed.set_result(reason)

    @property
    def is_barred(self) -> bool:
        """Whether it was closed because its bot, or the program of it, may play no more."""
        return self.closed.done() and isinstance(self.closed.result(), BannedError | DisabledError)

    # -- what is sent -----------------------------------------------------------

    def drain(self, moment: Moment) -> Delivery:
        """Take out what is to be sent at once; the clocks of the turns in it start now.

        Those of a hosted program start when it has a core: its host says so.

        What does not fit into one message wakes the stream again.
        """
        self.wake.clear()
        welcome = None if self._is_welcomed else self._welcome()
        ended = _take(self._ended) if self._ended else ()
        started = self._take_started() if self._started else ()
        notices: Sequence[Notice] = ()
        if self._notices:
            notices, self._notices = self._notices, []
        choices: Sequence[LiveGame] = ()
        if self._choices:
            choices, self._choices = self._choices, []
        turns: list[tuple[LiveGame, int]] = []
        is_hosted = self.capabilities.is_hosted
        if not self._started:  # a game starts before its first turn
            for game in _take(self._turns):
                arbiter = game.arbiter
                if arbiter.outcome is None:
                    left_ns = _left_ns(game, moment) if is_hosted else arbiter.ask(moment)
                    turns.append((game, left_ns))
        ping = self._meter.send(moment.served_ns) if self._meter.is_due else 0
        is_draining, self._is_draining = self._is_draining, False
        paused, self._paused = self._paused, None
        evaluations = self.evaluations.take() if self.evaluations.unsent else ()
        if self._ended or self._started or self._turns:
            self.wake.set()
        return Delivery(
            welcome, ended, started, notices, turns, ping, is_draining, paused, choices, evaluations
        )

    def _take_started(self) -> list[LiveGame]:
        numbers = list(itertools.islice(self._started, MAX_EVENTS))
        return [self._started.pop(number) for number in numbers]

    def _welcome(self) -> Welcome:
        self._is_welcomed = True
        notice = self.notice or ("" if self.may_be_rated else UNEXAMINED)
        grace_ms = self.grace // MILLISECOND
        return Welcome(self.id, self.player.name, grace_ms, len(self._started), notice)

    def plays(self, game: LiveGame) -> bool:
        """Whether its program has begun a game: another one does not take it over."""
        version_id = game.version(game.seat(self.player))
        return version_id == self.version_id or version_id in self.siblings

    # -- what came back ---------------------------------------------------------

    def end_silence(self, moment: Moment) -> None:
        """The bot is heard again: what the network took is on nobody's clock."""
        self.silent_since_ns = None
        for game in self.games.values():
            if game.end_silence(self.player, self, self.heard, moment):
                self._flags.pop(game.number, None)

    def is_unheard(self, moment: Moment) -> bool:
        """Whether a ping, or what is being written, has had no answer of any kind for long."""
        waiting_ns = self._meter.waiting_ns(moment.served_ns)
        if waiting_ns is None:
            if self.writing_since_ns is None:
                return False
            waiting_ns = moment.now_ns - self.writing_since_ns
        unheard_ns = moment.served_ns - self.heard.served_ns
        return SILENT_AFTER_NS <= waiting_ns <= unheard_ns

    @property
    def is_prompt(self) -> bool:
        """Whether the bot has answered all of its last pings at once."""
        samples_ns = self._meter.samples_ns
        return bool(samples_ns) and max(samples_ns) < SILENT_AFTER_NS

    def pong(self, sequence: int, moment: Moment) -> tuple[int, Sequence[LiveGame]]:
        """A ping is answered: its round trip, and the games whose flag has waited for it.

        An answer to anything else is ignored.
        """
        round_trip_ns = self._meter.answer(sequence, moment.served_ns)
        if round_trip_ns is None:
            return 0, ()
        if not self.capabilities.is_hosted:  # of such a one no way is on any clock
            self.lag_ns = min(self._meter.samples_ns)
        if self._meter.is_due:
            self.wake.set()
        if not self._flags:
            return round_trip_ns, ()
        answered = [game for game, ping in self._flags.values() if ping <= sequence]
        for game in answered:
            del self._flags[game.number]
        return round_trip_ns, answered

    def lag_evidence(self, moment: Moment) -> dict[str, object]:
        """What is known of the way to the bot, as it is stored with a time forfeit."""
        waiting_ns, since_ns = self._meter.waiting_ns(moment.served_ns), self.writing_since_ns
        return {
            "round_trips_us": [sample // 1000 for sample in self._meter.samples_ns],
            "ping_unanswered_us": None if waiting_ns is None else waiting_ns // 1000,
            "writing_us": None if since_ns is None else (moment.now_ns - since_ns) // 1000,
        }

    def last_words(self, number: int, now_ns: int) -> dict[str, object]:
        """What the bot said last, also in the game of this number, as it is stored."""
        actions = self.last_actions
        words: dict[str, object] = {
            "messages": self.effective_messages,
            "refused": self.refused,
            "silent_us": (now_ns - self.heard.now_ns) // 1000,
        }
        if actions is not None:
            words["last_message"] = actions.told_of(number)
        if self.closed.done():
            words["stream_end"] = str(self.closed.result())[:MAX_STREAM_END]
        return words


def _left_ns(game: LiveGame, moment: Moment) -> int:
    """The nanoseconds on the clock of the side to move."""
    return game.arbiter.left_ns(game.arbiter.seat_to_act, moment)


def _take(games: list[LiveGame]) -> list[LiveGame]:
    """Remove as many from the front as fit into a message."""
    taken = games[:MAX_EVENTS]
    del games[:MAX_EVENTS]
    return taken
