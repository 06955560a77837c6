"""A disk that takes nothing more, under a server that has nothing to store."""

from __future__ import annotations

import resource
from functools import partial
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from tests.system.processes import Server, eventually

if TYPE_CHECKING:
    from tests.system.processes import Processes

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING

ONE_PAGE = 4096
"""No file may grow beyond it: the database's log of one page is larger, the server's is smaller."""


def test_health_tells_of_a_full_disk_before_anybody_needs_it(processes: Processes) -> None:
    """Nothing more is stored: the server says so at rest, and when it stores again."""
    server = Server(processes, "--open")
    pid = server.process.pid
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    with grpc.insecure_channel(server.address) as channel:
        check = HealthStub(channel).Check  # type: ignore[attr-defined]  # its stub omits it

        def says(state: int) -> bool:
            answer: HealthCheckResponse = check(HealthCheckRequest())
            return answer.status == state

        assert says(SERVING)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (ONE_PAGE, unlimited[1]))
        eventually(partial(says, NOT_SERVING))
        assert server.process.has_said("the database fails; games wait")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        eventually(partial(says, SERVING))
    assert server.process.stop() == 0
