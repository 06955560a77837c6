"""Actions of bots: every one is judged at once."""

import itertools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from prometheus_client import Counter

from meijin.game import Action, Party, Placement, Seat, cpu_charge
from meijin.game.arbiter.moment import Moment
from meijin.game.arbiter.turns import ACCEPTED, ActionResult
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import (
    CPU_US,
    Actions,
    Analysis,
    Evaluation,
    Failure,
    Measured,
    OpeningPlay,
    Play,
)
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.session import Notice, NoticeReason, Session
from meijin.server.match.stalls import StallWatch
from meijin.wire.contract import MAX_TRACEBACK
from meijin.wire.text import plain_lines, plain_text

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

    def hear(self, session: Session, actions: Actions | None = None) -> Moment:
        """Note first of all that a message was read: now, as of when `judge` judges its actions."""
        moment = self._watch.moment()
        session.last_actions = actions or session.last_actions
        if session.silent_since_ns is not None:
            session.end_silence(moment)
            self._games.hasten(session.games.values())
        session.heard = moment
        return moment

    def judge(self, session: Session, actions: Actions, moment: Moment) -> bool:
        """Judge a message or a portion of it; whether any of it had an effect.

        It ends where it closes the session by too much nonsense.
        """
        refused, effects = session.refused, 0
        if session.capabilities.is_hosted:
            actions, effects = self._measure(session, actions, moment)
        self._journal.add_moves(self._judge_plays(session, actions.plays, moment))
        if actions.openings:
            self._judge_openings(session, actions.openings, moment)
        self._end_games(session, actions, moment)
        if actions.evaluations:
            self._take_evaluations(session, actions.evaluations, moment)
        regained = session.regain_places(actions.ready)
        if regained:
            self._games.announce_room(session.player)
        effects += actions.total + len(actions.evaluations) + regained
        if session.refused - refused >= effects:
            return False
        session.effective_messages += 1
        return True

    def _measure(self, session: Session, actions: Actions, moment: Moment) -> tuple[Actions, int]:
        """Have the clocks of a hosted program's turns be what its host says of them.

        Returns:
            The actions, with the processor time of each move among what the bot thought of it; and
            of how many pending turns something was said.
        """
        turns = 0
        for number, ply in actions.begun:
            game = self._pending(session, number, ply)
            turns += game is not None
            if game is not None and not game.own_control(session.player).cpu:
                game.arbiter.ask(moment)
                self._games.hasten((game,))
        cpu_us = {}
        for each in actions.measured:
            game = self._pending(session, each.game, each.ply)
            if game is not None:
                self._take_measure(session, game, each, moment)
                turns += 1
                cpu_us[each.game, each.ply] = each.cpu_us
        plays = [
            (number, ply, cell, _measured_analysis(analysis, cpu_us.get((number, ply))), 0)
            for number, ply, cell, analysis, _ in actions.plays
        ]
        return actions._replace(plays=plays), turns

    def _pending(self, session: Session, number: int, ply: int) -> LiveGame | None:
        """The game in which a turn of the bot is pending at a ply, if there is one."""
        game = session.games.get(number)
        if game is None or not session.plays(game) or game.arbiter.board.ply != ply:
            return None
        return game if game.arbiter.seat_to_act is game.seat(session.player) else None

    def _take_measure(
        self, session: Session, game: LiveGame, measured: Measured, moment: Moment
    ) -> None:
        wall_ns, cpu_ns = measured.wall_us * 1000, measured.cpu_us * 1000
        is_cpu = game.own_control(session.player).cpu
        charged_ns = cpu_charge(wall_ns, cpu_ns) if is_cpu else wall_ns
        seat = game.seat(session.player)
        game.arbiter.measure(seat, measured.ply, moment, wall_ns=wall_ns, charged_ns=charged_ns)
        if measured.is_overstepped:
            self._games.hasten((game,))

    def _end_games(self, session: Session, actions: Actions, moment: Moment) -> None:
        failed = ((failure.game, failure) for failure in actions.failures)
        for number, failure in itertools.chain(((each, None) for each in actions.resigns), failed):
            if session.closed.done():
                return
            game = self._find(session, number, 0, moment)
            if game is None:
                continue
            if failure is None:
                game.arbiter.resign(game.seat(session.player))
            else:
                self._fail(session, game, failure)
            self._games.end(game)

    def _take_evaluations(
        self, session: Session, evaluations: Iterable[Evaluation], moment: Moment
    ) -> None:
        """Hand on what the bot has found outside of games."""
        for found in evaluations:
            if session.closed.done():
                return
            if not session.evaluations.answer(found):
                reason = NoticeReason.UNKNOWN_EVALUATION
                detail = f"no evaluation {found.number} waits for an answer"
                self._tell(session, Notice(0, 0, reason, detail, found.number), moment)

    def say_goodbye(self, session: Session) -> None:
        """The bot leaves for good: it resigns its running games."""
        for game in list(session.games.values()):
            if session.plays(game):
                game.arbiter.resign(game.seat(session.player))
                self._games.end(game)

    def _fail(self, session: Session, game: LiveGame, failure: Failure) -> None:
        """End a game that a bot can't go on with: void while its supplier may fail once more."""
        message = plain_text(failure.message[:MAX_FAILURE])
        if failure.is_suppliers and session.player.supplier_failures.take(datetime.now(UTC)):
            game.void_for(session.version_id, Party.SUPPLIER, message)
        else:
            game.arbiter.fail(game.seat(session.player), message)
        if failure.traceback:
            traceback = plain_lines(failure.traceback[-MAX_TRACEBACK:])
            game.arbiter.add_evidence(traceback=traceback)

    def _find(self, session: Session, number: int, ply: int, moment: Moment) -> LiveGame | None:
        game = session.games.get(number)
        if game is None or not session.plays(game):
            detail = f"you play no game {number}"
            self._tell(session, Notice(number, ply, NoticeReason.UNKNOWN_GAME, detail), moment)
            return None
        return game

    def _judge_plays(
        self, session: Session, plays: Iterable[Play], moment: Moment
    ) -> Iterator[tuple[LiveGame, int, int]]:
        """Judge moves, and yield those after which a game goes on, with their plies and cells.

        The one loop that every move takes: what it needs is looked up once.
        """
        player, lag_ns = session.player, session.lag_ns
        first, second = Seat.FIRST, Seat.SECOND
        find = session.games.get
        for number, ply, cell, analysis, thinking_us in plays:
            game = find(number)
            if game is None:
                self._find(session, number, ply, moment)
                if session.closed.done():
                    return
                continue
            arbiter = game.arbiter
            seat = first if game.first is player else second
            result = arbiter.play(seat, ply, cell, moment, lag_ns, thinking_us=thinking_us)
            if result is not ACCEPTED:
                self._put_off(session, game, ply, result, moment=moment, analysis=analysis)
                if session.closed.done():
                    return
                continue
            if arbiter.outcome is not None:
                self._end_by(game, ply, analysis)
                continue
            if game.adjudicator is not None and game.adjudicate(seat, ply, analysis):
                self._end_by(game, ply, analysis)
                continue
            game.is_uncommitted = True
            yield game, ply, cell
            if analysis is not None:
                self._keep_analysis(game, ply, analysis)

    def _judge_openings(
        self, session: Session, plays: Iterable[OpeningPlay], moment: Moment
    ) -> None:
        for number, ply, action, thinking_us in plays:
            if session.closed.done():
                return
            game = self._find(session, number, ply, moment)
            if game is None:
                continue
            seat = game.seat(session.player)
            result = game.arbiter.act(
                seat, ply, action, moment, session.lag_ns, thinking_us=thinking_us
            )
            if result is not ACCEPTED:
                self._put_off(session, game, ply, result, moment=moment, analysis=None)
            else:
                self._go_on(game, ply, action)

    def _go_on(
        self, game: LiveGame, ply: int, action: Action | None, analysis: Analysis | None = None
    ) -> None:
        """Have an action committed after which a game goes on, or the end that it has led to."""
        if game.arbiter.outcome is not None:
            self._end_by(game, ply, analysis)
            return
        assert action is not None
        game.is_uncommitted = True
        if isinstance(action, int):
            self._journal.add_moves([(game, ply, action)])
        else:
            game.uncommitted_stones = len(action.cells) if isinstance(action, Placement) else 0
            self._journal.add_action(game, ply, action)
        if analysis is not None:
            self._keep_analysis(game, ply, analysis)

    def receive_pong(self, session: Session, sequence: int) -> None:
        """Decide the games whose flag has waited for this ping's answer."""
        moment = self.hear(session)
        round_trip_ns, games = session.pong(sequence, moment)
        for game in games:
            self._decide(game, moment, round_trip_ns)

    def _decide(self, game: LiveGame, moment: Moment, round_trip_ns: int) -> None:
        """Have the flag fall, or a move that was held take its place."""
        arbiter, ply = game.arbiter, game.arbiter.board.ply
        if not arbiter.is_flag_up:
            return
        turn, held, seat = arbiter.turn, arbiter.held, arbiter.seat_to_act
        arbiter.decide(moment, round_trip_ns, carried_ns=self._watch.carried_ns)
        analysis, game.held_analysis = game.held_analysis, None
        if game.adjudicator is not None and arbiter.outcome is None and arbiter.board.ply > ply:
            game.adjudicate(seat, ply, analysis)
        if arbiter.turn > turn or arbiter.outcome is not None:
            self._go_on(game, ply, held, analysis)

    def _end_by(self, game: LiveGame, ply: int, analysis: Analysis | None) -> None:
        """End a game by its last move, which is stored with the game alone."""
        if not game.final_outcome.ending.is_forfeit:
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
        *,
        moment: Moment,
        analysis: Analysis | None,
    ) -> None:
        """A move has no effect, or none yet."""
        if result is ActionResult.HELD:
            game.held_analysis = analysis
            session.probe(game)
            self._games.hasten((game,))
            return
        reason, detail = NoticeReason.NOT_YOUR_TURN, "it is the opponent's turn"
        if result is ActionResult.NOT_ASKED:
            reason = NoticeReason.NOT_ASKED
            task = game.arbiter.task
            asked = "stones are placed one by one" if task is None else f"the task is to {task}"
            detail = f"that is not asked for at ply {ply}: {asked}"
        elif result is not ActionResult.NOT_YOUR_TURN:
            current = game.arbiter.board.ply
            reason = NoticeReason.STALE_PLY
            detail = f"ply {ply} is not the pending turn; the game is at ply {current}"
        self._tell(session, Notice(game.number, ply, reason, detail), moment)

    def _tell(self, session: Session, notice: Notice, moment: Moment) -> None:
        session.refuse(notice, moment.now_ns)
        self._notices[notice.reason].inc()

    def _keep_analysis(self, game: LiveGame, ply: int, analysis: Analysis) -> None:
        if game.analysis is None:
            game.analysis = {}
        game.analysis[str(ply)] = analysis
        self._journal.add_analysis(game, ply, analysis)


def _measured_analysis(analysis: Analysis | None, cpu_us: int | None) -> Analysis | None:
    """What a hosted program thought of its move, with the processor time that it took."""
    return analysis if cpu_us is None else {**(analysis or {}), CPU_US: cpu_us}
