"""Why a port can't be bound, which gRPC doesn't say."""

import errno
import socket


def bind_failure(listen: str) -> str:
    """Why an address can't be listened on, in the system's words."""
    host, _, port = listen.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        family, kind, _, _, where = found[0]
        with socket.socket(family, kind) as probe:
            probe.bind(where)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return error.strerror or str(error)
    return "is another server running there?"
