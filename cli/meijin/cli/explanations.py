"""What is said of errors that end a command, where they come from below the command line."""

import os

import grpc

from meijin.bots import BotLoadError
from meijin.wire.contract import OPERATOR_TOKEN_VARIABLE, TOKEN_VARIABLE


def explain(error: Exception) -> str | None:
    """What to do about it, in a line; ``None`` where nobody expected it."""
    if isinstance(error, BotLoadError):
        return str(error)
    if not isinstance(error, grpc.RpcError):
        return None
    if not isinstance(error, grpc.Call):
        return str(error)
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return f"{error.details()}: give a token with --token or {OPERATOR_TOKEN_VARIABLE}{_hint()}"
    return str(error.details())


def _hint() -> str:
    """That a token is at hand, of a kind that this is not for."""
    return f"; {TOKEN_VARIABLE} is for bots alone" if os.environ.get(TOKEN_VARIABLE) else ""
