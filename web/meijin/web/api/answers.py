"""Answers: messages and refusals as JSON."""

import json
from http import HTTPStatus

from google.protobuf.any_pb2 import Any
from google.protobuf.message_factory import GetMessageClass
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.web.refusals import Refusal, refusal_of, status_of
from meijin.wire.json import json_object

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

DETAILS = {
    each.full_name: each for each in error_details_pb2.DESCRIPTOR.message_types_by_name.values()
}
"""What a status may hold, and is known here."""


def error_value(error: AioRpcError | Refusal) -> dict[str, object]:
    """A ``google.rpc.Status`` as JSON, as far as its details are known here."""
    if isinstance(error, AioRpcError):
        status = status_of(error)
    else:
        code = CODES.get(error.status, code_pb2.INVALID_ARGUMENT)
        status = status_pb2.Status(code=code, message=str(error))
    details = [_detail(each) for each in status.details if each.TypeName() in DETAILS]
    return {"code": status.code, "message": status.message, "details": details}


def _detail(packed: Any) -> dict[str, object]:
    detail = GetMessageClass(DETAILS[packed.TypeName()])()
    packed.Unpack(detail)
    return {"@type": packed.type_url, **json_object(detail)}


def refused(error: AioRpcError | Refusal) -> Response:
    """A refusal, with the status of HTTP that it has."""
    refusal = refusal_of(error) if isinstance(error, AioRpcError) else error
    headers = {"cache-control": "no-store", **refusal.headers}
    if refusal.status is HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    text = json.dumps(error_value(error), ensure_ascii=False)
    return Response(text, refusal.status, headers, JSON)
