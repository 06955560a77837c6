"""The spans of games, and the lines of the log that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from structlog.testing import capture_logs

from meijin.server.match.live.listeners import Absence
from meijin.server.match.observers.game_spans import MAX_ABSENCES, GameSpans
from meijin.server.tracing.spans import format_trace_id, game_trace_id, nanoseconds
from meijin.store.schema import BotVersionId, GameId
from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE

if TYPE_CHECKING:
    from tests.server.conftest import RecordingTracer, StartServer


async def test_a_game_is_one_span(start_server: StartServer, tracer: RecordingTracer) -> None:
    """From its start to its end, with the trace id that its lines in the log have."""
    with capture_logs() as logs:
        async with start_server(tracer=tracer) as server:
            black, white = await server.pair()
            (game,) = server.running
            await play_moves((black, white), FIVE)
            await black.ended()
            await server.until(lambda: tracer.named("game"))
    (span,) = tracer.named("game")
    assert game.end_time is not None
    assert (span.start_ns, span.end_ns) == tuple(map(nanoseconds, (game.start_time, game.end_time)))
    assert span.trace_id == game_trace_id(game.id, game.start_time)
    assert (span.parent, span.error, span.events) == (None, "", [])
    assert span.attributes == {
        "meijin.game": game.id,
        "meijin.tournament": game.run.id,
        "meijin.black": game.black.name,
        "meijin.white": game.white.name,
        "meijin.rule": "freestyle",
        "meijin.board": "5x5",
        "meijin.ending": "five",
        "meijin.result": "1-0",
        "meijin.plies": len(FIVE),
    }
    lines = [line for line in logs if line.get("game") == game.id]
    assert {line["trace_id"] for line in lines} == {format_trace_id(span.trace_id)}
    assert len(lines) == 2


async def test_moves_are_no_spans(start_server: StartServer, tracer: RecordingTracer) -> None:
    """What happens on the board leaves the game's span and those of commits, one a second."""
    async with start_server(tracer=tracer) as server:
        black, white = await server.pair()
        await play_moves((black, white), FIVE[:8])
        tracer.spans.clear()
        await play_moves((black, white), FIVE[8:], first=8)
        await white.ended()
        await server.until(lambda: tracer.named("game"))
        assert {span.name for span in tracer.spans} <= {"game", "commit"}
        assert len(tracer.named("game")) == 1


async def test_a_forfeit_is_an_event(start_server: StartServer, tracer: RecordingTracer) -> None:
    """With the party and what was wrong; the game itself went as it should."""
    async with start_server(tracer=tracer) as server:
        black, white = await server.pair()
        await black.play(await black.turn(), 999)
        await white.ended()
        await server.until(lambda: tracer.named("game"))
    (span,) = tracer.named("game")
    (event,) = span.events
    assert (event.name, event.attributes["meijin.party"]) == ("fault", "black")
    assert event.attributes["meijin.detail"]
    assert span.error == ""


async def test_a_void_game_is_an_error(start_server: StartServer, tracer: RecordingTracer) -> None:
    """So that it is found among all others."""
    async with start_server(tracer=tracer) as server:
        await server.pair()
        (game,) = server.running
        await server.cancel(str(game.run.id))
        await server.until(lambda: tracer.named("game"))
    (span,) = tracer.named("game")
    assert span.attributes["meijin.ending"] == "void"
    assert span.error
    assert [event.name for event in span.events] == ["fault"]


async def test_an_absence_is_an_event(start_server: StartServer, tracer: RecordingTracer) -> None:
    """Of every game that waited, and no more of them than people read."""
    async with start_server(tracer=tracer) as server:
        await server.pair()
        (game,) = server.running
        spans = next(each for each in server.parts.listeners.order if isinstance(each, GameSpans))
        absence = Absence(BotVersionId(1), 2 * 10**9, is_excused=False, games=[game.id])
        for _ in range(MAX_ABSENCES + 1):
            spans.player_returned(absence)
        await server.cancel(str(game.run.id))
        await server.until(lambda: tracer.named("game"))
    (span,) = tracer.named("game")
    assert [event.name for event in span.events] == ["absence"] * MAX_ABSENCES + ["fault"]
    assert span.events[0].attributes["meijin.away_seconds"] == 2.0
    assert spans._absences == {}


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


async def test_nothing_is_made_without_a_tracer(start_server: StartServer) -> None:
    """No listener hears of the games for traces, and no line names one."""
    with capture_logs() as logs:
        async with start_server() as server:
            await server.pair()
            order = server.parts.listeners.order
            assert not any(isinstance(each, GameSpans) for each in order)
            assert GameId(1) in server.parts.games.running
    assert not any("trace_id" in line for line in logs)
