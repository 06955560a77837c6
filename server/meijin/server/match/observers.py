"""Listeners that only observe: how many games end, the log of games, and their spans."""

import logging
from time import time_ns

import structlog

from meijin.game import Ending
from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.match.live.listeners import Absence, Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.stalls import RollingTotal, StallWatch
from meijin.server.tracing.spans import (
    NO_TRACER,
    Attributes,
    Span,
    SpanEvent,
    Tracer,
    format_trace_id,
    game_trace_id,
    nanoseconds,
)
from meijin.store.schema import GameId

HOUR = 60
DAY = 24 * HOUR


class GameRate(Listener):
    """Counts the ends of games, void ones left out, for a day."""

    def __init__(self, watch: StallWatch) -> None:
        self._watch = watch
        self._ended = RollingTotal(DAY)

    def game_ended(self, game: LiveGame) -> None:
        if game.final_outcome.ending is not Ending.VOID:
            self._ended.add(1, self._watch.moment().now_ns)

    def games(self, minutes: int) -> int:
        """How many have ended in the last N minutes, at most a day's."""
        return self._ended.total(minutes, self._watch.moment().now_ns)


log = structlog.get_logger()


class GameLog(Listener):
    """Logs games once what happened is committed.

    Forfeits and void games stand out. The others are for debugging: a busy server ends some
    thousand games a second, and a line for each would take a tenth of its time. With traces, a
    line has the id of the game's.
    """

    def __init__(self, tracer: Tracer = NO_TRACER) -> None:
        self._has_traces = tracer.is_on

    def game_started(self, game: LiveGame) -> None:
        self._tell(logging.DEBUG, "game started", game)

    def game_ended(self, game: LiveGame) -> None:
        outcome = game.final_outcome
        if outcome.ending is not Ending.VOID and not outcome.ending.is_forfeit:
            self._tell(logging.DEBUG, "game ended", game, outcome=str(outcome))
            return
        is_void = outcome.ending is Ending.VOID
        self._tell(
            logging.WARNING if is_void else logging.INFO,
            "game voided" if is_void else "game forfeited",
            game,
            ending=outcome.ending.value,
            party=outcome.at_fault.value,
            detail=outcome.detail,
            ply=game.arbiter.board.ply,
        )

    def _tell(self, level: int, event: str, game: LiveGame, **more: object) -> None:
        if self._has_traces:
            more["trace_id"] = format_trace_id(game_trace_id(game.id, game.start_time))
        log.log(
            level,
            event,
            game=game.id,
            tournament=game.run.id,
            black=game.black.name,
            white=game.white.name,
            **more,
        )


MAX_ABSENCES = 20
"""Of a game that are told; a bot may come and go as often as it likes."""


class GameSpans(Listener):
    """Records every game once its end is committed; a move is no part of it, a fault is an event.

    The start is the row's, so that a game which an earlier server began has its whole span.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._absences: dict[GameId, list[SpanEvent]] = {}

    def player_returned(self, absence: Absence) -> None:
        attributes = {
            "meijin.version": absence.version_id,
            "meijin.away_seconds": absence.away_ns / NS_PER_SECOND,
            "meijin.excused": absence.is_excused,
        }
        event = SpanEvent("absence", time_ns(), attributes)
        for game_id in absence.games:
            absences = self._absences.setdefault(game_id, [])
            if len(absences) < MAX_ABSENCES:
                absences.append(event)

    def game_ended(self, game: LiveGame) -> None:
        outcome, variant = game.final_outcome, game.run.row.variant
        assert game.end_time is not None
        end_ns, is_void = nanoseconds(game.end_time), outcome.ending is Ending.VOID
        events = self._absences.pop(game.id, [])
        if is_void or outcome.ending.is_forfeit:
            fault = {"meijin.party": outcome.at_fault.value, "meijin.detail": outcome.detail}
            events.append(SpanEvent("fault", end_ns, fault))
        attributes: Attributes = {
            "meijin.game": game.id,
            "meijin.tournament": game.run.id,
            "meijin.black": game.black.name,
            "meijin.white": game.white.name,
            "meijin.rule": variant.rule.name,
            "meijin.board": f"{variant.width}x{variant.height}",
            "meijin.ending": outcome.ending.value,
            "meijin.result": outcome.result.value,
            "meijin.plies": game.arbiter.board.ply,
        }
        self._tracer.record(
            Span(
                "game",
                nanoseconds(game.start_time),
                end_ns,
                attributes,
                game_trace_id(game.id, game.start_time),
                error=outcome.detail if is_void else "",
                events=events,
            )
        )
