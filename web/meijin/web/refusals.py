"""Refusals: calls and requests that were refused, as HTTP tells of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc.aio import AioRpcError

STATUSES = {
    grpc.StatusCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.FAILED_PRECONDITION: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.OUT_OF_RANGE: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    grpc.StatusCode.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    grpc.StatusCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    grpc.StatusCode.ABORTED: HTTPStatus.CONFLICT,
    grpc.StatusCode.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    grpc.StatusCode.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    grpc.StatusCode.UNIMPLEMENTED: HTTPStatus.NOT_IMPLEMENTED,
    grpc.StatusCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
}
"""What a status of gRPC is in HTTP, by the comments of google/rpc/code.proto."""

STATUS_DETAILS = "grpc-status-details-bin"
"""The key of the trailer in which a call tells its status in full."""


class Refusal(Exception):  # noqa: N818 - it is none of the server's
    """A request that is refused, in one sentence for people."""

    def __init__(
        self, status: HTTPStatus, message: str, *, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        """When to come back; ``None`` where nobody knows."""

    @property
    def headers(self) -> dict[str, str]:
        """When to come back, as HTTP tells it."""
        if self.retry_after is None:
            return {}
        return {"retry-after": str(max(1, round(self.retry_after.total_seconds())))}


def not_found(message: str) -> Refusal:
    return Refusal(HTTPStatus.NOT_FOUND, message)


def bad_request(message: str) -> Refusal:
    """A parameter is what it can't be."""
    return Refusal(HTTPStatus.BAD_REQUEST, message)


@contextmanager
def refusing_values() -> Iterator[None]:
    """Refuse, by its own words, what inside turns out to be a `ValueError`."""
    try:
        yield
    except ValueError as error:
        raise bad_request(str(error)) from None


def refusal_of(error: AioRpcError) -> Refusal:
    """A call's end as HTTP tells of it."""
    status = STATUSES.get(error.code(), HTTPStatus.INTERNAL_SERVER_ERROR)
    message = error.details() or error.code().name
    return Refusal(status, message, retry_after=_retry_after(status_of(error)))


def status_of(error: AioRpcError) -> status_pb2.Status:
    """The status of a call in full; of a peer that tells none, its code and its sentence."""
    number, _ = error.code().value
    plain = status_pb2.Status(code=number, message=error.details() or "")
    for key, value in error.trailing_metadata() or ():
        if key == STATUS_DETAILS and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                return plain
    return plain


def _retry_after(status: status_pb2.Status) -> timedelta | None:
    for detail in status.details:
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(retry):
            delay: timedelta = retry.retry_delay.ToTimedelta()
            return delay
    return None


def statuses() -> dict[int, str]:
    """The statuses of HTTP that calls are refused with, and the codes of gRPC behind them."""
    found: dict[int, list[str]] = {}
    for code, status in STATUSES.items():
        found.setdefault(status.value, []).append(code.name)
    found[HTTPStatus.INTERNAL_SERVER_ERROR.value] = [grpc.StatusCode.INTERNAL.name]
    return {status: ", ".join(names) for status, names in sorted(found.items())}
