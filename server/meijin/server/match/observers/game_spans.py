"""The spans of games: one a game, whose trace id follows from the game's row."""

from meijin.game import Ending
from meijin.server.match.arbiter.stalls import NS_PER_SECOND
from meijin.server.match.live.listeners import Absence, Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.server.tracing.spans import (
    Attributes,
    Event,
    Span,
    Tracer,
    game_trace_id,
    nanoseconds,
    wall_clock_ns,
)
from meijin.store.schema import GameId

MAX_ABSENCES = 20
"""Of a game that are told; a bot may come and go as often as it likes."""


class GameSpans(Listener):
    """Records every game once its end is committed; a move is no part of it, a fault is an event.

    The start is the row's, so that a game which an earlier server began has its whole span.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._absences: dict[GameId, list[Event]] = {}

    def player_returned(self, absence: Absence) -> None:
        """Take note of it for the games that waited."""
        attributes = {
            "meijin.version": absence.version_id,
            "meijin.away_seconds": absence.away_ns / NS_PER_SECOND,
            "meijin.excused": absence.is_excused,
        }
        event = Event("absence", wall_clock_ns(), attributes)
        for game_id in absence.games:
            absences = self._absences.setdefault(game_id, [])
            if len(absences) < MAX_ABSENCES:
                absences.append(event)

    def game_ended(self, game: LiveGame) -> None:
        """Record it."""
        outcome = game.arbiter.outcome
        assert outcome is not None
        assert game.end_time is not None
        end_ns = nanoseconds(game.end_time)
        is_void, is_forfeit = outcome.ending is Ending.VOID, outcome.ending.is_forfeit
        events = self._absences.pop(game.id, [])
        if is_void or is_forfeit:
            fault = {"meijin.party": outcome.at_fault.value, "meijin.detail": outcome.detail}
            events.append(Event("fault", end_ns, fault))
        self._tracer.record(
            Span(
                "game",
                nanoseconds(game.start_time),
                end_ns,
                _attributes(game),
                game_trace_id(game.id, game.start_time),
                error=outcome.detail if is_void else "",
                events=events,
            )
        )


def _attributes(game: LiveGame) -> Attributes:
    outcome, variant = game.arbiter.outcome, game.run.variant
    assert outcome is not None
    return {
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
