"""The standard health service: whether the server as a whole, or one of its services, serves."""

import asyncio
from collections.abc import AsyncIterator, Collection

from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthServicer as HealthServicerBase

from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import NotFoundError
from meijin.server.match.live.store_watch import StoreWatch


class HealthServicer(HealthServicerBase):
    """Answers for the services by their names, and for the whole server by the empty one.

    A peer that follows them and does not read holds nobody up, as it would in gRPC's own
    servicer, which writes to it under a lock.
    """

    def __init__(
        self, store_watch: StoreWatch, *, storing: Collection[str], other: Collection[str]
    ) -> None:
        """`storing` are the services that need the store, `other` those that need nothing."""
        self._store_watch = store_watch
        self._storing = frozenset(("", *storing))
        self._other = frozenset(other)
        self._is_stopping = False
        self._changed = asyncio.Event()

    def stop(self) -> None:
        """Serve nothing any more: the server drains."""
        self._is_stopping = True
        self._tell()

    async def run(self) -> None:
        """Tell those who follow whenever the store goes or comes back, forever."""
        while True:
            await self._store_watch.changed.wait()
            self._store_watch.changed.clear()
            self._tell()

    async def Check(self, request: HealthCheckRequest, context: Context) -> HealthCheckResponse:
        state = self._state(request.service)
        if state == HealthCheckResponse.SERVICE_UNKNOWN:
            raise NotFoundError(f'no service "{request.service}"')
        return HealthCheckResponse(status=state)

    async def Watch(
        self, request: HealthCheckRequest, context: Context
    ) -> AsyncIterator[HealthCheckResponse]:
        """Tell whether a service serves, now and whenever that changes."""
        told = None
        while True:
            changed, state = self._changed, self._state(request.service)
            if state != told:
                yield HealthCheckResponse(status=state)
                told = state
            else:
                await changed.wait()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _state(self, service: str) -> int:
        if service not in self._storing and service not in self._other:
            return HealthCheckResponse.SERVICE_UNKNOWN
        is_away = service in self._storing and self._store_watch.is_away
        if self._is_stopping or is_away:
            return HealthCheckResponse.NOT_SERVING
        return HealthCheckResponse.SERVING
