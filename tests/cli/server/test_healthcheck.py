from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckResponse

from meijin.cli.errors import CommandError
from meijin.cli.server.healthcheck import healthcheck
from meijin.local.connection import Server, connect
from meijin.local.errors import ArenaError


@pytest.fixture
def address(state: Any) -> Iterator[str]:
    """Where the standard service answers with a state."""
    answer = HealthCheckResponse(status=state).SerializeToString()
    check: Any = grpc.unary_unary_rpc_method_handler(lambda _request, _context: answer)
    handler = grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": check})
    server = grpc.server(ThreadPoolExecutor(1), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()


@pytest.mark.parametrize("state", [HealthCheckResponse.SERVING])
def test_a_server_that_serves(address: str) -> None:
    with connect(Server(address)) as connection:
        healthcheck(connection)


@pytest.mark.parametrize("state", [HealthCheckResponse.NOT_SERVING, HealthCheckResponse.UNKNOWN])
def test_a_server_that_does_not_serve(address: str) -> None:
    with (
        pytest.raises(CommandError, match=f"the server at {address} does not serve now"),
        connect(Server(address)) as connection,
    ):
        healthcheck(connection)


def test_no_server() -> None:
    with (
        pytest.raises(ArenaError, match="no server answers"),
        connect(Server("127.0.0.1:1")) as connection,
    ):
        healthcheck(connection)
