"""The log of games: one line a start and an end, under the id that the game's row has."""

import logging

import structlog

from meijin.game import Ending
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.server.tracing.spans import NO_TRACER, Tracer, format_trace_id, game_trace_id

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
        """Log the start."""
        log.debug(
            "game started",
            game=game.id,
            tournament=game.run.id,
            black=game.black.name,
            white=game.white.name,
            **self._trace(game),
        )

    def game_ended(self, game: LiveGame) -> None:
        """Log the end."""
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID:
            self._tell(logging.WARNING, "game voided", game)
        elif outcome.ending.is_forfeit:
            self._tell(logging.INFO, "game forfeited", game)
        else:
            log.debug("game ended", game=game.id, outcome=str(outcome), **self._trace(game))

    def _tell(self, level: int, event: str, game: LiveGame) -> None:
        outcome = game.arbiter.outcome
        assert outcome is not None
        log.log(
            level,
            event,
            game=game.id,
            tournament=game.run.id,
            black=game.black.name,
            white=game.white.name,
            ending=outcome.ending.value,
            party=outcome.at_fault.value,
            detail=outcome.detail,
            ply=game.arbiter.board.ply,
            **self._trace(game),
        )

    def _trace(self, game: LiveGame) -> dict[str, str]:
        if not self._has_traces:
            return {}
        return {"trace_id": format_trace_id(game_trace_id(game.id, game.start_time))}
