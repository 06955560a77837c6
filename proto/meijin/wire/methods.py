"""The methods of the contract, with what their options say."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

import meijin.v1

PACKAGE = meijin.v1.__name__


def contract_methods() -> Iterator[MethodDescriptor]:
    """Every method of every service, in the order of the protos; their modules are imported."""
    for found in iter_modules(meijin.v1.__path__):
        if found.name.endswith("_service_pb2"):
            file = import_module(f"{PACKAGE}.{found.name}").DESCRIPTOR
            for service in file.services_by_name.values():
                yield from service.methods


def method_name(method: MethodDescriptor) -> str:
    """Such as ``GameService/GetGame``."""
    return f"{method.containing_service.name}/{method.name}"


def method_path(method: MethodDescriptor) -> str:
    """By which gRPC calls it, such as ``/meijin.v1.GameService/GetGame``."""
    return f"/{method.containing_service.full_name}/{method.name}"


def list_field(response: Message | type[Message]) -> Any:  # noqa: ANN401 - another class in each of protobuf's implementations
    """The field of the rows of what a call that lists answers: its first list."""
    return next(field for field in response.DESCRIPTOR.fields if field.is_repeated)
