"""Threads that search while the event loop talks to the server."""

import asyncio
import threading

import pytest

from meijin.bots.sdk.threads import SearchThreads


async def test_jobs_run_in_order_in_another_thread() -> None:
    """One thread runs one job after the other, and results come back to the event loop."""
    threads = SearchThreads()
    results: asyncio.Queue[tuple[int, bool]] = asyncio.Queue()
    here = threading.get_ident()
    for number in range(5):
        threads.run(
            lambda number=number: (number, threading.get_ident() == here),  # type: ignore[misc]
            results.put_nowait,
        )
    received = [await results.get() for _ in range(5)]
    threads.close()
    assert received == [(number, False) for number in range(5)]


async def test_several_threads() -> None:
    """Two threads run two jobs that need each other."""
    threads = SearchThreads(2)
    meeting = threading.Barrier(2, timeout=20)
    arrived: asyncio.Queue[int] = asyncio.Queue()
    threads.run(meeting.wait, arrived.put_nowait)
    threads.run(meeting.wait, arrived.put_nowait)
    assert {await arrived.get(), await arrived.get()} == {0, 1}
    threads.close()


@pytest.mark.parametrize("seems_open", [False, True])
def test_result_after_the_event_loop(monkeypatch: pytest.MonkeyPatch, seems_open: bool) -> None:  # noqa: FBT001 - a parameter
    """A search that outlives its event loop is dropped, also where that closes just then."""
    release = threading.Event()
    threads = SearchThreads()
    results: list[bool] = []

    async def script() -> None:
        if seems_open:
            monkeypatch.setattr(asyncio.get_running_loop(), "is_closed", lambda: False)
        threads.run(lambda: release.wait(20), results.append)

    asyncio.run(script())
    release.set()
    threads.close()
    for thread in threads._threads:
        thread.join(20)
        assert not thread.is_alive()
    assert results == []


def test_no_threads() -> None:
    """Nobody searches with no threads at all."""
    with pytest.raises(ValueError, match="1 or more"):
        SearchThreads(0)
