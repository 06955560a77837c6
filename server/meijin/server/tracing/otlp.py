"""The tracer that sends spans to a collector, by OTLP over gRPC.

OpenTelemetry's SDK samples, queues and sends, and reads the ``OTEL_*`` variables that are about
that. The spans are our own: its instrumentation of gRPC breaks handlers that are coroutines.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from importlib.metadata import version
from typing import ClassVar

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SERVICE_NAME
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from meijin.server.tracing.spans import Parent, Span, Tracer

CLOSE_TIME = timedelta(seconds=1)
"""How long the last spans may take when the process ends."""

LOG_INTERVAL = timedelta(minutes=1)
"""Between two lines that say that spans are lost."""

MAX_ATTRIBUTE_LENGTH = 500
"""Characters of an attribute's value that are sent."""

LOGGERS = {
    "opentelemetry.exporter.otlp.proto.grpc.exporter": logging.ERROR,
    "opentelemetry.sdk._shared_internal": logging.WARNING,
}
"""That of the exporter, which tells when spans are lost, and that of the queue, when it is full."""


class OtlpTracer(Tracer):
    """Has spans sent by a thread of its own, from a queue that drops the oldest when it is full.

    Args:
        url: Of the collector, such as ``http://127.0.0.1:4317``.
        service: The service's name, unless the environment says another.
    """

    is_on: ClassVar[bool] = True

    def __init__(self, url: str, service: str) -> None:
        for name, level in LOGGERS.items():
            logging.getLogger(name).filters = [Seldom(level)]
        self._ids = _Ids()
        self._lock = threading.Lock()
        self._exporter = OTLPSpanExporter(endpoint=url)
        release = version("meijin")
        name = os.environ.get(OTEL_SERVICE_NAME) or service
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAME: name, SERVICE_VERSION: release}),
            id_generator=self._ids,
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_attribute_length=MAX_ATTRIBUTE_LENGTH),
        )
        self._processor = BatchSpanProcessor(self._exporter)
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("meijin", release)

    def record(self, span: Span) -> None:
        """Queue a span, if it is sampled."""
        with self._lock:
            self._ids.next_trace_id = span.trace_id
            begun = self._tracer.start_span(
                span.name,
                Context() if span.parent is None else _context(span.parent),
                kind=SpanKind.SERVER if span.is_call else SpanKind.INTERNAL,
                attributes=dict(span.attributes),
                start_time=span.start_ns,
            )
        for event in span.events:
            begun.add_event(event.name, dict(event.attributes), event.time_ns)
        if span.error:
            begun.set_status(Status(StatusCode.ERROR, span.error[:MAX_ATTRIBUTE_LENGTH]))
        begun.end(span.end_ns)

    def close(self) -> None:
        """Send what is queued; a collector that does not answer in time is left."""
        # The SDK's own waits are of 30 s, and of a try that is under way for 10.
        thread = threading.Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
        thread.start()
        thread.join(CLOSE_TIME.total_seconds())
        if thread.is_alive():
            self._exporter.shutdown()


class _Ids(RandomIdGenerator):
    """Gives a trace the id that was decided on."""

    next_trace_id = 0

    def generate_trace_id(self) -> int:
        return self.next_trace_id


class Seldom(logging.Filter):
    """Lets a line of a level or a graver one pass once in `LOG_INTERVAL`, and no other line."""

    def __init__(self, level: int, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._level = level
        self._clock = clock
        self._next = clock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < self._level or self._clock() < self._next:
            return False
        self._next = self._clock() + LOG_INTERVAL.total_seconds()
        return True


def _context(parent: Parent) -> Context:
    caller = SpanContext(
        parent.trace_id, parent.span_id, is_remote=True, trace_flags=TraceFlags(parent.flags)
    )
    return set_span_in_context(NonRecordingSpan(caller), Context())
