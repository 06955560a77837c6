"""The contract as its descriptors have it: what a method takes, and what it answers."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import meijin.v1
from meijin.web.api.methods import PACKAGE


@dataclass(frozen=True, slots=True)
class Signature:
    """A method's messages."""

    path: str
    """By which gRPC calls it."""
    request: type[Message]
    response: type[Message]
    is_stream: bool
    """It answers with many messages."""


@cache
def load() -> tuple[str, ...]:
    """The modules of all services, which make their descriptors known; imported once."""
    names = [found.name for found in iter_modules(meijin.v1.__path__)]
    services = tuple(name for name in names if name.endswith("_service_pb2"))
    for name in services:
        import_module(f"{PACKAGE}.{name}")
    return services


@cache
def signature(name: str) -> Signature:
    """A method's messages, by a name such as ``GameService/GetGame``.

    Raises:
        KeyError: there is no such method.
    """
    load()
    service, _, method = name.partition("/")
    pool = descriptor_pool.Default()
    found: MethodDescriptor = pool.FindServiceByName(f"{PACKAGE}.{service}").methods_by_name[method]
    return Signature(
        path=f"/{PACKAGE}.{service}/{method}",
        request=GetMessageClass(found.input_type),
        response=GetMessageClass(found.output_type),
        is_stream=found.server_streaming,
    )
