"""Where the server's log goes: standard error, for people or for machines.

The lines of libraries that use Python's own logging take the same way as ours.
"""

import asyncio
import enum
import logging
import re
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

SECRETS = (
    re.compile(r"(gmk_[a-z]+_)[\w-]+"),
    re.compile(r"(Bearer )[^\s\"']+", re.IGNORECASE),
    re.compile(r"(://[^\s:/@]*:)[^\s/@]+(?=@)"),
)
"""Tokens of ours, of others, and passwords in URLs; the group is what may be told."""

NOISY = {"sqlalchemy": logging.WARNING, "sqlalchemy.pool": logging.CRITICAL}
"""Loggers that never say more: the queries of SQLAlchemy hold what is sent, and what its pool says
of a connection that has died, with a traceback, its user hears as an error."""


class LogLevel(enum.Enum):
    """The least grave lines that are logged."""

    DEBUG = "debug"
    """Also the starts and the ends of all games."""
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def number(self) -> int:
        return logging.getLevelNamesMapping()[self.name]


class LogFormat(enum.Enum):
    AUTO = "auto"
    """For people to a terminal, JSON to anything else."""
    TEXT = "text"
    JSON = "json"


def configure_logs(level: LogLevel = LogLevel.INFO, log_format: LogFormat = LogFormat.AUTO) -> None:
    """Log to standard error, a line an event."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.format_exc_info,
        hide_secrets,
    ]
    renderer = _renderer(log_format)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level.number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    _route_standard_logs(shared, renderer, level)


def _renderer(log_format: LogFormat) -> Processor:
    is_json = log_format is LogFormat.JSON or (
        log_format is LogFormat.AUTO and not sys.stderr.isatty()
    )
    if is_json:
        return structlog.processors.JSONRenderer()
    return TextRenderer(colors=sys.stderr.isatty())


def _route_standard_logs(shared: list[Processor], renderer: Processor, level: LogLevel) -> None:
    """Have Python's own loggers write the same lines; they warn, and say more when debugging."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    least = logging.INFO if level is LogLevel.DEBUG else max(level.number, logging.WARNING)
    root.setLevel(least)
    for name, least in NOISY.items():
        logging.getLogger(name).setLevel(least)
    logging.captureWarnings(capture=True)
    logging.getLogger("grpc._cython.cygrpc").addFilter(is_no_cut_off_call)


class TextRenderer:
    """Renders a line for people; what others sent can't rewrite their screen."""

    def __init__(self, *, colors: bool) -> None:
        self._render = structlog.dev.ConsoleRenderer(colors=colors, repr_native_str=True)

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> str | bytes:
        """Render it: values as Python writes them, a traceback without control characters."""
        if exception := event.get("exception"):
            event["exception"] = "\n".join(map(_escaped, exception.split("\n")))
        event["event"] = _escaped(str(event.get("event", "")))
        return self._render(logger, name, event)


def _escaped(line: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def hide_secrets(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Replace tokens and passwords in everything that is text, with an ellipsis."""
    for key, value in event.items():
        if isinstance(value, str):
            for pattern in SECRETS:
                value = pattern.sub(r"\1...", value)  # noqa: PLW2901 - one pattern after the other
            event[key] = value
    return event


def is_no_cut_off_call(record: logging.LogRecord) -> bool:
    """Whether a record tells more than that a call was open when the event loop ended.

    gRPC keeps a task for each call, which may outlive its server for a moment; when the loop
    ends and cancels it, gRPC logs the cancellation as an error, with a traceback.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
