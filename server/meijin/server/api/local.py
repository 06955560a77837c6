"""Calls of the services within the server's own process, as an interceptor would have them.

Whoever calls so, such as the pages, passes the same limits, permissions and conversions of errors
as a client that is connected, without a socket and without messages being encoded. Responses are
the servicers' own: nobody may change them.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Any, Self, cast

import grpc
from google.protobuf.message import Message
from grpc.aio import AioRpcError, Metadata

from meijin.server.api.interceptor import Context, Interceptor

Handlers = dict[str, Any]
"""By the path of a method, what answers it; gRPC's handlers are untyped."""


class Registrar:
    """Registers the services with a server, and remembers what answers their methods."""

    def __init__(self, server: grpc.aio.Server) -> None:
        self.handlers: Handlers = {}
        self.server = server

    def add_generic_rpc_handlers(self, handlers: Iterable[Any]) -> None:
        """Have the server answer the methods of a service."""
        self.server.add_generic_rpc_handlers(tuple(handlers))

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Have the server answer the methods of a service, each found by its path."""
        self.server.add_registered_method_handlers(service, handlers)
        self.handlers |= {f"/{service}/{name}": handler for name, handler in handlers.items()}


class LocalCalls:
    """The services of this process, for whoever is in it."""

    def __init__(self, interceptor: Interceptor, handlers: Handlers) -> None:
        self._interceptor = interceptor
        self._handlers = handlers

    def channel(self, host: str, token: str = "") -> grpc.aio.Channel:
        """A channel on which calls are made for somebody at an address, with a token.

        Args:
            host: An IPv4 or IPv6 address, whose limits the calls have; empty for this process.
        """
        peer = "local:" if not host else f"ipv6:[{host}]:0" if ":" in host else f"ipv4:{host}:0"
        metadata = {"authorization": f"Bearer {token}"} if token else {}
        return LocalChannel(self._interceptor, self._handlers, peer=peer, metadata=metadata)


class LocalChannel(grpc.aio.Channel):
    """A channel whose calls are answered at once, by the servicers of this process."""

    def __init__(
        self,
        interceptor: Interceptor,
        handlers: Handlers,
        *,
        peer: str,
        metadata: Mapping[str, str],
    ) -> None:
        self._interceptor = interceptor
        self._handlers = handlers
        self._peer = peer
        self._metadata = metadata

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Nothing is to be closed."""

    async def close(self, grace: float | None = None) -> None:
        """Nothing is to be closed."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - gRPC's signature
        """It is always there."""
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait for ever, unless the state was another."""
        if last_observed_state is grpc.ChannelConnectivity.READY:
            await asyncio.Event().wait()

    async def channel_ready(self) -> None:
        """It is always there."""

    def unary_unary(self, method: str, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with one request and one response."""

        async def call(request: Message, **_options: object) -> Any:  # noqa: ANN401 - any message
            return await self._serve(method, request, LocalContext(self._peer))

        return call

    def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with one request and many responses."""

        def call(request: Message, **_options: object) -> LocalStream:
            context = LocalContext(self._peer)
            return LocalStream(context, self._serve(method, request, context))

        return call

    def stream_unary(self, method: str, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """No service has a method with many requests and one response."""

        def call(*_arguments: object, **_options: object) -> Any:  # noqa: ANN401 - gRPC's signature
            raise _error(grpc.StatusCode.UNIMPLEMENTED, f"{method} can't be called from here")

        return call

    def stream_stream(self, method: str, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - gRPC's signature
        """A method with many requests and many responses."""

        def call(
            request_iterator: AsyncIterable[Message] | None = None, **_options: object
        ) -> LocalStream:
            context = LocalContext(self._peer)
            serving = self._serve(method, context.requests(), context)
            return LocalStream(context, serving, request_iterator)

        return call

    async def _serve(self, method: str, request: object, context: "LocalContext") -> Any:  # noqa: ANN401 - any message
        handler = self._handlers.get(method)
        if handler is None:
            raise _error(grpc.StatusCode.UNIMPLEMENTED, "this server does not have the method")
        known = cast("Context", context)  # what the servicers use of gRPC's
        return await self._interceptor.serve(handler, method, self._metadata, request, known)


class LocalContext:
    """What a servicer knows of a call of this process, in the form of gRPC's context."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self.sent: asyncio.Queue[Any] = asyncio.Queue(1)
        """Requests that the servicer has not read, and gRPC's mark of their end."""
        self.written: asyncio.Queue[Message] = asyncio.Queue(1)
        """Responses that the caller has not read: one, so that who does not read is noticed."""

    def peer(self) -> str:
        """Where the call comes from, in gRPC's notation."""
        return self._peer

    async def send_initial_metadata(self, metadata: object) -> None:
        """Nobody reads it."""

    async def write(self, message: Message) -> None:
        """Hand a response over, once the one before is read."""
        await self.written.put(message)

    async def read(self) -> Any:  # noqa: ANN401 - a message, or gRPC's end
        """The next request, or gRPC's mark of the end."""
        return await self.sent.get()

    async def requests(self) -> AsyncIterator[Message]:
        """The requests until their end."""
        while (request := await self.read()) is not grpc.aio.EOF:
            yield request

    async def abort_with_status(self, status: Any) -> None:  # noqa: ANN401 - gRPC's status
        """End the call with an error.

        Raises:
            AioRpcError: always, as a call by a connection does.
        """
        trailer = Metadata(*(tuple(pair) for pair in status.trailing_metadata or ()))
        raise AioRpcError(status.code, Metadata(), trailer, details=status.details)


class LocalStream:
    """A call under way: requests are written to it, and responses read, as with gRPC's own."""

    def __init__(
        self,
        context: LocalContext,
        serving: Any,  # noqa: ANN401 - a coroutine
        requests: AsyncIterable[Message] | None = None,
    ) -> None:
        self._context = context
        self._serving: asyncio.Future[Any] = asyncio.ensure_future(serving)
        self._sending = None
        if requests is not None:
            self._sending = asyncio.ensure_future(self._send(requests))
        self._serving.add_done_callback(self._stop_sending)

    def _stop_sending(self, ended: "asyncio.Future[Any]") -> None:
        if not ended.cancelled():
            ended.exception()  # whoever reads gets it; one who has left does not miss it
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self, requests: AsyncIterable[Message]) -> None:
        async for request in requests:
            await self._context.sent.put(request)
        await self.done_writing()

    async def write(self, request: Message) -> None:
        """Send a request, once the one before is read.

        Raises:
            AioRpcError: the call has ended with an error.
            asyncio.InvalidStateError: it has ended.
        """
        await self._put(request)

    async def done_writing(self) -> None:
        """Send no more requests."""
        await self._put(grpc.aio.EOF)

    async def read(self) -> Any:  # noqa: ANN401 - a message, or gRPC's end
        """The next response, or gRPC's mark of the end.

        Raises:
            AioRpcError: the call has ended with an error.
        """
        written = self._context.written
        if written.empty() and not self._serving.done():
            taking = asyncio.ensure_future(written.get())
            try:
                await asyncio.wait((taking, self._serving), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                taking.cancel()
                raise
            if taking.done():
                return taking.result()
            taking.cancel()
        if not written.empty():
            return written.get_nowait()
        await self._serving
        return grpc.aio.EOF

    async def __aiter__(self) -> AsyncIterator[Any]:
        """The responses until the call ends, which whoever stops reading cancels."""
        try:
            while (response := await self.read()) is not grpc.aio.EOF:
                yield response
        finally:
            self.cancel()

    def cancel(self) -> bool:
        """End the call; whether it was under way."""
        return self._serving.cancel()

    def done(self) -> bool:
        """Whether the call has ended."""
        return self._serving.done()

    async def _put(self, request: object) -> None:
        putting = asyncio.ensure_future(self._context.sent.put(request))
        try:
            await asyncio.wait((putting, self._serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
        if self._serving.done():
            if not self._serving.cancelled():
                self._serving.result()
            raise asyncio.InvalidStateError("the call has ended")


def _error(code: grpc.StatusCode, details: str) -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(), details=details)
