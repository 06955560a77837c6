"""The interceptor: authentication and permissions before every method, statuses after it."""

import asyncio
import inspect
import re
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, aclosing, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic_ns
from typing import Any, TypeAlias
from urllib.parse import unquote

import grpc
import structlog
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.last_uses import LastUses
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.permissions import PERMISSIONS, STREAMS, check_call, is_change
from meijin.server.api.calls.call_counts import CallCounts
from meijin.server.api.calls.call_spans import call_span
from meijin.server.api.calls.limits import Address, Limits, SignInThrottle, counted, peer_of
from meijin.server.errors import (
    InvalidRequestError,
    MeijinError,
    MessageTooLargeError,
    NotReadingError,
    UnauthenticatedError,
    UnimplementedError,
)
from meijin.server.settings import Settings
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store.access.tokens import Identity
from meijin.v1 import method_pb2 as pb

log = structlog.get_logger()

Context = grpc.aio.ServicerContext[Any, Any]
Handler: TypeAlias = Any
"""What answers a method, which gRPC's stubs don't type."""
Untyped: TypeAlias = Any
"""A message of any method, or what is called with it."""

UNLIMITED = "/grpc.health.v1.Health/Check"
"""The one method that is always answered, since others decide by it; it costs nothing."""

REQUEST_ID = "x-request-id"
"""The key of the metadata by which a caller may name a call, for the log and the audit log."""

MAX_PEER = 200
"""Characters of a peer's address that are kept."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")

authentication_ns: ContextVar[int] = ContextVar("authentication_ns", default=0)
"""How many nanoseconds it took to find out who makes the call."""

MAX_WORDS = 500
"""Characters of an error's sentence: a call's trailer holds 8 KB, and a request may be quoted."""

Metadata: TypeAlias = Mapping[str, str | bytes]
Authenticate = Callable[[str], Awaitable[Identity | None]]


class Undecoded:
    """A message that is none, or too large: it is read as this, so that its sender is answered."""

    def __init__(self, error: MeijinError) -> None:
        self.error = error


class Interceptor(grpc.aio.ServerInterceptor):
    """Limits and authenticates every call, and turns every exception into a status.

    A `MeijinError` becomes its own code with one `ErrorInfo`; any other exception is
    logged under an incident's number, which is all that the caller hears of it.
    """

    def __init__(
        self,
        authenticate: Authenticate,
        limits: Limits,
        *,
        settings: Settings,
        calls: OpenCalls,
        uses: LastUses,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        self.counts = CallCounts()
        self._sign_ins = SignInThrottle(authenticate, limits.failed_sign_ins, limits.clock)
        self._limits = limits
        self._settings = settings
        self._calls = calls
        self._uses = uses
        self._tracer = tracer

    async def intercept_service(
        self,
        continuation: Callable[[Any], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Untyped:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        metadata = dict(handler_call_details.invocation_metadata or ())

        async def call(request: Untyped, context: Context) -> Untyped:
            return await self.serve(handler, method, metadata, request, context)

        return _rebuilt(handler, call, self._limits.message_bytes(method))

    async def serve(
        self,
        handler: Handler,
        method: str,
        metadata: Metadata,
        request: Untyped,
        context: Context,
    ) -> Untyped:
        with ExitStack() as places:  # held until the peer has read how the call ended
            is_unary = handler.unary_unary is not None
            end = places.enter_context(self.counts.count(method, is_unary=is_unary))
            if self._tracer.is_on and is_unary and method != UNLIMITED:
                places.enter_context(call_span(self._tracer, method, metadata, end))
            arrival_ns = monotonic_ns()
            try:
                peer = peer_of(context.peer())
                places.enter_context(counted(self._limits.calling, peer))
                address = peer.address
                places.enter_context(self._place(handler, method, address))
                if _has_turns(method):  # first: a refusal costs as much
                    await self._limits.turn(address, is_change=is_change(method))
                identity = await self._identify(address, str(metadata.get("authorization", "")))
                check_call(self._settings, PERMISSIONS.get(method), identity)
                current_caller.set(_caller(identity, method, metadata, context))
                authentication_ns.set(monotonic_ns() - arrival_ns)
                check_decoded(request)
                if handler.unary_unary:
                    serve = partial(handler.unary_unary, request, context)
                    return await self._answer(method, address, serve)
                if handler.request_streaming:
                    request = self._paced(request, address)
                await self._stream(identity, _behavior(handler), request, context)
            except grpc.aio.InternalError as error:
                # The peer left while it was written to: gRPC logs what it raises with a traceback.
                raise asyncio.CancelledError from error
            except (grpc.aio.BaseError, grpc.RpcError):
                raise
            except Exception as error:  # noqa: BLE001 - the boundary
                end.refuse(refusal := _refusal(error))
                await abort(context, refusal)

    def _place(
        self,
        handler: Handler,
        method: str,
        address: Address,
    ) -> AbstractContextManager[None]:
        """The place of a stream among those of its address; a unary call needs none."""
        if handler.unary_unary:
            return nullcontext()
        is_player = PERMISSIONS.get(method) in STREAMS
        return (self._limits.streams if is_player else self._limits.watchers).hold(address)

    async def _answer(
        self, method: str, address: Address, serve: Callable[[], Awaitable[Any]]
    ) -> Untyped:
        """Do what was asked to its end, though the caller may leave: half of it helps nobody."""
        if PERMISSIONS[method] == pb.PERMISSION_READER:
            return await asyncio.shield(self._limits.served(address, serve))
        return await asyncio.shield(serve())

    async def _paced(
        self,
        requests: AsyncIterable[Any],
        address: Address,
    ) -> AsyncIterator[Any]:
        """What a stream asks: each message has its turn, as a request has.

        A bot's stream, which has limits of its own, is not read by this.
        """
        async for request in requests:
            check_decoded(request)
            await self._limits.turn(address, is_change=False)
            yield request

    async def _stream(
        self,
        identity: Identity | None,
        behavior: Untyped,
        request: Untyped,
        context: Context,
    ) -> None:
        """Have a stream served, whose peer has to read what is written."""
        if not inspect.isasyncgenfunction(behavior):
            await behavior(request, context)
            return
        # On its own: an abort while the first write is under way would send it again, and hang.
        await context.send_initial_metadata(())
        if identity is None:
            await self._write_all(behavior, request, context)
            return
        with self._calls.hold(identity.token_id) as end:
            writing = asyncio.create_task(self._write_all(behavior, request, context))
            try:
                await asyncio.wait((writing, end), return_when=asyncio.FIRST_COMPLETED)
                if end.done():
                    raise end.result()
                writing.result()
            finally:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)

    async def _write_all(
        self,
        behavior: Untyped,
        request: Untyped,
        context: Context,
    ) -> None:
        async with aclosing(behavior(request, context)) as responses:
            async for response in responses:
                await write_in_time(response, context, self._limits.write_timeout)

    async def _identify(self, address: Address, header: str) -> Identity | None:
        if not header:
            return None
        kind, _, token = header.partition(" ")
        # What is no token of ours is looked up like one: it counts as a wrong one.
        identity = await self._sign_ins.identity(address, token if kind == "Bearer" else "")
        if identity is None:
            raise UnauthenticatedError("unknown token")
        self._uses.note(identity.token_id, datetime.now(UTC))
        return identity


def _has_turns(method: str) -> bool:
    """Whether a call of a method waits for its turn; the hellos of bots have turns of their own."""
    return method != UNLIMITED and PERMISSIONS.get(method) not in STREAMS


def _caller(identity: Identity | None, method: str, metadata: Metadata, context: Context) -> Caller:
    """Who makes a call; what it calls itself is taken if that is plain."""
    given = metadata.get(REQUEST_ID, "")
    is_plain = isinstance(given, str) and _REQUEST_ID.fullmatch(given)
    request_id = str(given) if is_plain else secrets.token_hex(8)
    peer = unquote(context.peer())[:MAX_PEER]
    return Caller(identity, method, peer, request_id, datetime.now(UTC))


async def write_in_time(response: object, context: Context, limit: timedelta) -> None:
    """Write a message of a stream whose peer has to read.

    Raises:
        NotReadingError: it doesn't.
    """
    seconds = limit.total_seconds()
    try:
        async with asyncio.timeout(seconds):
            await context.write(response)
    except TimeoutError:
        raise NotReadingError(f"nothing was read for {seconds:g} s") from None


async def abort(context: Context, error: MeijinError) -> None:
    """End the call with the error's code, its sentence, its reason, and when to come back."""
    number, _ = error.code.value
    status = status_pb2.Status(code=number, message=str(error)[:MAX_WORDS])
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=error.reason, domain="meijin"))
    if error.retry_after is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromTimedelta(error.retry_after)
        status.details.add().Pack(retry)
    await context.abort_with_status(rpc_status.to_status(status))


def _tolerant(parse: Callable[[bytes], Any], most: int) -> Callable[[bytes], Any]:
    def deserialize(data: bytes) -> Untyped:
        if len(data) > most:
            words = f"the message takes {len(data)} bytes, and at most {most} are taken"
            return Undecoded(MessageTooLargeError(f"{words}; send smaller ones"))
        try:
            return parse(data)
        except DecodeError:
            words = "the message can't be decoded; is it of meijin.v1?"
            return Undecoded(InvalidRequestError(words))

    return deserialize


def check_decoded(request: object) -> None:
    """Accept a request that could be decoded.

    Raises:
        InvalidRequestError: it could not.
        MessageTooLargeError: it was not tried.
    """
    if isinstance(request, Undecoded):
        raise request.error


def _refusal(error: Exception) -> MeijinError:
    if isinstance(error, MeijinError):
        return error
    if isinstance(error, NotImplementedError):
        return UnimplementedError("this server does not have the method")
    incident = secrets.token_hex(4)
    log.error("incident", incident=incident, exc_info=error)
    return MeijinError(f"internal error, incident {incident}")


def _behavior(handler: Handler) -> Untyped:
    return (
        handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    )


def _rebuilt(handler: Handler, behavior: Untyped, most: int) -> Handler:
    makers = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make = makers[handler.request_streaming, handler.response_streaming]
    return make(
        behavior,
        request_deserializer=_tolerant(handler.request_deserializer, most),
        response_serializer=handler.response_serializer,
    )
