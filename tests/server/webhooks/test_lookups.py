"""Looking up where new webhooks send."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from meijin.server.errors import BusyError
from meijin.server.webhooks import lookups as module
from meijin.server.webhooks.lookups import MAX_LOOKUPS, Lookups
from meijin.server.webhooks.targets import Reach, TargetError, parse_url

URL = parse_url("https://hooks.example.org/")


class Resolver:
    """Answers when the test lets it."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.asked = threading.Semaphore(0)

    def __call__(self, _host: str, _port: int) -> Sequence[str]:
        """Wait, and find a public address."""
        self.asked.release()
        self.may_answer.wait()
        return ["93.184.216.34"]


@pytest.fixture
def slow() -> Iterator[Resolver]:
    """A resolver that has not answered yet."""
    resolver = Resolver()
    yield resolver
    resolver.may_answer.set()


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], []])
async def test_a_name_whose_addresses_are_not_all_public(addresses: list[str]) -> None:
    """It is refused, as it is at every try."""
    with pytest.raises(TargetError, match=r"no public address|has no address"):
        await Lookups(lambda *_: addresses).check(Reach(), URL)


async def test_a_name_that_nobody_knows() -> None:
    """The system's reason is told."""

    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    words = "hooks.example.org has no address that is known here: Name or service not known"
    with pytest.raises(TargetError, match=words):
        await Lookups(unknown).check(Reach(), URL)


async def test_a_lookup_does_not_hold_the_event_loop(slow: Resolver) -> None:
    """Others go on until the answer is there."""
    lookup = asyncio.create_task(Lookups(slow).check(Reach(), URL))
    await asyncio.to_thread(slow.asked.acquire)
    assert not lookup.done()
    slow.may_answer.set()
    await lookup


async def test_callers_and_threads_are_bounded(
    slow: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has waited long enough is answered; its thread counts until the system has answered."""
    monkeypatch.setattr(module, "LOOKUP_LIMIT", timedelta(seconds=0.01))
    lookups = Lookups(slow)
    for _ in range(MAX_LOOKUPS):
        with pytest.raises(TargetError, match=r"hooks\.example\.org was not found within 0\.01 s"):
            await lookups.check(Reach(), URL)
    with pytest.raises(BusyError, match="8 names are being looked up; try again later"):
        await lookups.check(Reach(), URL)
    monkeypatch.setattr(module, "LOOKUP_LIMIT", timedelta(seconds=20))
    slow.may_answer.set()
    await asyncio.gather(*lookups._running)
    await lookups.check(Reach(), URL)
