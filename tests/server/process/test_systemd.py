"""What systemd is told."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from meijin.server.process.systemd import ServiceManager


@pytest.fixture
def manager_socket(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.settimeout(20)
        receiver.bind(str(tmp_path / "notify"))
        yield receiver


def test_states_are_told(manager_socket: socket.socket, tmp_path: Path) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    manager.tell("READY=1")
    assert manager_socket.recv(100) == b"READY=1"


async def test_the_watchdog_gets_signs_of_life(
    manager_socket: socket.socket, tmp_path: Path
) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "20000"})
    running = asyncio.create_task(manager.run())
    told = [await asyncio.to_thread(manager_socket.recv, 100) for _ in range(3)]
    running.cancel()
    assert told == [b"WATCHDOG=1"] * 3


def test_without_systemd_nothing_is_sent() -> None:
    """Nor is anything logged."""
    with capture_logs() as logs:
        ServiceManager({}).tell("READY=1")
    assert logs == []


def test_a_socket_that_is_gone_ends_nothing(tmp_path: Path) -> None:
    with capture_logs() as logs:
        ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "gone")}).tell("READY=1")
    assert [line["event"] for line in logs] == ["systemd was not told"]
