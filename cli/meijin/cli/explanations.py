"""What is said of errors that end a command, where they come from below the command line."""

import grpc

from meijin.bots import BotLoadError
from meijin.wire.contract import SERVER_VARIABLE, TOKEN_VARIABLE

EXPLANATIONS = {
    grpc.StatusCode.UNAVAILABLE: "no server answers; start one with `meijin serve`, "
    f"or say where it is with --server or {SERVER_VARIABLE}",
    grpc.StatusCode.DEADLINE_EXCEEDED: "no answer in time: the server is too busy, or something else listens there; check the address and the port",
    grpc.StatusCode.UNIMPLEMENTED: "what answers is no Meijin server, or one of another release; "
    "check the address and the port",
}
"""What to say where gRPC's own words would not help."""


def explain(error: Exception) -> str | None:
    """What to do about it, in a line; ``None`` where nobody expected it."""
    if isinstance(error, BotLoadError):
        return str(error)
    if not isinstance(error, grpc.RpcError):
        return None
    if not isinstance(error, grpc.Call):
        return str(error)
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return f"{error.details()}: give a token with --token or {TOKEN_VARIABLE}"
    return EXPLANATIONS.get(error.code(), str(error.details()))
