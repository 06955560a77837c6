"""A gateway whose answers are prepared: pages of whatever a server might say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from copy import copy
from functools import cache
from typing import Any, cast

import grpc
from google.protobuf.message import Message
from tests.web.browsing import Browsing

from meijin.v1.bot_service_pb2 import GetRatingsResponse, ListDisplayNamesResponse
from meijin.v1.game_service_pb2 import ChanceMap, GetChancesResponse
from meijin.web.cache import PageCache
from meijin.web.gateway import DisplayNames, Visitor
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

USUAL: dict[str, Message] = {
    "GetChances": GetChancesResponse(black=ChanceMap(scale=100), white=ChanceMap(scale=100)),
    "GetRatings": GetRatingsResponse(),
    "ListDisplayNames": ListDisplayNamesResponse(),
}
"""Answers that say little, by the names of methods."""

Read = Callable[[bytes], Message]
"""Makes an answer of its bytes."""


class PreparedGateway:
    """Answers every call by what a function makes of the method's name; a stream is one message."""

    def __init__(self, answer: Callable[[str, Read], Message]) -> None:
        self._answer = answer
        self.asked: list[Message] = []
        """All requests so far."""

    def channel(self, _visitor: Visitor) -> grpc.aio.Channel:
        return cast("grpc.aio.Channel", self)

    def unary_unary(self, method: str, *, response_deserializer: Read, **_: object) -> Any:
        async def call(request: Message, **_: object) -> Message:
            self.asked.append(request)
            return self._answer(method.rpartition("/")[2], response_deserializer)

        return call

    def unary_stream(self, method: str, **codecs: Any) -> Any:
        make = self.unary_unary(method, **codecs)

        class Call:
            def __init__(self, *_: object, **__: object) -> None:
                """What was asked makes no difference."""

            async def __aiter__(self) -> AsyncIterator[Message]:
                yield await make(Message())

            def cancel(self) -> None:
                """It has ended."""

        return Call

    stream_stream = stream_unary = unary_stream


@cache
def _state() -> SiteState:
    return SiteState(PreparedGateway(lambda _, read: read(b"")), SiteSettings())


def browse(settings: SiteSettings | None = None, /, **answers: Message) -> Browsing:
    """One who looks at a site whose server answers so, by the names of methods."""
    state = copy(_state())
    answers = {**USUAL, **answers}
    state.gateway, state.cache = PreparedGateway(lambda name, _: answers[name]), PageCache()
    vars(state.names).update(vars(DisplayNames()))  # in place: the templates have its method
    state.settings = settings or SiteSettings()
    return Browsing(application(state))
