"""The arena: who is here, what is being played, and how each action changes it."""

import asyncio
import itertools
import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

import structlog

from meijin.game import Board, Clock, Color, Ending, Party, decode_moves
from meijin.server.arbiter import ACCEPTED, SIDES, Arbiter, Moment, Verdict
from meijin.server.convert import analysis_from_proto
from meijin.server.errors import ReplacedError
from meijin.server.flusher import Batch, Flusher
from meijin.server.live_game import LiveGame, TournamentRun
from meijin.server.moment import StallWatch
from meijin.server.session import Player, Session
from meijin.server.settings import Settings
from meijin.store import Writer
from meijin.store.flushes import MOVE
from meijin.store.tables import BotId, BotVersionId, FlushId, GameId
from meijin.store.tournaments import PendingPairing, TournamentEnd
from meijin.store.voids import GameVoid
from meijin.v1 import play_service_pb2 as pb
from meijin.wire import Capabilities

log = structlog.get_logger()

FLUSHES_PER_FLOOR = 64
"""Flushes between two deletions of those that hold no running game's move."""

MAX_FAILURE = 500
"""Characters kept of what a bot says about its failure."""


class Observer(Protocol):
    """Hears what has happened in the arena, after it was committed."""

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

    def __init__(self, game: GameId, end: int, flush: FlushId) -> None:
        self.game = itertools.count(game + 1)
        self.end = itertools.count(end + 1)
        self.last_flush = flush


class Arena:
    """Every running game and every player, in one event loop.

    Bots' actions go straight to the games' arbiters; what follows is collected
    by the flusher and told to the players once it is committed.
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
        self.observers: list[Observer] = []
        self.flusher = Flusher(writer, counters.last_flush, self._release, lambda: len(self.games))
        self.is_draining = False
        """No game starts any more."""
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._settings = settings
        self._counters = counters
        self._numbers = itertools.count(1)
        self._next_floor = 0
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
        mine = [game for game in player.games.values() if _plays(game, player, version_id)]
        session.welcome = pb.Welcome(
            session_id=session.id,
            bot_name=player.name,
            grace_ms=int(self._settings.grace.total_seconds() * 1000),
        )
        session.ping()
        for game in mine:
            self._resume(game, player, session)
        for observer in self.observers:
            observer.player_joined(player)
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

    def say_goodbye(self, session: Session) -> None:
        """The bot leaves for good: it resigns its running games."""
        player = session.player
        for game in list(player.games.values()):
            if _plays(game, player, session.version_id):
                game.arbiter.resign(game.color(player))
                self._end(game)
        self.flusher.wake()

    # -- actions --------------------------------------------------------------------

    def receive(self, session: Session, actions: pb.Actions) -> None:
        """Judge everything in a message of a bot."""
        moment = self.watch.moment()
        self._receive_plays(session, actions.plays, moment)
        for resign in actions.resigns:
            game = self._find(session, resign.game, 0)
            if game is not None:
                game.arbiter.resign(game.color(session.player))
                self._end(game)
        for failure in actions.failures:
            game = self._find(session, failure.game, 0)
            if game is not None:
                message = failure.message[:MAX_FAILURE].replace("\0", "")
                game.arbiter.fail(game.color(session.player), message)
                self._end(game)
        self.flusher.wake()

    def _find(self, session: Session, number: int, ply: int) -> LiveGame | None:
        player = session.player
        game = player.games.get(number)
        if game is None or not _plays(game, player, session.version_id):
            detail = f"you play no game {number}"
            session.refuse(number, ply, pb.NOTICE_REASON_UNKNOWN_GAME, detail)
            return None
        return game

    def _receive_plays(self, session: Session, plays: Iterable[pb.Play], moment: Moment) -> None:
        """Judge moves. The one loop that every move takes: what it needs is looked up once."""
        player, lag = session.player, session.lag
        black, white = SIDES
        find = player.games.get
        batch = self.flusher.batch
        journal, moved = batch.flush.moves, batch.moved
        for play in plays:
            number, ply, cell = play.game, play.ply, play.cell
            game = find(number)
            if game is None:
                self._find(session, number, ply)
                continue
            arbiter = game.arbiter
            color = black if game.black is player else white
            verdict = arbiter.play(color, ply, cell, moment, lag)
            if verdict is not ACCEPTED:
                self._refuse(session, game, ply, verdict)
                continue
            if arbiter.outcome is not None:
                self._end_by(play, game)
                continue
            journal += MOVE.pack(game.id, ply, cell, arbiter.raw[-1], arbiter.charged[-1])
            game.is_unsettled = True
            moved.append(game)
            if play.HasField("analysis"):
                self._keep_analysis(game, ply, play.analysis)

    def _end_by(self, play: pb.Play, game: LiveGame) -> None:
        """End a game by its last move, which is stored with the game alone."""
        assert game.arbiter.outcome is not None
        if not game.arbiter.outcome.ending.is_forfeit:
            game.is_unsettled = True
            if play.HasField("analysis"):
                self._keep_analysis(game, play.ply, play.analysis)
        self._end(game)

    def _refuse(self, session: Session, game: LiveGame, ply: int, verdict: Verdict) -> None:
        current = game.arbiter.board.ply
        if verdict is Verdict.NOT_YOUR_TURN:
            detail = "it is the opponent's turn"
            session.refuse(game.number, ply, pb.NOTICE_REASON_NOT_YOUR_TURN, detail)
        else:
            detail = f"ply {ply} is not the pending turn; the game is at ply {current}"
            session.refuse(game.number, ply, pb.NOTICE_REASON_STALE_PLY, detail)

    def _keep_analysis(self, game: LiveGame, ply: int, analysis: pb.Analysis) -> None:
        kept = analysis_from_proto(analysis)
        if game.analysis is None:
            game.analysis = {}
        game.analysis[str(ply)] = kept
        self.flusher.batch.flush.analysis.setdefault(str(game.id), {})[str(ply)] = kept

    # -- games ------------------------------------------------------------------------

    def start(
        self, run: TournamentRun, pairing: PendingPairing, black: Player, white: Player
    ) -> LiveGame:
        """Start a game between two players whose streams are open."""
        assert black.session is not None
        assert white.session is not None
        game = LiveGame(
            number=next(self._numbers),
            id=GameId(next(self._counters.game)),
            run=run,
            pairing=pairing,
            arbiter=self._arbiter(run, pairing),
            black=black,
            white=white,
            black_version=black.session.version_id,
            white_version=white.session.version_id,
            start_time=self._wall_clock(),
            first_flush=self.flusher.batch.flush.id,
            opening_plies=len(pairing.opening) // 2,
        )
        game.sessions[Color.BLACK :] = [black.session, white.session]
        self._enter(game)
        batch = self.flusher.batch
        batch.flush.starts.append(game.to_start())
        batch.started.append(game)
        self.flusher.wake()
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
        run: TournamentRun,
        pairing: PendingPairing,
        *,
        game_id: GameId,
        players: tuple[Player, Player],
        versions: tuple[BotVersionId, BotVersionId],
        start_time: datetime,
    ) -> LiveGame:
        """A game of an earlier server at its opening, to be restored."""
        return LiveGame(
            number=next(self._numbers),
            id=game_id,
            run=run,
            pairing=pairing,
            arbiter=self._arbiter(run, pairing),
            black=players[0],
            white=players[1],
            black_version=versions[0],
            white_version=versions[1],
            start_time=start_time,
            first_flush=FlushId(0),
            opening_plies=len(pairing.opening) // 2,
        )

    def _arbiter(self, run: TournamentRun, pairing: PendingPairing) -> Arbiter:
        board = Board.from_moves(decode_moves(pairing.opening), run.variant)
        return Arbiter(board, Clock(run.time_control), grace=int(self._grace))

    def _enter(self, game: LiveGame) -> None:
        self.games[game.id] = game
        game.black.games[game.number] = game
        game.white.games[game.number] = game
        game.run.running += 1
        self._all_ended.clear()

    def void(self, game: LiveGame, party: Party, detail: str) -> None:
        """Stop a game through no fault of its bots."""
        game.arbiter.void(party, detail)
        self._end(game)
        self.flusher.wake()

    def take_back(self, game_id: GameId, reason: str) -> None:
        """Void a finished game, whose end is stored."""
        void = GameVoid(game_id, reason, self._wall_clock())
        self.flusher.batch.flush.voids.append(void)
        self.flusher.wake()

    def hand_over(self, old: TournamentRun, new: TournamentRun) -> None:
        """Have the running games of a tournament belong to another run of it."""
        for game in self.games.values():
            if game.run is old:
                game.run = new
                old.running -= 1
                new.running += 1

    def _end(self, game: LiveGame) -> None:
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
        batch = self.flusher.batch
        flush = batch.flush
        game.end_time = self._wall_clock()
        flush.ends.append(game.to_end(next(self._counters.end), game.end_time))
        batch.ended.append(game)
        if flush.id >= self._next_floor:
            self._next_floor = flush.id + FLUSHES_PER_FLOOR
            flush.floor = min((game.first_flush for game in self.games.values()), default=flush.id)
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID:
            for session in filter(None, game.sessions):
                session.stopped.append(game.number)
        else:
            run.count(game.pairing, outcome.result)
            if run.has_ended:
                self.finish(run)

    def finish(self, run: TournamentRun) -> None:
        """End a tournament, once; games of it that run are void, and those planned are dropped."""
        if run.is_finished:
            return
        run.is_finished = True
        run.pending.clear()
        verdict = run.supply.verdict if run.supply else ""
        end = TournamentEnd(run.id, self._wall_clock(), verdict)
        self.flusher.batch.flush.finished_tournaments.append(end)
        for game in [game for game in self.games.values() if game.run is run]:
            self.void(game, Party.NOBODY, "the tournament was decided")
        self.flusher.wake()

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
        if self.observers:
            self._tell_observers(batch)

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

    def _tell_observers(self, batch: Batch) -> None:
        for observer in self.observers:
            for game in batch.started:
                observer.game_started(game)
            observer.games_moved(batch.moved)
            for game in batch.ended:
                observer.game_ended(game)

    # -- time -------------------------------------------------------------------------

    def expire(self, moment: Moment) -> None:
        """End the games in which a clock or a grace has run out."""
        is_failing = self.flusher.is_failing
        for game in list(self.games.values()):
            if is_failing:  # and lets nobody in
                game.arbiter.excuse(moment)
            session = game.player(game.arbiter.board.side_to_move).session
            game.arbiter.expire(moment, 0 if session is None else session.lag)
            if game.arbiter.outcome is not None and game.id in self.games:
                log.info("game forfeited", game=game.id, outcome=str(game.arbiter.outcome))
                self._end(game)
                self.flusher.wake()

    def moment(self) -> Moment:
        """Now."""
        return self.watch.moment()


def _plays(game: LiveGame, player: Player, version_id: BotVersionId) -> bool:
    """Whether this version of the bot plays the game: another one does not take it over."""
    return game.version(game.color(player)) == version_id
