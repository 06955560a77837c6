"""What reaches the server's log."""

import asyncio
import logging

import pytest

from meijin.server.logs import is_no_cut_off_call


@pytest.mark.parametrize(
    ("error", "is_told"), [(asyncio.CancelledError(), False), (ValueError("odd"), True)]
)
def test_calls_cut_off_by_the_end_of_the_loop_are_not_told(
    error: BaseException, *, is_told: bool
) -> None:
    """Every other failure is."""
    info = (type(error), error, None)
    record = logging.LogRecord("grpc", logging.ERROR, "server.pyx", 1, "odd", (), info)
    assert is_no_cut_off_call(record) is is_told


def test_messages_without_a_failure_are_told() -> None:
    """A filter that looks at failures leaves the rest alone."""
    assert is_no_cut_off_call(logging.LogRecord("grpc", logging.ERROR, "", 1, "odd", (), None))
