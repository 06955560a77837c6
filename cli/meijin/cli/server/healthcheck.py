"""`meijin healthcheck`, for containers and load balancers."""

from meijin.cli.errors import CommandError
from meijin.local.connection import SERVING, Connection


def healthcheck(connection: Connection) -> None:
    """Ask whether a server serves: the exit status is 0 if so, and 1 if not; it needs no token.

    It calls the standard health service of gRPC.
    """
    if connection.ask(connection.check_health, b"") != SERVING:
        raise CommandError(f"the server at {connection.server.address} does not serve now")
