"""Streams of live boards on real connections."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import timedelta

import pytest
from tests.peer import WAIT_TIMEOUT, play_moves
from tests.server_in_test import FIVE, until
from tests.web.conftest import SiteInTest, hosted

from meijin.web.live import hub, watcher
from meijin.web.live.subscription import Subscription

SMALL = 4096
REQUEST = b"GET /events?topics=arena HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


async def listen(listener: socket.socket) -> socket.socket:
    browser = socket.socket()
    browser.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
    browser.setblocking(False)  # noqa: FBT003 - the socket's signature
    loop = asyncio.get_running_loop()
    await loop.sock_connect(browser, listener.getsockname())
    await loop.sock_sendall(browser, REQUEST)
    return browser


async def all_of(browser: socket.socket) -> bytes:
    """Everything that comes until the server closes the connection."""
    parts = []
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        while part := await asyncio.get_running_loop().sock_recv(browser, SMALL):
            parts.append(part)
    return b"".join(parts)


def body_of(answer: bytes) -> bytes:
    """What an answer says, of which all chunks are whole."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    assert b"transfer-encoding: chunked" in head
    parts = []
    while True:
        length, _, rest = rest.partition(b"\r\n")
        count = int(length, 16)
        assert rest[count : count + 2] == b"\r\n"
        parts.append(rest[:count])
        rest = rest[count + 2 :]
        if not count:
            assert not rest
            return b"".join(parts)


async def test_a_game_is_told_over_a_connection(site: SiteInTest) -> None:
    """Every change, however it is written."""
    async with hosted(site) as (host, listener):
        players = await site.server.pair()
        with await listen(listener) as browser:
            answer = asyncio.create_task(all_of(browser))
            await until(lambda: site.state.live._subscriptions)
            (subscription,) = site.state.live._subscriptions.values()
            for ply, cell in enumerate(FIVE[:4]):
                await play_moves(players, [cell], first=ply)
                await until(lambda: _stones(subscription) == ply + 1)  # noqa: B023 - awaited at once
            await host.stop()
            body = body_of(await answer).decode()
    events = [part.splitlines() for part in body.split("\n\n") if part]
    frames = [json.loads(data.removeprefix("data: ")) for kind, data in events[1:-1]]
    assert [frame["whole"] for frame in frames] == [True] + [False] * (len(frames) - 1)
    moves: list[str] = []
    for frame in frames:
        for game in frame["games"]:
            moves = moves[: game.get("ply", len(moves))] + game.get("moves", [])
    assert moves == ["a5", "a4", "b5", "b4"]


def _stones(subscription: Subscription) -> int:
    return sum(len(board.whole.moves) // 2 for board in subscription.cell._boards.values())


async def test_a_browser_that_has_stopped_is_cut_off(
    site: SiteInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a frame has waited for its socket too long; nothing of it is left."""
    monkeypatch.setattr(hub, "SWEEP_INTERVAL", timedelta(seconds=0.01))
    monkeypatch.setattr(hub, "BEAT_INTERVAL", timedelta(0))
    monkeypatch.setattr(hub, "WRITE_TIMEOUT", timedelta(seconds=0.05))
    monkeypatch.setattr(watcher, "BEAT", b":" + b"x" * 50_000 + b"\n\n")
    async with hosted(site) as (_, listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        with await listen(listener):
            await until(lambda: site.state.live._watchers)
            await until(lambda: site.state.live.is_idle)
