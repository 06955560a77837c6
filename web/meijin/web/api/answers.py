"""Answers: messages and refusals as JSON."""

import json
from http import HTTPStatus
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.web.refusals import Refusal, refusal_of, status_of

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


def error_value(error: AioRpcError | Refusal) -> dict[str, Any]:
    """A ``google.rpc.Status`` in the JSON mapping, as far as its details are known here."""
    if isinstance(error, AioRpcError):
        status = status_of(error)
    else:
        code = CODES.get(error.status, code_pb2.INVALID_ARGUMENT)
        status = status_pb2.Status(code=code, message=str(error))
    known = [detail for detail in status.details if detail.TypeName().startswith(DETAILS)]
    del status.details[:]
    status.details.extend(known)
    value: dict[str, Any] = json_format.MessageToDict(status)
    return value


def refused(error: AioRpcError | Refusal) -> Response:
    """A refusal, with the status of HTTP that it has."""
    refusal = refusal_of(error) if isinstance(error, AioRpcError) else error
    headers = {"cache-control": "no-store", **refusal.headers}
    if refusal.status is HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    text = json.dumps(error_value(error), ensure_ascii=False)
    return Response(text, refusal.status, headers, JSON)
