"""Actions of bots: every one is judged at once."""

from collections.abc import Iterable, Iterator

from meijin.game import Ending
from meijin.server.match.arbiter import ACCEPTED, SIDES, ActionResult
from meijin.server.match.commands import Actions, Analysis, Play
from meijin.server.match.games import Games
from meijin.server.match.journal import Journal
from meijin.server.match.live_game import LiveGame
from meijin.server.match.session import NoticeReason, Session
from meijin.server.match.stalls import Moment, StallWatch

MAX_FAILURE = 500
"""Characters kept of what a bot says about its failure."""


class ActionHandler:
    """Handles the actions in bots' messages, by the running games."""

    def __init__(self, games: Games, journal: Journal, watch: StallWatch) -> None:
        self._games = games
        self._journal = journal
        self._watch = watch

    def receive(self, session: Session, actions: Actions) -> None:
        """Judge everything in a message of a bot."""
        moment = self._watch.moment()
        self._journal.add_moves(self._judge_plays(session, actions.plays, moment))
        for number in actions.resigns:
            game = self._find(session, number, 0)
            if game is not None:
                game.arbiter.resign(game.color(session.player))
                self._games.end(game)
        for number, message in actions.failures:
            game = self._find(session, number, 0)
            if game is not None:
                kept = message[:MAX_FAILURE].replace("\0", "")
                game.arbiter.fail(game.color(session.player), kept)
                self._games.end(game)
        self._journal.wake()

    def say_goodbye(self, session: Session) -> None:
        """The bot leaves for good: it resigns its running games."""
        player = session.player
        for game in list(session.games.values()):
            if game.is_played_by(player, session.version_id):
                game.arbiter.resign(game.color(player))
                self._games.end(game)

    def _find(self, session: Session, number: int, ply: int) -> LiveGame | None:
        player = session.player
        game = session.games.get(number)
        if game is None or not game.is_played_by(player, session.version_id):
            detail = f"you play no game {number}"
            session.refuse(number, ply, NoticeReason.UNKNOWN_GAME, detail)
            return None
        return game

    def _judge_plays(
        self, session: Session, plays: Iterable[Play], moment: Moment
    ) -> Iterator[tuple[LiveGame, int, int]]:
        """Judge moves, and yield those after which a game goes on, with their plies and cells.

        The one loop that every move takes: what it needs is looked up once.
        """
        player, lag_ns = session.player, session.lag_ns
        black, white = SIDES
        find = session.games.get
        for number, ply, cell, analysis, thinking_us in plays:
            game = find(number)
            if game is None:
                self._find(session, number, ply)
                continue
            arbiter = game.arbiter
            color = black if game.black is player else white
            result = arbiter.play(color, ply, cell, moment, lag_ns, thinking_us=thinking_us)
            if result is not ACCEPTED:
                self._put_off(session, game, ply, result, analysis)
                continue
            if arbiter.outcome is not None:
                self._end_by(game, ply, analysis)
                continue
            game.is_uncommitted = True
            yield game, ply, cell
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)

    def receive_pong(self, session: Session, sequence: int) -> None:
        """Decide the games whose flag has waited for this ping's answer."""
        moment = self._watch.moment()
        round_trip_ns, games = session.pong(sequence, moment.now_ns)
        for game in games:
            self._decide(game, moment, round_trip_ns)

    def _decide(self, game: LiveGame, moment: Moment, round_trip_ns: int) -> None:
        """Have the flag fall, or a move that was held take its place."""
        arbiter, ply = game.arbiter, game.arbiter.board.ply
        if not arbiter.is_flag_up:
            return
        arbiter.decide(moment, round_trip_ns)
        analysis, game.held_analysis = game.held_analysis, None
        if arbiter.outcome is not None and arbiter.outcome.ending is Ending.TIME:
            self._games.forfeit(game)
        elif arbiter.outcome is not None:
            self._end_by(game, ply, analysis)
        elif arbiter.board.ply > ply:
            game.is_uncommitted = True
            self._journal.add_moves([(game, ply, arbiter.board.moves[ply])])
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)
            self._journal.wake()

    def _end_by(self, game: LiveGame, ply: int, analysis: Analysis | None) -> None:
        """End a game by its last move, which is stored with the game alone."""
        assert game.arbiter.outcome is not None
        if not game.arbiter.outcome.ending.is_forfeit:
            game.is_uncommitted = True
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)
        self._games.end(game)

    def _put_off(
        self,
        session: Session,
        game: LiveGame,
        ply: int,
        result: ActionResult,
        analysis: Analysis | None,
    ) -> None:
        """A move has no effect, or none yet."""
        if result is ActionResult.HELD:
            game.held_analysis = analysis
            session.probe(game)
        else:
            self._refuse(session, game, ply, result)

    def _refuse(self, session: Session, game: LiveGame, ply: int, result: ActionResult) -> None:
        current = game.arbiter.board.ply
        if result is ActionResult.NOT_YOUR_TURN:
            detail = "it is the opponent's turn"
            session.refuse(game.number, ply, NoticeReason.NOT_YOUR_TURN, detail)
        else:
            detail = f"ply {ply} is not the pending turn; the game is at ply {current}"
            session.refuse(game.number, ply, NoticeReason.STALE_PLY, detail)

    def _keep_analysis(self, game: LiveGame, ply: int, analysis: Analysis) -> None:
        if game.analysis is None:
            game.analysis = {}
        game.analysis[str(ply)] = analysis
        self._journal.add_analysis(game, ply, analysis)
