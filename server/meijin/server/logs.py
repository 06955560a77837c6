"""Where the server's log goes: standard error, for people or for machines."""

import asyncio
import logging
import sys

import structlog


def configure_logs() -> None:
    """Log lines for people to a terminal, one JSON object a line to anything else."""
    logging.getLogger("grpc._cython.cygrpc").addFilter(is_no_cut_off_call)
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer()
        if sys.stderr.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def is_no_cut_off_call(record: logging.LogRecord) -> bool:
    """Whether a record tells more than that a call was open when the event loop ended.

    gRPC keeps a task for each call, which may outlive its server for a moment; when the loop
    ends and cancels it, gRPC logs the cancellation as an error, with a traceback.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
