"""A collector of OpenTelemetry's traces on loopback."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(TraceServiceServicer):
    """Takes spans, decoded from what came over the network."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[ExportTraceServiceRequest] = []
        self.is_open = threading.Event()
        """Clear it to have senders wait for their answers."""
        self.is_open.set()
        self.asked = threading.Event()
        """Somebody has sent something."""

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> Any:  # noqa: ARG002, N802 - gRPC's
        self.asked.set()
        self.is_open.wait()
        self.requests.append(request)
        return ExportTraceServiceResponse()

    @property
    def spans(self) -> list[Span]:
        """All that has come, in the order of their sending."""
        return [
            span
            for request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[object]:
        return {
            values(resource.resource.attributes)["service.name"]
            for request in list(self.requests)
            for resource in request.resource_spans
        }

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


def values(attributes: Any) -> dict[str, Any]:
    found: dict[str, KeyValue] = {each.key: each for each in attributes}
    return {
        key: getattr(each.value, str(each.value.WhichOneof("value"))) for key, each in found.items()
    }


@contextmanager
def serve_collector() -> Iterator[Collector]:
    """A collector that listens for as long as the block lasts."""
    collector = Collector()
    with ThreadPoolExecutor(2) as threads:
        server = grpc.server(threads)
        add_TraceServiceServicer_to_server(collector, server)  # type: ignore[no-untyped-call]
        collector.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        try:
            yield collector
        finally:
            collector.is_open.set()
            server.stop(None).wait()
