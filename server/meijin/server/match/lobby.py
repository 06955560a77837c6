"""The lobby: which bots are connected."""

import asyncio
import secrets
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from meijin.game import Party, TimeControl, Variant
from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.errors import MeijinError, ReplacedError, TooManyReplacementsError
from meijin.server.match.live.commands import NOTHING_KNOWN, KnownGame
from meijin.server.match.live.deadlines import Deadlines
from meijin.server.match.live.listeners import Absence, Listener, Listeners, MassDisconnect
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import Session
from meijin.server.match.stalls import StallWatch
from meijin.server.token_bucket import Rate, TokenBucket
from meijin.store.schema import BotId, BotVersionId, GameId
from meijin.wire.capabilities import Capabilities

WINDOW_NS = 5 * NS_PER_SECOND
"""Departures within this time may have one cause."""

LEAST_DEPARTURES = 4
"""Fewer are no mass disconnect, however few bots are connected."""


class Departures:
    """Counts the bots that lost their streams lately.

    Half of those that were connected, within `WINDOW_NS`, is a mass disconnect: the network's
    doing, not theirs.
    """

    def __init__(self) -> None:
        self.is_mass = False
        """Bots are being lost together."""
        self._lost: OrderedDict[BotId, int] = OrderedDict()
        """When each was lost last, the oldest first."""

    def add(self, bot_id: BotId, now_ns: int, connected: int) -> list[BotId]:
        """A bot has lost its stream.

        Args:
            connected: How many bots still have one.

        Returns:
            The bots that were lost together and not returned before; empty where it is no mass
            disconnect.
        """
        lost, was_mass = self._lost, self.is_mass
        lost[bot_id] = now_ns
        lost.move_to_end(bot_id)
        while lost[next(iter(lost))] < now_ns - WINDOW_NS:
            lost.popitem(last=False)
        self.is_mass = len(lost) >= LEAST_DEPARTURES and len(lost) >= connected
        if not self.is_mass:
            return []
        return [bot_id] if was_mass else list(lost)


log = structlog.get_logger()

MAX_REPLACED = 16
"""Replaced streams that are remembered of a bot: two copies of it need one each."""

REPLACEMENT_RATE = Rate(per_second=5 / 60, burst=5)
"""How often another stream may take a bot's place."""

REPLACEMENTS_PAUSE = timedelta(minutes=1)
"""How long nobody may take it after that."""


class Replacements:
    """The streams of a bot that newer ones have taken the place of.

    A bot that comes back by its own session, which nobody else knows, is no second copy.
    """

    def __init__(self, now: float) -> None:
        self._ids: deque[str] = deque(maxlen=MAX_REPLACED)
        self._bucket = TokenBucket(REPLACEMENT_RATE, now)
        self._refused_until = 0.0

    def add(self, old: Session, resume_session_id: str, now: float) -> None:
        """`old` is to be replaced by a stream that may resume a session.

        Raises:
            ReplacedError: the session to resume was replaced itself.
            TooManyReplacementsError: that happened too often of late.
        """
        if resume_session_id in self._ids:
            raise ReplacedError("a newer stream of this bot is open; stop one of the two")
        if resume_session_id != old.id:
            self._check_rate(old.player.name, now)
        self._ids.append(old.id)

    def _check_rate(self, bot: str, now: float) -> None:
        if now >= self._refused_until:
            if self._bucket.take(now):
                return
            self._refused_until = now + REPLACEMENTS_PAUSE.total_seconds()
            log.warning("streams of one bot replace each other", bot=bot)
        raise TooManyReplacementsError(
            "streams of this bot keep taking each other's place: a second copy runs, or its token "
            "is stolen; the one that is open stays",
            timedelta(seconds=self._refused_until - now),
        )


@dataclass(slots=True, eq=False)
class Player(Participant):
    """A bot that is connected or has games running; it outlives its streams."""

    session: Session | None = None
    """Its open stream; ``None`` while it is away."""
    left_ns: int | None = None
    """When it lost its last stream, as served; ``None`` while it is here."""
    games: dict[int, LiveGame] = field(default_factory=dict)
    """Its running games by their numbers."""
    replacements: Replacements | None = None
    """How streams of it have taken each other's place; ``None`` before they have."""
    is_hidden: bool = False
    """It is left out of lists."""


class Lobby:
    """Opens and closes the streams of players."""

    def __init__(
        self,
        watch: StallWatch,
        listeners: Listeners,
        *,
        deadlines: Deadlines,
        grace: timedelta,
        max_notices: int,
        needs_doctor: bool = False,
        last_game: GameId = GameId(0),  # noqa: B008 - of no game, and never changed
    ) -> None:
        self.players: dict[BotId, Player] = {}
        """Bots that are connected or have games running."""
        self.joined = asyncio.Event()
        """Set when one comes; for whoever rests while there are none."""
        self.is_draining = False
        """The server is about to stop: nobody comes in, and no game starts any more."""
        self.expulsions = 0
        """How often bots lost their right to play; who was let in before must be asked again."""
        self.judged_ns = 0
        """The last instant as of which absences were judged."""
        self._watch = watch
        self._deadlines = deadlines
        self._connected = 0
        self._departures = Departures()
        self._listeners = listeners
        self._grace = grace
        self._max_notices = max_notices
        self._needs_doctor = needs_doctor  # rated games are for versions that have passed it
        self._last_game = last_game  # that has ever been begun

    def player(self, bot_id: BotId, name: str) -> Player:
        """The player of a bot, present or not."""
        self._watch.wake()  # from now on each standstill counts
        self.joined.set()
        return self.players.setdefault(bot_id, Player(bot_id, name))

    @property
    def sessions(self) -> Sequence[Session]:
        return [player.session for player in self.players.values() if player.session is not None]

    def able(self, variant: Variant, time_control: TimeControl) -> frozenset[BotId]:
        """The bots that are connected and can play a variant by a time control."""
        return frozenset(
            player.bot_id
            for player in self.players.values()
            if player.session is not None
            and not player.is_person
            and not player.session.capabilities.objection(variant, time_control)
        )

    # -- streams --------------------------------------------------------------------------

    def join(
        self,
        player: Player,
        version_id: BotVersionId,
        capabilities: Capabilities,
        resume_session_id: str = "",
        *,
        since: Moment | None = None,
        siblings: Collection[BotVersionId] = (),
        has_passed: bool = False,
        notice: str = "",
        known_games: Mapping[GameId, KnownGame] = NOTHING_KNOWN,
    ) -> Session:
        """Open a stream for a player; an older stream of it is closed.

        Args:
            since: When the player came, if it had to wait to be let in: it is no longer away
                from then on.
            siblings: The versions of the same program.
            has_passed: The version has passed the doctor.
            notice: What its owner is to know of the version.
            known_games: What it knows of the games that it believes to be running.

        Raises:
            ReplacedError: the stream to resume was replaced by one that is open.
            TooManyReplacementsError: streams of the bot keep replacing each other.
        """
        moment = self._watch.moment()
        if player.session is not None:
            self._replace(player, player.session, resume_session_id, moment)
        session = Session(
            secrets.token_hex(8),
            player,
            version_id,
            capabilities,
            games=player.games,
            grace=self._grace,
            max_notices=self._max_notices,
            heard=moment,
            siblings=siblings,
            may_be_rated=has_passed or not self._needs_doctor,
            notice=notice,
        )
        player.session = session
        self.players[player.bot_id] = player
        session.ping()
        self._connected += 1
        self._look_for_unknown(session, known_games)
        self._return(player, session, since or moment, known_games)
        self._listeners.tell(Listener.player_joined, player)
        return session

    def _look_for_unknown(self, session: Session, known_games: Mapping[GameId, KnownGame]) -> None:
        """Tell of games that this server has never begun: another state of the database has."""
        newest = max(known_games, default=self._last_game)
        if newest > self._last_game:
            log.error(
                "a bot knows of a game that this server never began: is this an older database?",
                bot=session.player.name,
                game=newest,
                last_game=self._last_game,
            )
            lost = (
                f"this server knows nothing of your game {newest}: it may have gone back to an "
                "older state"
            )
            session.notice = "; ".join(filter(None, (session.notice, lost)))

    def _return(
        self,
        player: Player,
        session: Session,
        moment: Moment,
        known_games: Mapping[GameId, KnownGame],
    ) -> None:
        games = [game for game in session.games.values() if session.plays(game)]
        left_ns, player.left_ns = player.left_ns, None
        if games and left_ns is not None:
            excuses = [game.arbiter.is_excused(game.seat(player)) for game in games]
            away_ns = max(moment.served_ns - left_ns, 0)
            ids = [game.id for game in games]
            absence = Absence(session.version_id, away_ns, is_excused=any(excuses), games=ids)
            self._listeners.tell(Listener.player_returned, absence)
        for game in games:
            game.arbiter.settle_absences(self.judged_ns)
            if game.witnesses is not None:
                known = known_games.get(game.id)
                game.witnesses.hear(game.seat(player), known, game.committed_moves)
            game.connect(player, session, moment)
            self._deadlines.hasten(game)
            self._settle(game)

    def _settle(self, game: LiveGame) -> None:
        """Have a game of an earlier server go on, or end, once both players have told of it."""
        witnesses = game.witnesses
        if witnesses is not None and witnesses.is_complete:
            if witnesses.is_disputed:
                self._listeners.tell(Listener.game_disputed, game)
            game.settle()

    def _replace(
        self, player: Player, old: Session, resume_session_id: str, moment: Moment
    ) -> None:
        now = moment.now_ns / NS_PER_SECOND
        if player.replacements is None:
            player.replacements = Replacements(now)
        player.replacements.add(old, resume_session_id, now)
        old.close(ReplacedError("replaced by a newer stream of the same bot"))
        self.leave(old)

    def expel(self, bot_id: BotId, reason: MeijinError) -> None:
        """A bot may not play any more, or not by its token: end its stream."""
        self.expulsions += 1
        player = self.players.get(bot_id)
        if player is not None and player.session is not None:
            player.session.close(reason)

    def expel_program(self, bot_id: BotId, reason: MeijinError) -> None:
        """A bot's program may not play any more: end its stream, if a host has opened it."""
        player = self.players.get(bot_id)
        session = None if player is None else player.session
        if session is not None and session.capabilities.is_hosted:
            self.expel(bot_id, reason)

    def set_passed(
        self, bot_id: BotId, versions: Collection[BotVersionId], *, has_passed: bool
    ) -> None:
        """A program has passed the doctor, or has failed: it matters from the next game on."""
        player = self.players.get(bot_id)
        session = None if player is None else player.session
        if session is not None and session.version_id in versions:
            session.may_be_rated = has_passed or not self._needs_doctor

    def update(self, bot_id: BotId, name: str, *, is_hidden: bool) -> None:
        """A bot has another name now, or is left out of lists."""
        player = self.players.get(bot_id)
        if player is not None:
            player.name, player.is_hidden = name, is_hidden

    def leave(self, session: Session) -> None:
        """A stream has ended; the player's games wait for its return."""
        player = self.players.get(session.player.bot_id)
        if player is None or player.session is not session:
            return
        player.session = None
        session.evaluations.end()
        self._connected -= 1
        moment = self._watch.moment()
        player.left_ns = moment.served_ns
        for game in player.games.values():
            game.disconnect(player, session, moment)
            self._deadlines.hasten(game)
        if session.capabilities.is_hosted and not session.is_barred:
            # A program's own end is told by its host before.
            for game in player.games.values():
                game.arbiter.excuse(moment)
        elif session.silent_since_ns is not None:
            for game in player.games.values():
                game.arbiter.excuse(moment, Party.NETWORK)
        elif not session.closed.done():
            self._look_for_mass_disconnect(player, moment)
        self._forget_if_gone(player)

    def _look_for_mass_disconnect(self, player: Player, moment: Moment) -> None:
        """Excuse bots that were lost together: that is the network's doing."""
        was_mass = self._departures.is_mass
        lost = self._departures.add(player.bot_id, moment.served_ns, self._connected)
        gone = [each for bot_id in lost if (each := self.players.get(bot_id)) and not each.session]
        for each in gone:
            for game in each.games.values():
                game.arbiter.excuse(moment, Party.NETWORK)
        if lost and not was_mass:
            names = [each.name for each in gone]
            loss = MassDisconnect(names, self._connected + len(lost))
            self._listeners.tell(Listener.mass_disconnected, loss)

    # -- games ----------------------------------------------------------------------------

    def enter(self, game: LiveGame) -> None:
        self._last_game = max(self._last_game, game.id)
        for participant in (game.first, game.second):
            self.players[participant.bot_id].games[game.number] = game

    def remove(self, game: LiveGame) -> None:
        for participant in (game.first, game.second):
            player = self.players[participant.bot_id]
            del player.games[game.number]
            if player.session is not None:
                player.session.lose_place()
            self._forget_if_gone(player)

    def _forget_if_gone(self, player: Player) -> None:
        if player.session is None and not player.games:
            self.players.pop(player.bot_id, None)

    # -- the end --------------------------------------------------------------------------

    def drain(self) -> None:
        """Let nobody in any more, and tell every bot that the server is about to stop."""
        self.is_draining = True
        for session in self.sessions:
            session.announce_draining()

    def close(self, reason: MeijinError) -> None:
        for session in self.sessions:
            session.close(reason)
