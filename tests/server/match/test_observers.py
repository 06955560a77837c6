"""What is told of games: lines in the log, and spans."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from structlog.testing import capture_logs
from tests.server.rows import live_game

from meijin.game import Color, Ending, Outcome, Party
from meijin.server.match.live.listeners import Absence
from meijin.server.match.observers import MAX_ABSENCES, GameLog, GameSpans
from meijin.server.tracing.spans import (
    NO_TRACER,
    format_trace_id,
    game_trace_id,
    nanoseconds,
)
from meijin.store.schema import BotVersionId

if TYPE_CHECKING:
    from tests.server.conftest import RecordingTracer, StartServer
    from tests.server_in_test import ServerInTest

    from meijin.server.match.live.live_game import LiveGame

Logs = list[Any]
HOUR = timedelta(hours=1)


@pytest.fixture
def logs() -> Iterator[Logs]:
    """What is logged, with what is bound to the task that logs it."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        yield logs


def ended(outcome: Outcome) -> LiveGame:
    game = live_game(7, 0, 5, 1)
    game.arbiter.outcome = outcome
    game.end_time = game.start_time + HOUR
    return game


FIVE = Outcome(Ending.FIVE, Color.BLACK)

FORFEIT = Outcome(Ending.ILLEGAL, Color.WHITE, Party.BLACK, "c3 is occupied")
VOID = Outcome(Ending.VOID, None, Party.OPERATOR, "cancelled")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (FIVE, "debug: game ended"),
        (FORFEIT, "info: game forfeited"),
        (VOID, "warning: game voided"),
    ],
)
def test_a_game_has_two_lines_and_a_span(
    tracer: RecordingTracer, logs: Logs, outcome: Outcome, told: str
) -> None:
    """From its start to its end, in one trace; with a fault's party, and what was wrong."""
    game, log = ended(outcome), GameLog(tracer)
    log.game_started(game)
    log.game_ended(game)
    GameSpans(tracer).game_ended(game)
    (span,) = tracer.spans
    assert span.end_ns - span.start_ns == HOUR // timedelta(microseconds=1) * 1000
    assert span.trace_id == game_trace_id(game.id, game.start_time)
    assert (span.parent, span.error) == (None, outcome.detail if outcome is VOID else "")
    assert span.attributes == {
        "meijin.game": 7,
        "meijin.tournament": 1,
        "meijin.black": "ada",
        "meijin.white": "bob",
        "meijin.rule": "freestyle",
        "meijin.board": "15x15",
        "meijin.ending": outcome.ending.value,
        "meijin.result": outcome.result.value,
        "meijin.plies": 3,
    }
    start, end = logs
    assert (start["log_level"], start["event"]) == ("debug", "game started")
    assert (start["game"], start["black"], start["white"]) == (7, "ada", "bob")
    assert f"{end['log_level']}: {end['event']}" == told
    assert start["trace_id"] == end["trace_id"] == format_trace_id(span.trace_id)
    if outcome is not FIVE:
        cause = {"party": outcome.at_fault.value, "detail": outcome.detail}
        assert end.items() >= {**cause, "ending": outcome.ending.value, "ply": 3}.items()
        assert span.events[0].attributes == {f"meijin.{name}": cause[name] for name in cause}
    assert [event.name for event in span.events] == ["fault"] * (outcome is not FIVE)


def test_absences_are_events_of_every_game_that_waited(tracer: RecordingTracer) -> None:
    """No more of them than people read, and nothing is kept of a game that has ended."""
    game, spans = ended(FIVE), GameSpans(tracer)
    absence = Absence(BotVersionId(1), 2 * 10**9, is_excused=False, games=[game.id])
    for _ in range(MAX_ABSENCES + 1):
        spans.player_returned(absence)
    spans.game_ended(game)
    spans.game_ended(game)
    first, second = tracer.spans
    assert [event.name for event in first.events] == ["absence"] * MAX_ABSENCES
    assert first.events[0].attributes["meijin.away_seconds"] == 2.0
    assert second.events == []


async def test_a_game_goes_on_in_its_trace(
    start_server: StartServer, tracer: RecordingTracer
) -> None:
    """What an earlier server began, the next one records from its first instant."""
    async with start_server(tracer=tracer) as server:
        await server.pair()
        (game,) = server.running
    assert tracer.named("game") == []
    async with start_server(tracer=tracer) as server:
        await server.cancel(str(game.run.id))
        await server.until(lambda: tracer.named("game"))
    (span,) = tracer.named("game")
    assert span.trace_id == game_trace_id(game.id, game.start_time)
    assert span.start_ns == nanoseconds(game.start_time)


def test_no_line_names_a_trace_without_a_tracer(logs: Logs) -> None:
    GameLog(NO_TRACER).game_started(live_game())
    assert "trace_id" not in logs[0]


async def test_lines_of_a_stream_have_its_session(server: ServerInTest, logs: Logs) -> None:
    """From the first to the last, and no other stream's."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    ada.call.cancel()
    await server.away("ada")
    await server.until(lambda: any(line["event"] == "bot left" for line in logs))
    of_ada = [line for line in logs if line.get("session") == ada.session_id]
    assert [line["event"] for line in of_ada] == ["bot joined", "bot left"]
    assert {line["bot"] for line in of_ada} == {"ada"}
    (of_bob,) = (line for line in logs if line.get("session") == bob.session_id)
    assert of_bob["bot"] == "bob"
