"""Answers: messages and refusals as JSON."""

import json
from http import HTTPStatus
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import Response

from meijin.web.cache import StoredPage
from meijin.web.refusals import STATUSES, Refusal, refusal_of, status_of

JSON = "application/json"

CODES = {
    HTTPStatus.METHOD_NOT_ALLOWED: code_pb2.UNIMPLEMENTED,
    HTTPStatus.REQUEST_TIMEOUT: code_pb2.DEADLINE_EXCEEDED,
    HTTPStatus.INTERNAL_SERVER_ERROR: code_pb2.INTERNAL,
    HTTPStatus.FORBIDDEN: code_pb2.PERMISSION_DENIED,
    HTTPStatus.NOT_FOUND: code_pb2.NOT_FOUND,
    HTTPStatus.TOO_MANY_REQUESTS: code_pb2.RESOURCE_EXHAUSTED,
    HTTPStatus.SERVICE_UNAVAILABLE: code_pb2.UNAVAILABLE,
}
"""The code of gRPC that a refusal of the API's own has; others are INVALID_ARGUMENT."""

DETAILS = error_details_pb2.DESCRIPTOR.package
"""Of the types that a status may hold, and that are known here."""


def text_of(message: Message) -> str:
    """A message in protobuf's JSON mapping: names as in the protos, and fields at their defaults."""
    value = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def error_text(error: AioRpcError | Refusal) -> str:
    """A ``google.rpc.Status`` as JSON."""
    return json.dumps(error_value(error), ensure_ascii=False)


def error_value(error: AioRpcError | Refusal) -> dict[str, Any]:
    """A ``google.rpc.Status`` in the JSON mapping, as far as its details are known here."""
    status = _status(error)
    known = [detail for detail in status.details if detail.TypeName().startswith(DETAILS)]
    del status.details[:]
    status.details.extend(known)
    value: dict[str, Any] = json_format.MessageToDict(status)
    return value


def refused(error: AioRpcError | Refusal) -> Response:
    """A refusal, with the status of HTTP that it has."""
    refusal = refusal_of(error) if isinstance(error, AioRpcError) else error
    headers = {"cache-control": "no-store"}
    if refusal.retry_after is not None:
        headers["retry-after"] = str(max(1, round(refusal.retry_after.total_seconds())))
    if refusal.status is HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    return Response(error_text(error), refusal.status, headers, JSON)


def page_answer(request: Request, page: StoredPage, control: str) -> Response:
    """A page as it is sent, or that it is still what the client has."""
    headers = {
        "etag": page.etag,
        "cache-control": control,
        "vary": "accept-encoding, authorization",
    }
    if request.method in {"GET", "HEAD"} and page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    body = page.body
    if page.is_compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
    elif page.is_compressed:
        body = page.plain_body
    return Response(body, headers=headers, media_type=page.media_type)


def _status(error: AioRpcError | Refusal) -> status_pb2.Status:
    if isinstance(error, AioRpcError):
        status = status_pb2.Status()
        status.CopyFrom(status_of(error))
        return status
    code = CODES.get(error.status, code_pb2.INVALID_ARGUMENT)
    return status_pb2.Status(code=code, message=str(error))


def statuses() -> dict[int, str]:
    """The statuses of HTTP that calls are refused with, and the codes of gRPC behind them."""
    found: dict[int, list[str]] = {}
    for code, status in STATUSES.items():
        found.setdefault(status.value, []).append(code.name)
    found[HTTPStatus.INTERNAL_SERVER_ERROR.value] = [grpc.StatusCode.INTERNAL.name]
    return {status: ", ".join(names) for status, names in sorted(found.items())}
