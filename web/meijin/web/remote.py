"""A server elsewhere: its services by gRPC, for pages that are served by a process apart."""

from collections.abc import Callable
from typing import Any, Self

import grpc

from meijin.web.gateway import Visitor


class RemoteGateway:
    """The services at the other end of a connection, which all visitors share.

    The server sees the process of the pages as one peer: its limits by address hold for all
    visitors together.
    """

    def __init__(self, connection: grpc.aio.Channel) -> None:
        self._connection = connection

    def channel(self, visitor: Visitor) -> grpc.aio.Channel:
        """A channel that shows the visitor's token."""
        if not visitor.token:
            return self._connection
        return _SignedIn(self._connection, visitor.token)


class _SignedIn(grpc.aio.Channel):
    """A connection on which every call shows a token."""

    def __init__(self, connection: grpc.aio.Channel, token: str) -> None:
        self._connection = connection
        self._metadata = (("authorization", f"Bearer {token}"),)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Leave the connection open: it is shared."""

    async def close(self, grace: float | None = None) -> None:
        """Leave the connection open: it is shared."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - gRPC's signature
        """The connection's."""
        return self._connection.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait for the connection's state to change."""
        await self._connection.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait for the connection."""
        await self._connection.channel_ready()

    def unary_unary(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with one request and one response."""
        return self._with_token(self._connection.unary_unary(*arguments, **options))

    def unary_stream(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with one request and many responses."""
        return self._with_token(self._connection.unary_stream(*arguments, **options))

    def stream_unary(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with many requests and one response."""
        return self._with_token(self._connection.stream_unary(*arguments, **options))

    def stream_stream(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with many requests and many responses."""
        return self._with_token(self._connection.stream_stream(*arguments, **options))

    def _with_token(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - gRPC's signature
            return method(*arguments, **{"metadata": self._metadata, **options})

        return call
