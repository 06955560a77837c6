"""The interceptor: authentication and permissions before every method, statuses after it."""

import asyncio
import enum
import inspect
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from time import monotonic_ns
from typing import Any, Final

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from meijin.server.errors import (
    InvalidRequestError,
    MeijinError,
    NotAllowedError,
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
    "/grpc.health.v1.Health/Check": Permission.ANYONE,
    "/grpc.health.v1.Health/List": Permission.ANYONE,
    "/grpc.health.v1.Health/Watch": Permission.ANYONE,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Permission.ANYONE,
}
"""Every method of the server; one that is not here can't be called."""

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
    """Authenticates every call and turns every exception into a status.

    A `MeijinError` becomes its own code with one `ErrorInfo`; any other exception is
    logged under an incident's number, which is all that the caller hears of it.
    """

    def __init__(self, authenticate: Authenticate, *, is_open: bool) -> None:
        self._authenticate = authenticate
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
        arrival_ns = monotonic_ns()
        try:
            permission = PERMISSIONS.get(handler_call_details.method)
            identity = await self._identify(handler_call_details)
            self._check(permission, identity)
        except Exception as error:  # noqa: BLE001 - the boundary
            return _refusing(handler, _refusal(error))
        return _intercepted(handler, identity, monotonic_ns() - arrival_ns)

    async def _identify(self, details: grpc.HandlerCallDetails) -> Identity | None:
        metadata = dict(details.invocation_metadata or ())
        header = str(metadata.get("authorization", ""))
        if not header:
            return None
        kind, _, token = header.partition(" ")
        identity = await self._authenticate(token) if kind == "Bearer" else None
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
    """End the call with the error's code, its sentence and its reason."""
    info = AnyMessage()
    info.Pack(error_details_pb2.ErrorInfo(reason=error.reason, domain="meijin"))
    number, _ = error.code.value
    status = status_pb2.Status(code=number, message=str(error)[:MAX_WORDS], details=[info])
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


async def _finish(behavior: Any, request: Any, context: Context) -> Any:  # noqa: ANN401 - see Interceptor
    """Do what was asked to its end, though the caller may leave: half of it helps nobody."""
    return await asyncio.shield(behavior(request, context))


def _intercepted(handler: Any, identity: Identity | None, cost_ns: int) -> Any:  # noqa: ANN401 - see Interceptor
    behavior = _behavior(handler)
    if handler.unary_unary:
        behavior = partial(_finish, behavior)

    async def call(request: Any, context: Context) -> Any:  # noqa: ANN401 - any message
        caller.set(identity)
        authentication_ns.set(cost_ns)
        try:
            check_decoded(request)
            return await behavior(request, context)
        except (grpc.aio.BaseError, grpc.RpcError):
            raise
        except Exception as error:  # noqa: BLE001 - the boundary
            await abort(context, _refusal(error))

    async def stream(request: Any, context: Context) -> AsyncIterator[Any]:  # noqa: ANN401
        caller.set(identity)
        try:
            check_decoded(request)
            async for response in behavior(request, context):
                yield response
        except (grpc.aio.BaseError, grpc.RpcError):
            raise
        except Exception as error:  # noqa: BLE001 - the boundary
            await abort(context, _refusal(error))

    return _rebuilt(handler, stream if inspect.isasyncgenfunction(behavior) else call)


def _refusing(handler: Any, error: MeijinError) -> Any:  # noqa: ANN401 - see Interceptor
    async def refuse(_request: Any, context: Context) -> None:  # noqa: ANN401 - any message
        await abort(context, error)

    return _rebuilt(handler, refuse)


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
