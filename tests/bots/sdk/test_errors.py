"""What goes wrong between a bot and the arena."""

import grpc
import pytest

from meijin.bots import ArenaError, RefusedError
from meijin.bots.sdk.errors import refusal

FATAL = {"UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT"} | {
    "ABORTED",
    "UNIMPLEMENTED",
}


@pytest.mark.parametrize("code", grpc.StatusCode)
def test_fatal_codes(code: grpc.StatusCode) -> None:
    """Six codes can't be helped by trying again; all but one, whose words the server has, advise."""
    error = refusal(code, "")
    assert (error is not None) == (code.name in FATAL)
    if error is not None:
        assert isinstance(error, RefusedError)
        assert isinstance(error, ArenaError)
        assert str(error) == f"{code.name}: {error.advice}".removesuffix(": ")
        assert bool(error.advice) == (code is not grpc.StatusCode.PERMISSION_DENIED)
