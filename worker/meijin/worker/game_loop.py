"""The game loop: one game from its opening to its record, judged by the arbiter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from meijin.bots.sdk.answer import Failure, Resignation
from meijin.bots.sdk.wire import analysis_to_proto
from meijin.game import (
    Action,
    Adjudicator,
    Board,
    Clock,
    Color,
    Ending,
    Seat,
    decode_moves,
    encode_action,
    encode_moves,
)
from meijin.game.adjudication import Adjudication
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.game.arbiter.turns import ActionResult
from meijin.v1.worker_service_pb2 import LeasedGame, PlayedGame
from meijin.wire.mapping import from_message
from meijin.wire.values import outcome_to_proto, time_control_from_proto, variant_from_proto
from meijin.worker.players import GameStart, Player, Thought, Turn

NS_PER_MS = 1_000_000
GRACE_NS = 30 * NS_PER_SECOND
"""Nobody is away here; what an allowance may be at most is bounded by it."""


class GameLoop:
    """A leased game, two players, and the judge."""

    def __init__(self, leased: LeasedGame, players: Mapping[str, Player]) -> None:
        """Begin the game's record; `players` are by their names."""
        self._leased = leased
        variant = variant_from_proto(leased.variant)
        self._board = board = Board.from_moves(decode_moves(leased.opening), variant)
        self._controls = (
            time_control_from_proto(leased.black_time),
            time_control_from_proto(leased.white_time),
        )
        clock = Clock.of(*self._controls)
        self._margin_ns = leased.margin_ms * NS_PER_MS
        self._arbiter = Arbiter(board, clock, grace_ns=GRACE_NS, margin_ns=self._margin_ns)
        self._players = {
            Seat.FIRST: players[leased.black],
            Seat.SECOND: players[leased.white],
        }
        self._adjudicator = None
        if leased.HasField("adjudication"):
            self._adjudicator = Adjudicator(from_message(leased.adjudication, Adjudication))
        self._codes: list[int] = []
        self._raw_ns: list[int] = []
        self._charged_ns: list[int] = []
        self._record = PlayedGame(pairing_id=leased.pairing_id)

    def play(self) -> PlayedGame:
        """Play it to its end.

        Raises:
            PlayerError: a player can't be got ready for it.
        """
        self._get_ready()
        record, arbiter = self._record, self._arbiter
        record.start_time.GetCurrentTime()
        try:
            while arbiter.outcome is None:
                self._take_turn()
        finally:
            for player in self._players.values():
                player.end(arbiter.outcome)
        record.end_time.GetCurrentTime()
        record.actions = encode_moves(self._codes)
        record.raw_ns.extend(self._raw_ns)
        record.charged_ns.extend(self._charged_ns)
        record.outcome.CopyFrom(outcome_to_proto(arbiter.outcome))
        if arbiter.evidence:
            evidence = json.dumps(dict(arbiter.evidence), default=str, ensure_ascii=False)
            # Halves of characters, which no message carries, are escaped as JSON has them.
            record.evidence = evidence.encode(errors="backslashreplace").decode()
        return record

    def _get_ready(self) -> None:
        leased, variant = self._leased, self._board.variant
        names = (leased.black, leased.white)
        for seat, color in ((Seat.FIRST, Color.BLACK), (Seat.SECOND, Color.WHITE)):
            start = GameStart(
                leased.pairing_id,
                variant,
                self._controls[seat - 1],
                color,
                leased.opening,
                names[seat.other - 1],
            )
            self._players[seat].get_ready(start)

    def _take_turn(self) -> None:
        """Ask whose turn it is, and judge what comes, or that nothing does."""
        arbiter, board = self._arbiter, self._board
        seat, ply = arbiter.seat_to_act, board.ply
        clock = arbiter.clock
        turn = Turn(
            board,
            arbiter.position.color_of(seat),
            arbiter.task,
            clock.left_ns(seat),
            clock.left_ns(seat.other),
            clock.budget_ns(seat) + self._margin_ns,
        )
        thought = self._players[seat].think(turn)
        arbiter.ask(Moment(thought.asked_ns, 0))
        moment = Moment(thought.answered_ns, 0)
        action = thought.action
        if action is None:
            arbiter.drop_flag(moment)
            arbiter.add_evidence(**thought.evidence)
            self._add_words(thought.words)
        elif isinstance(action, Resignation):
            arbiter.resign(seat)
        elif isinstance(action, Failure):
            arbiter.fail(seat, action.message)
            arbiter.add_evidence(**thought.evidence)
        else:
            self._judge(seat, ply, action, moment)
            outcome = arbiter.outcome
            if outcome is None or not outcome.ending.is_forfeit:
                self._note(seat, ply, action, thought)
            elif outcome.ending is Ending.ILLEGAL:
                self._add_words(thought.words)

    def _add_words(self, words: str) -> None:
        """Have the outcome say what the player has said."""
        outcome = self._arbiter.outcome
        if words and outcome is not None:
            self._arbiter.outcome = replace(outcome, detail=f"{outcome.detail}; {words}")

    def _judge(self, seat: Seat, ply: int, action: Action, moment: Moment) -> None:
        arbiter = self._arbiter
        if isinstance(action, int):
            result = arbiter.play(seat, ply, action, moment, 0)
        else:
            result = arbiter.act(seat, ply, action, moment, 0)
        if result is ActionResult.HELD:
            arbiter.decide(moment, 0)
        elif result is not ActionResult.ACCEPTED:
            arbiter.fail(seat, f"it answers with {action}, which is not asked for")

    def _note(self, seat: Seat, ply: int, action: Action, thought: Thought) -> None:
        """Write an action down that was carried out, and look whether its score ends the game."""
        arbiter = self._arbiter
        charge = arbiter.credits[seat].charge
        assert charge is not None
        raw_ns, _, charged_ns = charge
        codes = encode_action(action)
        more = [0] * (len(codes) - 1)
        self._codes += codes
        self._raw_ns += (raw_ns, *more)
        self._charged_ns += (charged_ns, *more)
        analysis = thought.analysis
        if analysis is not None:
            message = analysis_to_proto(analysis)
            if message is not None:
                self._record.analyses[ply].CopyFrom(message)
        if self._adjudicator is not None and arbiter.outcome is None and arbiter.board.ply > ply:
            score = None if analysis is None else analysis.score
            outcome = self._adjudicator.note(seat, ply, score, arbiter.position)
            if outcome is not None:
                arbiter.adjudicate(outcome)
