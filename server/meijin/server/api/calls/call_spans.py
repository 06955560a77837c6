"""The spans of calls: unary ones, and the streams of bots."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter_ns, time_ns

import grpc
import structlog

from meijin.server.access.caller import current_caller
from meijin.server.api.calls.call_counts import CallEnd
from meijin.server.errors import MeijinError
from meijin.server.match.live.session import Session
from meijin.server.tracing.spans import (
    Attributes,
    Parent,
    Span,
    Tracer,
    format_trace_id,
    new_trace_id,
    read_parent,
)

TRACEPARENT = "traceparent"
"""The key of the metadata with which a caller has the call be part of a trace of its own."""


class _Begun:
    def __init__(self, tracer: Tracer, name: str, parent: Parent | None) -> None:
        self._tracer = tracer
        self._name = name
        self._parent = parent
        self._trace_id = new_trace_id() if parent is None else parent.trace_id
        self._start_ns, self._since_ns = time_ns(), perf_counter_ns()
        # Of this call's own task: every line that it logs has it.
        structlog.contextvars.bind_contextvars(trace_id=format_trace_id(self._trace_id))

    def end(self, attributes: Attributes, error: str) -> None:
        self._tracer.record(
            Span(
                self._name,
                self._start_ns,
                self._start_ns + perf_counter_ns() - self._since_ns,
                attributes,
                self._trace_id,
                parent=self._parent,
                is_call=True,
                error=error,
            )
        )


@contextmanager
def call_span(
    tracer: Tracer, method: str, metadata: Mapping[str, str | bytes], end: CallEnd
) -> Iterator[None]:
    """The span of a unary call, which the caller may have made a part of its own trace."""
    begun = _Begun(tracer, method.removeprefix("/"), read_parent(metadata.get(TRACEPARENT)))
    code = grpc.StatusCode.CANCELLED  # unless it comes to an end
    try:
        yield
        code = end.code
    except grpc.aio.AbortError:
        code = end.code
        raise
    finally:
        service, _, name = method.removeprefix("/").partition("/")
        number, _ = code.value
        caller = current_caller.get(None)
        attributes: Attributes = {
            "rpc.system": "grpc",
            "rpc.service": service,
            "rpc.method": name,
            "rpc.grpc.status_code": number,
            "meijin.reason": end.reason,
            "meijin.request_id": "" if caller is None else caller.request_id,
        }
        begun.end(attributes, "" if code is grpc.StatusCode.OK else code.name)


@contextmanager
def session_span(tracer: Tracer, session: Session) -> Iterator[None]:
    """The span of a bot's stream, from its welcome to its end."""
    if not tracer.is_on:
        yield
        return
    begun, reason = _Begun(tracer, "session", None), ""
    try:
        yield
    except MeijinError as error:
        reason = error.reason
        raise
    finally:
        attributes: Attributes = {
            "meijin.bot": session.player.name,
            "meijin.session": session.id,
            "meijin.version": session.version_id,
            "meijin.reason": reason,
        }
        begun.end(attributes, reason)
