"""Spans on their way to a collector that answers, and to others."""

import logging
import threading
from collections.abc import Iterator

import pytest
from tests.collector import Collector, serve_collector, values

from meijin.server.tracing.otlp import LOG_INTERVAL, LOGGERS, OtlpTracer, Seldom
from meijin.server.tracing.spans import Parent, Span, SpanEvent

QUEUE = 2048
"""How many spans OpenTelemetry's queue holds."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with serve_collector() as collector:
        yield collector


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    monkeypatch.delenv("OTEL_TRACES_SAMPLER", raising=False)


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """What a close has left behind sends nothing more, and no later test hears of it."""
    yield
    for thread in threading.enumerate():
        if thread.name == "last-spans":
            thread.join()


def send(collector: Collector, *spans: Span) -> None:
    tracer = OtlpTracer(collector.url, "meijin")
    for span in spans:
        tracer.record(span)
    tracer.close()


def test_a_span_arrives_as_it_was_recorded(collector: Collector) -> None:
    """With its trace, its times, its attributes, its events and what went wrong."""
    event = SpanEvent("fault", 1_500, {"meijin.party": "black"})
    send(collector, Span("game", 1_000, 2_000, {"meijin.game": 3}, 7, error="oh", events=[event]))
    (span,) = collector.spans
    assert (span.trace_id, span.parent_span_id) == ((7).to_bytes(16), b"")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1_000, 2_000)
    assert values(span.attributes) == {"meijin.game": 3}
    assert [(each.name, each.time_unix_nano) for each in span.events] == [("fault", 1_500)]
    assert span.status.message == "oh"
    assert collector.services == {"meijin"}


def test_a_callers_span_is_the_parent(collector: Collector) -> None:
    """Its trace goes on, if it is sampled; one that is not leaves nothing."""
    parents = [Parent(8, 9, flags) for flags in (0, 1)]
    spans = [Span("call", 1, 2, {}, 8, parent=each, is_call=True) for each in parents]
    send(collector, *spans)
    (span,) = collector.spans
    assert (span.trace_id, span.parent_span_id) == ((8).to_bytes(16), (9).to_bytes(8))


def test_the_environment_names_and_samples(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "club")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    send(collector, *(Span("game", 1, 2, {}, trace_id) for trace_id in (1, 2**64 - 1)))
    assert [int.from_bytes(span.trace_id) for span in collector.spans] == [1]
    assert collector.services == {"club"}


def test_a_collector_that_does_not_answer_is_left(collector: Collector) -> None:
    """The end waits for a second; meanwhile the queue has dropped what it had no place for."""
    collector.is_open.clear()
    tracer = OtlpTracer(collector.url, "meijin")
    for number in range(1, 3 * QUEUE):
        tracer.record(Span("game", 1, 2, {}, number))
    assert collector.asked.wait(20)
    assert len(tracer._processor._batch_processor._queue) <= QUEUE
    tracer.close()
    assert collector.requests == []


def test_a_lost_collector_costs_a_line_now_and_then() -> None:
    """One a minute, however much is lost."""
    now = 0.0
    seldom = Seldom(logging.ERROR, lambda: now)
    lost = logging.LogRecord("otel", logging.ERROR, "", 0, "lost", None, None)
    retry = logging.LogRecord("otel", logging.WARNING, "", 0, "trying again", None, None)
    assert [seldom.filter(each) for each in (retry, lost, lost)] == [False, True, False]
    now += LOG_INTERVAL.total_seconds()
    assert seldom.filter(lost)


def test_a_collector_that_is_not_there_is_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, by the logger whose lines are counted."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")  # the first try is the last
    with serve_collector() as gone:
        pass
    tracer = OtlpTracer(gone.url, "meijin")
    for number in (1, 2):
        tracer.record(Span("game", 1, 2, {}, number))
        tracer._provider.force_flush()
    tracer.close()
    told = [record.name for record in caplog.records if record.levelno >= logging.WARNING]
    assert told == [*LOGGERS][:1]
