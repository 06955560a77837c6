"""Calls of the services within the server's own process, as an interceptor would have them.

Whoever calls so, such as the pages, passes the same limits, permissions and conversions of errors
as a client that is connected, without a socket and without messages being encoded. Responses are
the servicers' own: nobody may change them.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from typing import Any, TypeVar, cast

import grpc
from google.protobuf.message import Message
from grpc.aio import AioRpcError, Metadata

from meijin.server.api.calls.interceptor import Context, Handler, Interceptor, Untyped

T = TypeVar("T")

Handlers = dict[str, Handler]
"""By the path of a method."""


class Registrar:
    """Registers the services with a server, and remembers what answers their methods."""

    def __init__(self, server: grpc.aio.Server) -> None:
        self.handlers: Handlers = {}
        self.server = server

    def add_generic_rpc_handlers(self, handlers: Iterable[Any]) -> None:
        self.server.add_generic_rpc_handlers(tuple(handlers))

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Have the server answer the methods of a service, each found by its path."""
        self.server.add_registered_method_handlers(service, handlers)
        self.handlers |= {f"/{service}/{name}": handler for name, handler in handlers.items()}


class LocalCalls:
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
        channel = LocalChannel(self._interceptor, self._handlers, peer=peer, metadata=metadata)
        return cast("grpc.aio.Channel", channel)  # as far as stubs use one


class LocalChannel:
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

    def unary_unary(self, method: str, *_: object, **__: object) -> Untyped:
        async def call(request: Message, **_options: object) -> Untyped:
            return await self._serve(method, request, LocalContext(self._peer))

        return call

    def unary_stream(self, method: str, *_: object, **__: object) -> Untyped:
        def call(request: Message | None = None, **_options: object) -> LocalStream:
            context = LocalContext(self._peer)
            return LocalStream(context, self._serve(method, request, context))

        return call

    stream_stream = unary_stream
    """Its requests are written to the call, and read from the context."""

    async def _serve(self, method: str, request: object, context: "LocalContext") -> Untyped:
        handler = self._handlers.get(method)
        if handler is None:
            words = "this server does not have the method"
            raise AioRpcError(grpc.StatusCode.UNIMPLEMENTED, Metadata(), Metadata(), details=words)
        known = cast("Context", context)  # what the servicers use of gRPC's
        return await self._interceptor.serve(handler, method, self._metadata, request, known)


class LocalContext:
    """What a servicer knows of a call of this process, in the form of gRPC's context."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self.sent: asyncio.Queue[Message] = asyncio.Queue(1)
        """Requests that the servicer has not read."""
        self.written: asyncio.Queue[Message] = asyncio.Queue(1)
        """Responses that the caller has not read: one, so that who does not read is noticed."""

    def peer(self) -> str:
        return self._peer

    async def send_initial_metadata(self, metadata: object) -> None:
        """Nobody reads it."""

    async def write(self, message: Message) -> None:
        """Hand a response over, once the one before is read."""
        await self.written.put(message)

    async def read(self) -> Message:
        return await self.sent.get()

    async def abort_with_status(self, status: Untyped) -> None:
        """End the call with an error.

        Raises:
            AioRpcError: always, as a call by a connection does.
        """
        trailer = Metadata(*(tuple(pair) for pair in status.trailing_metadata or ()))
        raise AioRpcError(status.code, Metadata(), trailer, details=status.details)


class LocalStream:
    """A call under way: requests are written to it, and responses read, as with gRPC's own."""

    def __init__(self, context: LocalContext, serving: Coroutine[Any, Any, Any]) -> None:
        self._context = context
        self._serving: asyncio.Future[Any] = asyncio.ensure_future(serving)
        # Whoever reads gets what it raises; one who has left does not miss it.
        self._serving.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    async def write(self, request: Message) -> None:
        """Send a request, once the one before is read.

        Raises:
            AioRpcError: the call has ended with an error.
            asyncio.InvalidStateError: it has ended.
        """
        await self._first(self._context.sent.put(request))
        if self._serving.done():
            if not self._serving.cancelled():
                self._serving.result()
            raise asyncio.InvalidStateError("the call has ended")

    async def read(self) -> Untyped:
        """The next response, or gRPC's mark of the end.

        Raises:
            AioRpcError: the call has ended with an error.
        """
        written = self._context.written
        if written.empty() and not self._serving.done():
            taking = await self._first(written.get())
            if taking.done() and not taking.cancelled():
                return taking.result()
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
        return self._serving.done()

    async def _first(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Wait until work is done or the call has ended; what is not done then is given up."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait((task, self._serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
        return task
