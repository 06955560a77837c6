"""The spans of a ladder's runs."""

from datetime import datetime

from meijin.server.tracing.spans import Span, Tracer, nanoseconds, new_trace_id
from meijin.store.ladders.runs import NewRun


def record_run(tracer: Tracer, run: NewRun, start: datetime, end: datetime) -> None:
    """Record a run that was published: with its snapshot, from `start` to `end`."""
    if not tracer.is_on:
        return
    attributes = {
        "meijin.ladder": run.ladder_id,
        "meijin.revision": run.revision,
        "meijin.games": run.games,
        "meijin.versions": len(run.ratings),
    }
    begin_ns, end_ns = nanoseconds(start), nanoseconds(end)
    tracer.record(Span("ladder run", begin_ns, end_ns, attributes, new_trace_id()))
