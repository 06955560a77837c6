"""Actions of bots: every one is judged at once."""

from collections.abc import Iterable, Iterator

from prometheus_client import Counter

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
        self.notices = Counter(
            "meijin_notices",
            "Bots' actions without effect, by reason.",
            ("reason",),
            registry=None,
        )
        self._notices = {each: self.notices.labels(each.name.lower()) for each in NoticeReason}

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
            self._tell(session, number, ply, NoticeReason.UNKNOWN_GAME, detail)
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
        for number, ply, cell, analysis in plays:
            game = find(number)
            if game is None:
                self._find(session, number, ply)
                continue
            arbiter = game.arbiter
            color = black if game.black is player else white
            result = arbiter.play(color, ply, cell, moment, lag_ns)
            if result is not ACCEPTED:
                self._refuse(session, game, ply, result)
                continue
            if arbiter.outcome is not None:
                self._end_by(game, ply, analysis)
                continue
            game.is_uncommitted = True
            yield game, ply, cell
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)

    def _end_by(self, game: LiveGame, ply: int, analysis: Analysis | None) -> None:
        """End a game by its last move, which is stored with the game alone."""
        assert game.arbiter.outcome is not None
        if not game.arbiter.outcome.ending.is_forfeit:
            game.is_uncommitted = True
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)
        self._games.end(game)

    def _refuse(self, session: Session, game: LiveGame, ply: int, result: ActionResult) -> None:
        current = game.arbiter.board.ply
        if result is ActionResult.NOT_YOUR_TURN:
            detail = "it is the opponent's turn"
            self._tell(session, game.number, ply, NoticeReason.NOT_YOUR_TURN, detail)
        else:
            detail = f"ply {ply} is not the pending turn; the game is at ply {current}"
            self._tell(session, game.number, ply, NoticeReason.STALE_PLY, detail)

    def _tell(
        self, session: Session, game: int, ply: int, reason: NoticeReason, detail: str
    ) -> None:
        """Tell a bot that an action had no effect."""
        session.refuse(game, ply, reason, detail)
        self._notices[reason].inc()

    def _keep_analysis(self, game: LiveGame, ply: int, analysis: Analysis) -> None:
        if game.analysis is None:
            game.analysis = {}
        game.analysis[str(ply)] = analysis
        self._journal.add_analysis(game, ply, analysis)
