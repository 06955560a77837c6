"""The interceptor: authentication and permissions before every method, statuses after it."""

import asyncio
import enum
import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, aclosing, nullcontext
from contextvars import ContextVar
from functools import partial
from time import monotonic_ns
from typing import Any, Final

import grpc
import structlog
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from meijin.server.api.call_counts import CallCounts
from meijin.server.api.limits import Address, Limits, SignIns, address_of
from meijin.server.errors import (
    InvalidRequestError,
    MeijinError,
    NotAllowedError,
    NotReadingError,
    UnauthenticatedError,
    UnimplementedError,
)
from meijin.store.bots import Identity
from meijin.store.schema import TokenKind

log = structlog.get_logger()

Context = grpc.aio.ServicerContext[Any, Any]


class Permission(enum.Enum):
    """A permission: who may call a method."""

    ANYONE = enum.auto()
    BOT = enum.auto()
    """A bot with its token, or any bot where registration is open."""
    ADMIN = enum.auto()
    """An operator with a token, or anyone where registration is open."""


PERMISSIONS: Final[Mapping[str, Permission]] = {
    "/meijin.v1.PlayService/Play": Permission.BOT,
    "/meijin.v1.BotService/RegisterBot": Permission.ADMIN,
    "/meijin.v1.BotService/RotateToken": Permission.ADMIN,
    "/meijin.v1.BotService/ListBots": Permission.ANYONE,
    "/meijin.v1.BotService/ListBotVersions": Permission.ANYONE,
    "/meijin.v1.TournamentService/CreateTournament": Permission.ADMIN,
    "/meijin.v1.TournamentService/CancelTournament": Permission.ADMIN,
    "/meijin.v1.TournamentService/ResumeTournament": Permission.ADMIN,
    "/meijin.v1.TournamentService/GetTournament": Permission.ANYONE,
    "/meijin.v1.TournamentService/ListTournaments": Permission.ANYONE,
    "/meijin.v1.TournamentService/WatchTournament": Permission.ANYONE,
    "/meijin.v1.GameService/GetGame": Permission.ANYONE,
    "/meijin.v1.GameService/ListGames": Permission.ANYONE,
    "/meijin.v1.GameService/WatchGame": Permission.ANYONE,
    "/meijin.v1.GameService/ExportGame": Permission.ANYONE,
    "/meijin.v1.GameService/VoidGame": Permission.ADMIN,
    "/meijin.v1.LadderService/ListLadders": Permission.ANYONE,
    "/meijin.v1.LadderService/GetStandings": Permission.ANYONE,
    "/meijin.v1.LadderService/GetMatrix": Permission.ANYONE,
    "/meijin.v1.LadderService/SetAnchors": Permission.ADMIN,
    "/meijin.v1.LadderService/ListRatings": Permission.ANYONE,
    "/meijin.v1.LadderService/GetHeadToHead": Permission.ANYONE,
    "/meijin.v1.FaultService/ListFaults": Permission.ANYONE,
    "/meijin.v1.StatusService/GetStatus": Permission.ADMIN,
    "/grpc.health.v1.Health/Check": Permission.ANYONE,
    "/grpc.health.v1.Health/List": Permission.ANYONE,
    "/grpc.health.v1.Health/Watch": Permission.ANYONE,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Permission.ANYONE,
}
"""Every method of the server; one that is not here can't be called."""

UNLIMITED = "/grpc.health.v1.Health/Check"
"""The one method that is always answered, since others decide by it; it costs nothing."""

caller: ContextVar[Identity | None] = ContextVar("caller", default=None)
"""Who makes the call; ``None`` without a token."""

authentication_ns: ContextVar[int] = ContextVar("authentication_ns", default=0)
"""How many nanoseconds it took to find that out."""

MAX_WORDS = 500
"""Characters of an error's sentence: a call's trailer holds 8 KB, and a request may be quoted."""

Authenticate = Callable[[str], Awaitable[Identity | None]]


class Undecodable:
    """An undecodable message: it is read as this, so that its sender gets an answer."""

    def __init__(self, error: DecodeError) -> None:
        self.error = error


class Interceptor(grpc.aio.ServerInterceptor):
    """Limits and authenticates every call, and turns every exception into a status.

    A `MeijinError` becomes its own code with one `ErrorInfo`; any other exception is
    logged under an incident's number, which is all that the caller hears of it.
    """

    def __init__(self, authenticate: Authenticate, limits: Limits, *, is_open: bool) -> None:
        self.counts = CallCounts()
        self._sign_ins = SignIns(authenticate, limits.failed_sign_ins, limits.clock)
        self._limits = limits
        self._is_open = is_open

    async def intercept_service(
        self,
        continuation: Callable[[Any], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - grpc's handlers are untyped
        """Wrap the method's handler."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        header = str(dict(handler_call_details.invocation_metadata or ()).get("authorization", ""))

        async def call(request: Any, context: Context) -> Any:  # noqa: ANN401 - any message
            return await self._serve(handler, method, header, request, context)

        return _rebuilt(handler, call)

    async def _serve(
        self,
        handler: Any,  # noqa: ANN401 - see above
        method: str,
        header: str,
        request: Any,  # noqa: ANN401 - any message
        context: Context,
    ) -> Any:  # noqa: ANN401 - any message
        """Answer a call, or refuse it."""
        with ExitStack() as places:  # held until the peer has read how the call ended
            is_unary = handler.unary_unary is not None
            end = places.enter_context(self.counts.count(method, is_unary=is_unary))
            arrival_ns = monotonic_ns()
            try:
                address = address_of(context.peer())
                places.enter_context(self._place(handler, method, address))
                if handler.unary_unary and method != UNLIMITED:  # first: a refusal costs as much
                    is_change = PERMISSIONS.get(method) is Permission.ADMIN
                    await self._limits.turn(address, is_change=is_change)
                identity = await self._identify(address, header)
                self._check(PERMISSIONS.get(method), identity)
                caller.set(identity)
                authentication_ns.set(monotonic_ns() - arrival_ns)
                check_decoded(request)
                if handler.unary_unary:
                    serve = partial(handler.unary_unary, request, context)
                    return await self._answer(method, address, serve)
                await self._stream(_behavior(handler), request, context)
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
        handler: Any,  # noqa: ANN401 - see above
        method: str,
        address: Address,
    ) -> AbstractContextManager[None]:
        """The place of a stream among those of its address; a unary call needs none."""
        if handler.unary_unary:
            return nullcontext()
        is_bot = PERMISSIONS.get(method) is Permission.BOT
        return (self._limits.streams if is_bot else self._limits.watchers).hold(address)

    async def _answer(
        self, method: str, address: Address, serve: Callable[[], Awaitable[Any]]
    ) -> Any:  # noqa: ANN401 - any message
        """Do what was asked to its end, though the caller may leave: half of it helps nobody."""
        if PERMISSIONS[method] is Permission.ANYONE and method != UNLIMITED:
            return await asyncio.shield(self._limits.served(address, serve))
        return await asyncio.shield(serve())

    async def _stream(
        self,
        behavior: Any,  # noqa: ANN401 - see above
        request: Any,  # noqa: ANN401 - any message
        context: Context,
    ) -> None:
        """Have a stream served, whose peer has to read what is written."""
        if not inspect.isasyncgenfunction(behavior):
            await behavior(request, context)
            return
        # On its own: an abort while the first write is under way would send it again, and hang.
        await context.send_initial_metadata(())
        async with aclosing(behavior(request, context)) as responses:
            async for response in responses:
                await self._write(response, context)

    async def _write(self, response: Any, context: Context) -> None:  # noqa: ANN401 - any message
        limit = self._limits.write_timeout.total_seconds()
        try:
            async with asyncio.timeout(limit):
                await context.write(response)
        except TimeoutError:
            raise NotReadingError(f"nothing was read for {limit:g} s") from None

    async def _identify(self, address: Address, header: str) -> Identity | None:
        if not header:
            return None
        kind, _, token = header.partition(" ")
        # What is no token of ours is looked up like one: it counts as a wrong one.
        identity = await self._sign_ins.identity(address, token if kind == "Bearer" else "")
        if identity is None:
            raise UnauthenticatedError("missing or unknown token")
        return identity

    def _check(self, permission: Permission | None, identity: Identity | None) -> None:
        if permission is None:
            raise NotAllowedError("this method can't be called")
        if permission is Permission.ANYONE:
            return
        if self._is_open and (identity is None or permission is Permission.ADMIN):
            return
        if identity is None:
            raise UnauthenticatedError("missing or unknown token")
        wanted = TokenKind.BOT if permission is Permission.BOT else TokenKind.ADMIN
        if identity.kind is not wanted:
            raise NotAllowedError(f"this needs a token of kind {wanted.value}")


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


def _tolerant(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def deserialize(data: bytes) -> Any:  # noqa: ANN401 - any message
        try:
            return parse(data)
        except DecodeError as error:
            return Undecodable(error)

    return deserialize


def check_decoded(request: object) -> None:
    """Accept a request that could be decoded.

    Raises:
        InvalidRequestError: it could not.
    """
    if isinstance(request, Undecodable):
        raise InvalidRequestError("the message can't be decoded; is it of meijin.v1?")


def _refusal(error: Exception) -> MeijinError:
    """What the caller hears of an exception."""
    if isinstance(error, MeijinError):
        return error
    if isinstance(error, NotImplementedError):
        return UnimplementedError("this server does not have the method")
    incident = secrets.token_hex(4)
    log.error("incident", incident=incident, exc_info=error)
    return MeijinError(f"internal error, incident {incident}")


def _behavior(handler: Any) -> Any:  # noqa: ANN401 - see Interceptor
    return (
        handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    )


def _rebuilt(handler: Any, behavior: Any) -> Any:  # noqa: ANN401 - see Interceptor
    makers = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make = makers[handler.request_streaming, handler.response_streaming]
    return make(
        behavior,
        request_deserializer=_tolerant(handler.request_deserializer),
        response_serializer=handler.response_serializer,
    )
