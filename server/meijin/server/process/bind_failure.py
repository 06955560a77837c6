"""Why a port can't be bound, which gRPC doesn't say, or in a line of its own."""

import errno
import socket

from meijin.wire.contract import UNIX_SCHEME

IN_USE = "is another server running there?"


def check_port(listen: str) -> None:
    """See that nobody listens on an address yet, before anything is made for a server.

    Raises:
        OSError: somebody does.
    """
    if listen.startswith(UNIX_SCHEME):
        return
    error = _bind_error(listen)
    if error is not None and error.errno == errno.EADDRINUSE:
        raise OSError(f"can't listen on {listen}: {IN_USE}")


def bind_failure(listen: str) -> str:
    """Why an address can't be listened on, in the system's words."""
    error = _bind_error(listen)
    if error is None or error.errno == errno.EADDRINUSE:
        return IN_USE
    return error.strerror or str(error)


def _bind_error(listen: str) -> OSError | None:
    """What the system says to a socket there; gRPC's takes up a port whose connections linger."""
    host, _, port = listen.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        family, kind, _, _, where = found[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        return error
    return None
