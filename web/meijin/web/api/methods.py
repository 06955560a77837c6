"""Methods: what the API offers of the contract, by which verb and path, and what each takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from meijin.v1 import method_pb2 as pb
from meijin.wire.methods import contract_methods, method_name, method_path

PREFIX = "/api/v1"
"""How the address of everything in the API begins."""

STREAM_TYPE = "application/x-ndjson"
"""The media type of what a stream of the contract answers: a JSON object a line."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the contract, as the API offers it."""

    name: str
    """Such as ``GameService/GetGame``."""
    verb: str
    """Of HTTP; a GET takes the request's fields from the query, others from a body."""
    path: str
    """Behind the prefix; what stands in braces is a field of the request."""
    example: str
    """A query or a body that says how it is used; empty for none."""
    call_path: str
    """By which gRPC calls it."""
    request: type[Message]
    response: type[Message]
    is_stream: bool
    """It answers with many messages."""
    permission: pb.Permission.ValueType
    """Who may call it."""

    @property
    def full_path(self) -> str:
        return PREFIX + self.path

    @property
    def codecs(self) -> dict[str, Any]:
        """What a channel needs to know of its messages."""
        return {
            "request_serializer": self.request.SerializeToString,
            "response_deserializer": self.response.FromString,
        }


def _methods() -> Iterator[Method]:
    for found in contract_methods():
        options = found.GetOptions().Extensions
        if place := options[pb.http]:
            verb, _, path = place.partition(" ")
            yield Method(
                method_name(found),
                verb,
                path,
                options[pb.example],
                method_path(found),
                GetMessageClass(found.input_type),
                GetMessageClass(found.output_type),
                found.server_streaming,
                options[pb.permission],
            )


METHODS = tuple(_methods())
"""Every method that the API offers, as its options in the contract say."""

LEFT_OUT = {
    "PlayService/Play": "a bot's stream goes both ways, which HTTP does not offer to all clients",
    "WorkerService/Work": "a worker's stream goes both ways too",
    "HostService/Run": "a host's stream goes both ways too",
    "HostService/FetchProgram": "hosts alone fetch programs",
    "HostingService/UploadProgram": "an upload goes on where it was cut, which takes both ways",
    "HostingService/WatchAdmission": "GetProgram tells the same, to whoever asks again",
    "BotService/ReportDoctor": "the doctor sends it, with the bot's own token",
    "BotService/ListDisplayNames": "it is for whoever shows all names; ListBots tells them too",
    "BotService/GetRatings": "it is for whoever shows many; ListBots tells them too",
    "ChallengeService/EnterAsPerson": "people play by the stream, which is not offered here",
}
"""Methods that the API does not offer, and why."""
