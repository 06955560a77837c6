"""The tracer that was asked for."""

from contextlib import closing

from meijin.server.tracing.spans import NO_TRACER, Tracer


class TracingError(Exception):
    """Traces were asked for, and can't be sent from here."""


def start_tracer(url: str | None, service: str) -> "closing[Tracer]":
    """A tracer for a collector's URL, or the one that drops everything, until the block ends.

    Raises:
        TracingError: what sends them is not installed.
    """
    if url is None:
        return closing(NO_TRACER)
    try:
        from meijin.server.tracing.otlp import OtlpTracer  # noqa: PLC0415 - an extra of its own
    except ModuleNotFoundError as error:
        raise TracingError(
            f"{error.name} is not installed, which sends traces to {url}; run: "
            "pip install 'meijin[tracing]', or leave --traces out (and MEIJIN_TRACES and "
            "OTEL_EXPORTER_OTLP_ENDPOINT unset)"
        ) from None
    return closing(OtlpTracer(url, service))
