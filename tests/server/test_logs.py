"""What reaches the server's log."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from meijin.server.logs import NOISY, LogFormat, LogLevel, configure_logs, is_no_cut_off_call


@pytest.fixture(autouse=True)
def _configuration() -> Iterator[None]:
    root = logging.getLogger()
    changed = [root, *map(logging.getLogger, NOISY)]
    handlers, levels = root.handlers, [logger.level for logger in changed]
    yield
    structlog.reset_defaults()
    root.handlers = handlers
    for logger, level in zip(changed, levels, strict=True):
        logger.setLevel(level)
    logging.captureWarnings(capture=False)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_libraries_write_the_same_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON object a line with the same keys, whoever logs, and what is bound to the task."""
    configure_logs()  # what is no terminal, such as this test, gets JSON
    with structlog.contextvars.bound_contextvars(session="5e55"):
        structlog.get_logger().warning("ours", game=3)
        logging.getLogger("grpc").warning("theirs: %d", 7)
    ours, theirs = lines(capsys)
    assert ours["session"] == theirs["session"] == "5e55"
    assert (ours["event"], ours["game"]) == ("ours", 3)
    assert (theirs["event"], theirs["logger"]) == ("theirs: 7", "grpc")
    assert ours["level"] == theirs["level"] == "warning"
    assert {"timestamp"} <= ours.keys() & theirs.keys()


@pytest.mark.parametrize(
    ("level", "told"),
    [
        (LogLevel.DEBUG, ["a debug", "an info", "dramatiq", "an error"]),
        (LogLevel.INFO, ["an info", "an error"]),
        (LogLevel.ERROR, ["an error"]),
    ],
)
def test_level(capsys: pytest.CaptureFixture[str], level: LogLevel, told: list[str]) -> None:
    """Less grave lines are left out; libraries speak up only when they warn."""
    configure_logs(level, LogFormat.JSON)
    log = structlog.get_logger()
    log.debug("a debug")
    log.info("an info")
    logging.getLogger("dramatiq").info("dramatiq")
    logging.getLogger("sqlalchemy.engine").info("SELECT secrets")
    logging.getLogger("sqlalchemy.pool.impl.QueuePool").error("Error closing cursor")
    log.error("an error")
    assert [line["event"] for line in lines(capsys)] == told


@pytest.mark.parametrize("form", [LogFormat.JSON, LogFormat.TEXT])
@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("the token gmk_bot_AbC-123_xyz is odd", "AbC-123_xyz"),
        ("authorization: Bearer abcdef.ghi", "abcdef.ghi"),
        ("can't reach postgresql://meijin:hunter2@db/meijin", "hunter2"),
        ("can't reach redis://:hunter2@queue:6379/0", "hunter2"),
    ],
)
def test_secrets_are_left_out(
    capsys: pytest.CaptureFixture[str], form: LogFormat, said: str, secret: str
) -> None:
    """In an event, in a value, in a traceback, and in what libraries log."""
    configure_logs(LogLevel.INFO, form)
    log = structlog.get_logger()
    log.info(said, error=said)
    log.error("failed", exc_info=ValueError(said))
    logging.getLogger("grpc").error("failed", exc_info=ValueError(said))
    logging.getLogger("grpc").error(said)
    told = capsys.readouterr().err
    assert secret not in told
    assert told.count("...") >= 5


def test_text_of_others_cannot_rewrite_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters are written out, in values and in tracebacks."""
    configure_logs(LogLevel.INFO, LogFormat.TEXT)
    log = structlog.get_logger()
    log.info("game forfeited", detail="\x1b[2Jgone\rmeijin: fine\u202e")
    log.error("incident", exc_info=ValueError("\x1b[2Jgone"))
    told = capsys.readouterr().err
    assert "gone" in told
    assert not {"\x1b", "\r", "\u202e"} & set(told)


@pytest.mark.parametrize(
    ("error", "is_told"),
    [(asyncio.CancelledError(), False), (ValueError("odd"), True), (None, True)],
)
def test_calls_cut_off_by_the_end_of_the_loop_are_not_told(
    error: BaseException | None, *, is_told: bool
) -> None:
    """Every other failure is, and a line without one."""
    info = None if error is None else (type(error), error, None)
    record = logging.LogRecord("grpc", logging.ERROR, "server.pyx", 1, "odd", (), info)
    assert is_no_cut_off_call(record) is is_told
