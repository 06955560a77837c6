"""The one watch of the arena that a topic has, when its server is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata
from tests.server_in_test import until

from meijin.v1.game_service_pb2 import GameUpdate, WatchArenaResponse
from meijin.web.gateway import DisplayNames, Visitor
from meijin.web.live import subscription as module
from meijin.web.live.subscription import Subscription
from meijin.web.live.topics import Topic

Answer = WatchArenaResponse | AioRpcError | None
"""A message, a failure, or the wait for more."""


def update(game_id: str) -> GameUpdate:
    found = GameUpdate(game_id=game_id)
    found.game.state = 1  # type: ignore[assignment]
    return found


def failure(code: grpc.StatusCode) -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(), details="a test")


class Call:
    """A call that is answered as the test says."""

    def __init__(self, answers: list[Answer]) -> None:
        self._answers = answers
        self.is_cancelled = False

    async def __aiter__(self) -> AsyncIterator[WatchArenaResponse]:
        for answer in self._answers:
            if isinstance(answer, AioRpcError):
                raise answer
            if answer is None:
                await asyncio.Event().wait()
            else:
                yield answer

    def cancel(self) -> None:
        self.is_cancelled = True


class StubGateway:
    """A server that answers one call after the other as the test says."""

    def __init__(self, *calls: list[Answer]) -> None:
        self.calls = [Call(answers) for answers in calls]
        self.made = 0

    def channel(self, _visitor: Visitor) -> Any:
        return self

    def unary_stream(self, *_: object, **__: object) -> Callable[[object], Call]:
        def call(_request: object) -> Call:
            self.made += 1
            return self.calls[self.made - 1]

        return call

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_, **__: None


def subscribe(gateway: StubGateway) -> Subscription:
    topic, names = Topic.parse("arena"), DisplayNames(lambda: -1)  # young: nobody asks for them
    return Subscription(gateway, topic, names, token="", delay=timedelta(0))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY", timedelta(0))


async def test_a_server_that_was_away_is_asked_again() -> None:
    away = failure(grpc.StatusCode.UNAVAILABLE)
    first = WatchArenaResponse(games=[update("1")])
    second = WatchArenaResponse(games=[update("2")])
    gateway = StubGateway([first, away], [away], [second, None])
    subscription = subscribe(gateway)
    await until(lambda: subscription.cell.version == 2)
    frame = subscription.cell.since(0)
    assert frame is not None
    assert b'"id":"2"' in frame
    assert b'"id":"1"' not in frame
    assert subscription.cell.farewell is None
    await subscription.close()
    assert [call.is_cancelled for call in gateway.calls] == [True, True, True]


async def test_a_look_of_several_messages_is_one_frame() -> None:
    """Whoever comes meanwhile is told all of it, or nothing yet."""
    parts = [WatchArenaResponse(games=[update(str(key))], more=key < 3) for key in (1, 2, 3)]
    subscription = subscribe(StubGateway([*parts[:2], *parts[2:], None]))
    await until(lambda: subscription.cell.version)
    frame = subscription.cell.since(0)
    assert frame is not None
    assert frame.count(b'"id"') == 3
    assert subscription.cell.version == 1
    await subscription.close()


async def test_a_refusal_is_told_and_not_repeated() -> None:
    """Nobody asks again for what is not allowed."""
    gateway = StubGateway([failure(grpc.StatusCode.PERMISSION_DENIED)])
    subscription = subscribe(gateway)
    await until(lambda: subscription.cell.farewell)
    assert subscription.cell.farewell is not None
    assert b"a test" in subscription.cell.farewell
    await subscription.close()
    assert gateway.made == 1
