"""Hostile peers beside two innocent bots: what they hear, and what they cost."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from attacks import ATTACKS, SUSPENDED, Attack
from connection_storm import KINDS
from innocents import NAMES, Innocents, Turn
from tests.processes import MEIJIN, Processes, environment, eventually
from tests.system.books import ON_THE_BOARD
from tests.system.server import NO_LADDER, Server

from meijin.store.schema import GameState

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ATTACKER, STORM = BENCHMARKS / "attacks.py", BENCHMARKS / "connection_storm.py"
MAX_GROWTH = 100
"""MiB that the server's memory may grow by, most of it what gRPC keeps for a thousand sockets."""

FILES = 200
"""That a server may open which is to run out of them."""


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} is gone")


async def play_under(attack: Attack, address: str, folder: Path) -> tuple[dict[str, int], int]:
    """What an attacker hears, and how many moves the innocent ones make meanwhile."""
    innocents = Innocents(address, control="60+1")
    await innocents.start()
    while len(innocents.latencies) < 20:  # noqa: ASYNC110 - that they play has no event
        await asyncio.sleep(0.01)
    moves = len(innocents.latencies)
    command = (sys.executable, str(ATTACKER), attack.name, address, str(attack.seconds))
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, env=environment(folder, {})
    )
    output, _ = await process.communicate()
    moves = len(innocents.latencies) - moves
    ended = len(innocents.ends)
    while len(innocents.ends) < ended + 2:  # noqa: ASYNC110 - their games end normally afterwards
        await asyncio.sleep(0.01)
    assert innocents.notices == 0
    await innocents.stop()
    return json.loads(output), moves


class FewFiles(Server):
    """One that may open few files."""

    program = ("prlimit", f"--nofile={FILES}", *MEIJIN)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_heard_out_and_harms_nobody(processes: Processes, attack: Attack) -> None:
    """The documented codes, games that go on to their ends, bounded memory, nothing left over."""
    server = Server(processes, "--open", NO_LADDER, "--grace=60")
    before = resident_mib(server.process.pid)
    # A client that writes all the time may find its stream broken before it reads why; that it was
    # suspended for it says the same. On a busy machine it may have to come again for that.
    known = {attack.first, SUSPENDED} & attack.heard
    heard: set[str] = set()
    while not known & heard:
        words, moves = asyncio.run(play_under(attack, server.address, processes.folder))
        heard |= set(words)
        assert heard <= attack.heard, heard
        assert moves > 0
    assert resident_mib(server.process.pid) - before < MAX_GROWTH
    eventually(lambda: not server.connected_bots())
    games = server.books.games(GameState.FINISHED)
    assert {game.black for game in games} <= set(NAMES)
    assert {game.ending for game in games} <= ON_THE_BOARD
    assert "incident" not in server.process.words
    assert "Traceback" not in server.process.words, server.process.words


def test_sockets_leave_the_server_its_files(processes: Processes) -> None:
    """A peer that opens more of them than there may be files keeps nobody from the database."""
    server = FewFiles(processes, "--open", NO_LADDER)
    with ExitStack() as stack:
        assert server.connected_bots() == set()  # it keeps the connection
        for _ in range(2 * FILES):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        files = Path(f"/proc/{server.process.pid}/fd")
        eventually(lambda: len(list(files.iterdir())) < FILES - 20)
        eventually(lambda: server.connected_bots() == set())
        assert "descriptor" not in server.process.words


async def play_in_a_storm(kind: str, address: str, folder: Path) -> tuple[int, list[Turn]]:
    """How many moves innocent bots make while sockets are opened, and what they lose on time."""
    innocents = Innocents(address, control="2/move")
    await innocents.start()
    command = (sys.executable, str(STORM), kind, address, "1500", "3")
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, env=environment(folder, {})
    )
    moves = len(innocents.latencies)
    assert await process.wait() == 0
    moves = len(innocents.latencies) - moves
    await innocents.stop()
    return moves, innocents.time_forfeits


@pytest.mark.parametrize("kind", KINDS)
def test_a_storm_of_connections_takes_nobodys_time(server: Server, kind: str) -> None:
    """New connections have to wait, and games go on; no bot is late by what the server did."""
    moves, forfeits = asyncio.run(play_in_a_storm(kind, server.address, server.folder))
    assert moves > 0
    assert forfeits == []
    assert server.process.has_said("so many connections are opened that new ones have to wait")
