"""`kill -9` of a host, its server, its doors and its admissions in the middle of games."""

import os
import signal
from pathlib import Path

import pytest
from tests.processes import Processes, eventually
from tests.system.hosting import LINE_PROGRAM, HostingServer
from tests.system.server import NO_LADDER

NAMES = ("ada", "blaise", "edsger", "grace")
GAMES = 6 * 8
SLOW_PROGRAM = LINE_PROGRAM.replace(
    "        width =", "        time.sleep(0.02)\n        width ="
).replace("from meijin", "import time\n\nfrom meijin", 1)
"""It makes games last long enough for something to happen in them."""


@pytest.fixture
def server(processes: Processes) -> HostingServer:
    """Four programs play a tournament, and some of its games have ended."""
    server = HostingServer(processes, NO_LADDER)
    for number, name in enumerate(NAMES):
        server.upload(name, SLOW_PROGRAM.format(number=number).encode())
    server.admit_all()
    server.create_tournament(*NAMES, rounds=8)
    eventually(server.books.are_under_way, 4)
    return server


def assert_nobody_has_lost_by_it(server: HostingServer) -> None:
    server.assert_all_is_played(GAMES)


def assert_nothing_is_left(server: HostingServer, host: int, folders: set[Path]) -> None:
    """Neither processes nor control groups, mounts or folders of a host that was killed."""
    assert folders
    eventually(lambda: not list(server.traces(host)))
    eventually(lambda: not any(folder.exists() for folder in folders))


def test_a_killed_host(server: HostingServer) -> None:
    """Nothing of it is left, and its games go on when another one is there."""
    for _ in range(2):
        host = server.host_pid
        folders = server.folders_of(host)
        assert server.seated(host)
        os.kill(host, signal.SIGKILL)
        assert_nothing_is_left(server, host, folders)
        finished = server.books.finished()
        eventually(server.books.are_under_way, min(finished + 4, GAMES - 4))
    assert_nobody_has_lost_by_it(server)


def test_a_killed_server(server: HostingServer) -> None:
    """Its host ends with it, and the games go on with the next server's."""
    host = server.host_pid
    folders = server.folders_of(host)
    server.process.kill()
    assert_nothing_is_left(server, host, folders)
    eventually(lambda: not any(server.temporary.iterdir()))
    server.start()
    assert_nobody_has_lost_by_it(server)


def test_killed_doors(server: HostingServer) -> None:
    """They are the host's: nobody loses a game by that."""
    for door in server.door_pids:
        os.kill(door, signal.SIGKILL)
    assert_nobody_has_lost_by_it(server)


def test_a_killed_admission(processes: Processes) -> None:
    """Nothing of it is left; another one is started, and examines the program from the beginning."""
    server = HostingServer(processes)
    program = server.upload("ada", LINE_PROGRAM.format(number=1).encode())
    worker = server.admission_pid
    eventually(lambda: server.seated(worker))
    folders = server.folders_of(worker)
    os.kill(worker, signal.SIGKILL)
    assert_nothing_is_left(server, worker, folders)
    eventually(lambda: server.admission_pid != worker)
    server.end_leases()
    server.admitted(program.program_id)
