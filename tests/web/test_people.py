"""The streams of people who play by the pages."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from unittest.mock import AsyncMock, Mock

import pytest

from meijin.web.gateway import Gateway, Visitor
from meijin.web.play import people, stream
from meijin.web.play.people import PeopleStreams
from meijin.web.refusals import Refusal
from meijin.web.wording import text

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def streams() -> Iterator[PeopleStreams]:
    """Those of a server that lets nobody in, nor says why."""
    call = AsyncMock(cancel=Mock(), read=asyncio.Event().wait)
    channel = Mock()
    channel.stream_stream.return_value = lambda: call
    closing = asyncio.Event()
    yield PeopleStreams(cast("Gateway", Mock(channel=lambda _: channel)), closing)
    closing.set()


async def test_who_is_not_let_in_takes_no_seat_of_others(
    streams: PeopleStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address has few at once of those that any cookie makes."""
    monkeypatch.setattr(people, "MAX_WAITING_OF_HOST", 2)
    came = [asyncio.create_task(streams.stream(Visitor("10.0.0.1", each))) for each in "ab"]
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="too many people"):
        await streams.stream(Visitor("10.0.0.1", "c"))
    other = asyncio.create_task(streams.stream(Visitor("10.0.0.2", "d")))
    await asyncio.sleep(0)
    assert not other.done()
    for each in (*came, other):
        each.cancel()


async def test_who_was_not_let_in_leaves_no_stream_behind(
    streams: PeopleStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose cookie is another's invention has no seat until somebody clears up."""
    monkeypatch.setattr(people, "MAX_PEOPLE", 1)
    monkeypatch.setattr(stream, "READY_TIMEOUT", timedelta(0))
    for token in "abc":
        with pytest.raises(Refusal, match=text("play.no_server")):
            await streams.stream(Visitor("10.0.0.1", token))
