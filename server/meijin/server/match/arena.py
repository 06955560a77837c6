"""The arena: who is here, and what is being played."""

import asyncio
import itertools
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import structlog

from meijin.game import Board, Clock, Color, Ending, Party, decode_moves
from meijin.server.errors import ReplacedError
from meijin.server.match.arbiter import SIDES, Arbiter, Moment
from meijin.server.match.journal import Batch, Journal
from meijin.server.match.live_game import Contest, LiveGame
from meijin.server.match.session import Player, Session
from meijin.server.match.stalls import StallWatch
from meijin.server.settings import Settings
from meijin.store import Writer
from meijin.store.schema import BotId, BotVersionId, EntryId, GameId, TournamentId
from meijin.store.tournaments import PendingPairing, TournamentEnd
from meijin.store.voids import GameVoid
from meijin.v1 import play_service_pb2 as pb
from meijin.wire import Capabilities

log = structlog.get_logger()

T = TypeVar("T")

ENTRIES_PER_TRUNCATION = 64
"""Flushes between two deletions of those that hold no running game's move."""

NO_ENTRY = EntryId(0)
"""Before all others."""


class Listener:
    """Hears what happens in the arena; by default does nothing.

    One that raises is logged: the others hear of it all the same, and the games go on.
    """

    def game_over(self, game: LiveGame) -> None:
        """A game is over: what is added to the journal now is committed with its end."""

    def player_joined(self, player: Player) -> None:
        """A bot's stream was opened."""

    def game_started(self, game: LiveGame) -> None:
        """A game began."""

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """A move was made in each of the games, and they go on."""

    def game_ended(self, game: LiveGame) -> None:
        """A game ended."""


class Counters:
    """The last ids given, from which the next follow."""

    def __init__(self, game: GameId, end: int, entry: EntryId) -> None:
        self.game = itertools.count(game + 1)
        self.end = itertools.count(end + 1)
        self.last_entry = entry


class Arena:
    """Every running game and every player, in one event loop.

    What happens to a game goes straight to its arbiter; what follows is collected
    by the journal and told to the players once it is committed.
    """

    def __init__(
        self,
        settings: Settings,
        writer: Writer,
        counters: Counters,
        *,
        watch: StallWatch | None = None,
        wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.players: dict[BotId, Player] = {}
        """Bots that are connected or have games running."""
        self.games: dict[GameId, LiveGame] = {}
        """The running games."""
        self._ending: dict[GameId, LiveGame] = {}
        """The games whose end is not committed yet."""
        self.listeners: list[Listener] = []
        self.journal = Journal(writer, counters.last_entry, self._release, lambda: len(self.games))
        self.is_draining = False
        """No game starts any more."""
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._settings = settings
        self._counters = counters
        self._numbers = itertools.count(1)
        self._next_truncation = 0
        self.watch = watch or StallWatch()
        """The time, as the arena goes by it."""
        self._wall_clock = wall_clock
        self._grace = settings.grace.total_seconds() * 1e9

    # -- players ------------------------------------------------------------------

    def player(self, bot_id: BotId, name: str) -> Player:
        """The player of a bot, present or not."""
        return self.players.setdefault(bot_id, Player(bot_id, name))

    def join(
        self,
        player: Player,
        version_id: BotVersionId,
        capabilities: Capabilities,
        resume_session_id: str = "",
    ) -> Session:
        """Open a stream for a player; an older stream of it is closed.

        Raises:
            ReplacedError: the stream to resume was replaced by one that is open.
        """
        old = player.session
        if old is not None:
            if resume_session_id and resume_session_id in player.replaced:
                raise ReplacedError("a newer stream of this bot is open; stop one of the two")
            player.replaced.add(old.id)
            old.close(ReplacedError("replaced by a newer stream of the same bot"))
            self.leave(old)
            self.players[player.bot_id] = player
        session = Session(
            secrets.token_hex(8),
            player,
            version_id,
            capabilities,
            max_notices=self._settings.max_notices,
        )
        player.session = session
        mine = [game for game in player.games.values() if game.is_played_by(player, version_id)]
        session.welcome = pb.Welcome(
            session_id=session.id,
            bot_name=player.name,
            grace_ms=int(self._settings.grace.total_seconds() * 1000),
        )
        session.ping()
        for game in mine:
            self._resume(game, player, session)
        for listener in self.listeners:
            _tell(listener.player_joined, player)
        return session

    def _resume(self, game: LiveGame, player: Player, session: Session) -> None:
        color = game.color(player)
        game.sessions[color] = session
        game.arbiter.come_back(color, self.watch.moment())
        if game.is_announced:
            session.add_start(game)
            if color is game.arbiter.board.side_to_move and not game.is_unsettled:
                session.add_turn(game)

    def leave(self, session: Session) -> None:
        """A stream has ended; the player's games wait for its return."""
        player = session.player
        if player.session is not session:
            return
        player.session = None
        moment = self.watch.moment()
        for game in player.games.values():
            color = game.color(player)
            if game.sessions[color] is session:
                game.sessions[color] = None
                game.arbiter.leave(color, moment)
        if not player.games:
            self.players.pop(player.bot_id, None)

    # -- games ------------------------------------------------------------------------

    def start(
        self, run: Contest, pairing: PendingPairing, black: Player, white: Player
    ) -> LiveGame:
        """Start a game between two players whose streams are open."""
        assert black.session is not None
        assert white.session is not None
        game = self.new_live_game(
            run,
            pairing,
            game_id=GameId(next(self._counters.game)),
            players=(black, white),
            versions=(black.session.version_id, white.session.version_id),
            start_time=self._wall_clock(),
            first_entry=self.journal.batch.entry.id,
        )
        game.sessions[Color.BLACK :] = [black.session, white.session]
        self._enter(game)
        batch = self.journal.batch
        batch.entry.starts.append(game.to_start())
        batch.started.append(game)
        self.journal.wake()
        return game

    def restore(
        self,
        game: LiveGame,
        moves: Sequence[tuple[int, int, int]],
    ) -> None:
        """Take up a game of an earlier server: (cell, raw, charged) of each move made."""
        moment = self.watch.moment()
        for cell, raw, charged in moves:
            game.arbiter.replay(cell, raw, charged)
        for color in Color:
            game.arbiter.leave(color, moment, excused=True)
        game.is_announced = True
        self._enter(game)

    def new_live_game(
        self,
        run: Contest,
        pairing: PendingPairing,
        *,
        game_id: GameId,
        players: tuple[Player, Player],
        versions: tuple[BotVersionId, BotVersionId],
        start_time: datetime,
        first_entry: EntryId = NO_ENTRY,
    ) -> LiveGame:
        """A game at its opening: one that starts, or one of an earlier server to be restored."""
        board = Board.from_moves(decode_moves(pairing.opening), run.variant)
        return LiveGame(
            number=next(self._numbers),
            id=game_id,
            run=run,
            pairing=pairing,
            arbiter=Arbiter(
                board, Clock(pairing.time_control or run.time_control), grace=int(self._grace)
            ),
            black=players[0],
            white=players[1],
            black_version=versions[0],
            white_version=versions[1],
            start_time=start_time,
            first_entry=first_entry,
            opening_plies=len(pairing.opening) // 2,
        )

    def _enter(self, game: LiveGame) -> None:
        self.games[game.id] = game
        game.black.games[game.number] = game
        game.white.games[game.number] = game
        game.run.running += 1
        self._all_ended.clear()

    def void(self, game: LiveGame, party: Party, detail: str) -> None:
        """Stop a game through no fault of its bots."""
        game.arbiter.void(party, detail)
        self.end(game)
        self.journal.wake()

    def void_finished(self, game_id: GameId, reason: str) -> None:
        """Void a finished game, whose end is stored."""
        void = GameVoid(game_id, reason, self._wall_clock())
        self.journal.batch.entry.voids.append(void)
        self.journal.wake()

    def hand_over(self, old: Contest, new: Contest) -> None:
        """Have the running games of a tournament belong to another run of it."""
        for game in self.games.values():
            if game.run is old:
                game.run = new
                old.running -= 1
                new.running += 1

    def end(self, game: LiveGame) -> None:
        """Take an ended game out and have its end committed."""
        if self.games.pop(game.id, None) is None:
            return
        if not self.games:
            self._all_ended.set()
        run = game.run
        run.running -= 1
        for player in (game.black, game.white):
            del player.games[game.number]
            if player.session is None and not player.games:
                self.players.pop(player.bot_id, None)
        self._ending[game.id] = game
        batch = self.journal.batch
        entry = batch.entry
        game.end_time = self._wall_clock()
        entry.ends.append(game.to_end(next(self._counters.end), game.end_time))
        batch.ended.append(game)
        if entry.id >= self._next_truncation:
            self._next_truncation = entry.id + ENTRIES_PER_TRUNCATION
            entry.truncate_before = min(
                (game.first_entry for game in self.games.values()), default=entry.id
            )
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID:
            for session in filter(None, game.sessions):
                session.stopped.append(game.number)
        for listener in self.listeners:
            _tell(listener.game_over, game)

    def end_tournament(self, tournament_id: TournamentId, verdict: str) -> None:
        """Have a tournament's end committed, with whatever else has happened."""
        end = TournamentEnd(tournament_id, self._wall_clock(), verdict)
        self.journal.batch.entry.finished_tournaments.append(end)
        self.journal.wake()

    def live_game(self, game_id: GameId) -> LiveGame | None:
        """A game that runs as far as anybody may know, or ``None``."""
        return self.games.get(game_id) or self._ending.get(game_id)

    async def all_games_ended(self) -> None:
        """Wait until no game is running."""
        await self._all_ended.wait()

    # -- after the commit -------------------------------------------------------------

    def _release(self, batch: Batch) -> None:
        """Tell the players what has been committed."""
        for game in batch.moved:
            game.is_unsettled = False
            arbiter = game.arbiter
            if arbiter.outcome is None:
                session = game.sessions[SIDES[len(arbiter.board.moves) & 1]]
                if session is not None:
                    session.add_turn(game)
        for game in batch.ended:
            game.is_unsettled = False
            del self._ending[game.id]
            for color in Color:
                session = game.sessions[color]
                if session is not None and game.is_announced:
                    session.add_end(game)
        for game in batch.started:
            self._release_start(game)
        if self.listeners:
            self._tell_listeners(batch)

    def _release_start(self, game: LiveGame) -> None:
        if game.arbiter.outcome is not None:
            return
        game.is_announced = True
        for color in Color:
            session = game.sessions[color]
            if session is None:
                continue
            session.add_start(game)
            if color is game.arbiter.board.side_to_move:
                session.add_turn(game)

    def _tell_listeners(self, batch: Batch) -> None:
        for listener in self.listeners:
            for game in batch.started:
                _tell(listener.game_started, game)
            _tell(listener.games_moved, batch.moved)
            for game in batch.ended:
                _tell(listener.game_ended, game)

    # -- time -------------------------------------------------------------------------

    def expire(self, moment: Moment) -> None:
        """End the games in which a clock or a grace has run out."""
        is_failing = self.journal.is_failing
        for game in list(self.games.values()):
            if is_failing:  # and lets nobody in
                game.arbiter.excuse(moment)
            session = game.player(game.arbiter.board.side_to_move).session
            game.arbiter.expire(moment, 0 if session is None else session.lag)
            if game.arbiter.outcome is not None and game.id in self.games:
                log.info("game forfeited", game=game.id, outcome=str(game.arbiter.outcome))
                self.end(game)
                self.journal.wake()

    def moment(self) -> Moment:
        """Now."""
        return self.watch.moment()


def _tell(listen: Callable[[T], None], fact: T) -> None:
    """Tell an listener; its failure is its own."""
    try:
        listen(fact)
    except Exception:
        log.exception("an listener failed", listener=listen.__qualname__)
