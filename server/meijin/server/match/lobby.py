"""The lobby: which bots are connected."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from meijin.server.errors import MeijinError, ReplacedError
from meijin.server.match.listeners import Listeners
from meijin.server.match.live_game import LiveGame, Participant
from meijin.server.match.session import Session
from meijin.server.match.stalls import Moment, StallWatch
from meijin.store.schema import BotId, BotVersionId
from meijin.wire import Capabilities


@dataclass(slots=True, eq=False)
class Player(Participant):
    """A bot that is connected or has games running; it outlives its streams."""

    session: Session | None = None
    """Its open stream; ``None`` while it is away."""
    games: dict[int, LiveGame] = field(default_factory=dict)
    """Its running games by their numbers."""
    replaced: set[str] = field(default_factory=set)
    """Streams that a newer one took the place of."""


class Lobby:
    """Opens and closes the streams of players."""

    def __init__(
        self, watch: StallWatch, listeners: Listeners, *, grace: timedelta, max_notices: int
    ) -> None:
        self.players: dict[BotId, Player] = {}
        """Bots that are connected or have games running."""
        self.is_draining = False
        """The server is about to stop: nobody comes in, and no game starts any more."""
        self._watch = watch
        self._listeners = listeners
        self._grace = grace
        self._max_notices = max_notices

    def player(self, bot_id: BotId, name: str) -> Player:
        """The player of a bot, present or not."""
        return self.players.setdefault(bot_id, Player(bot_id, name))

    @property
    def sessions(self) -> Sequence[Session]:
        """The open streams."""
        return [player.session for player in self.players.values() if player.session is not None]

    # -- streams --------------------------------------------------------------------------

    def join(
        self,
        player: Player,
        version_id: BotVersionId,
        capabilities: Capabilities,
        resume_session_id: str = "",
        *,
        since: Moment | None = None,
    ) -> Session:
        """Open a stream for a player; an older stream of it is closed.

        Args:
            since: When the player came, if it had to wait for the store: it is no longer away
                from then on.

        Raises:
            ReplacedError: the stream to resume was replaced by one that is open.
        """
        if player.session is not None:
            self._replace(player, player.session, resume_session_id)
        session = Session(
            secrets.token_hex(8),
            player,
            version_id,
            capabilities,
            games=player.games,
            grace=self._grace,
            max_notices=self._max_notices,
        )
        player.session = session
        self.players[player.bot_id] = player
        session.ping()
        moment = since or self._watch.moment()
        for game in player.games.values():
            if game.is_played_by(player, version_id):
                game.connect(player, session, moment)
        self._listeners.player_joined(player)
        return session

    def _replace(self, player: Player, old: Session, resume_session_id: str) -> None:
        if resume_session_id and resume_session_id in player.replaced:
            raise ReplacedError("a newer stream of this bot is open; stop one of the two")
        player.replaced.add(old.id)
        old.close(ReplacedError("replaced by a newer stream of the same bot"))
        self.leave(old)

    def leave(self, session: Session) -> None:
        """A stream has ended; the player's games wait for its return."""
        player = self.players.get(session.player.bot_id)
        if player is None or player.session is not session:
            return
        player.session = None
        moment = self._watch.moment()
        for game in player.games.values():
            game.disconnect(player, session, moment)
        self._forget_if_gone(player)

    # -- games ----------------------------------------------------------------------------

    def enter(self, game: LiveGame) -> None:
        """A game has begun, or goes on, for its two players."""
        for participant in (game.black, game.white):
            self.players[participant.bot_id].games[game.number] = game

    def remove(self, game: LiveGame) -> None:
        """A game is over for its two players."""
        for participant in (game.black, game.white):
            player = self.players[participant.bot_id]
            del player.games[game.number]
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
        """End every stream."""
        for session in self.sessions:
            session.close(reason)
