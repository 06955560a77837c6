"""A gateway whose answers are prepared: pages of whatever a server might say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import cache
from typing import Any, cast

import grpc
from google.protobuf.message import Message
from tests.web.browsing import Browsing

from meijin.web.cache import PageCache
from meijin.web.gateway import Visitor
from meijin.web.shell import Shell, SiteSettings
from meijin.web.site import application


class PreparedGateway:
    """Answers every call of a method by the same message."""

    def __init__(self, answers: Mapping[str, Message]) -> None:
        self._answers = answers

    def channel(self, visitor: Visitor) -> grpc.aio.Channel:
        """The same for all visitors."""
        del visitor
        return cast("grpc.aio.Channel", _PreparedChannel(self._answers))


class _PreparedChannel:
    """What a stub needs of a channel."""

    def __init__(self, answers: Mapping[str, Message]) -> None:
        self._answers = answers

    def unary_unary(self, method: str, **_: object) -> Callable[..., Any]:
        """A call that is answered at once."""
        answer = self._answers.get(method.rsplit("/", 1)[1])

        async def call(request: Message, **_: object) -> Message:
            del request
            assert answer is not None, f"no answer to {method} is prepared"
            return answer

        return call

    def unary_stream(self, method: str, **_: object) -> Callable[..., Any]:
        """No stream is prepared."""
        del method
        return lambda *_: None

    stream_stream = stream_unary = unary_stream


@cache
def _shell() -> Shell:
    """What all these sites have in common: files and templates."""
    return Shell(PreparedGateway({}), SiteSettings())


def browse(settings: SiteSettings | None = None, /, **answers: Message) -> Browsing:
    """One who looks at a site whose server answers so, by the names of methods."""
    shell = copy(_shell())
    shell.gateway, shell.cache = PreparedGateway(answers), PageCache()
    shell.settings = settings or SiteSettings()
    return Browsing(application(shell))
