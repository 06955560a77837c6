"""Hostile programs beside others on one host: each ends by its own fault, and nobody else suffers."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.processes import Processes, eventually
from tests.system.hosted_attacks import ATTACKS, Attack
from tests.system.hosting import LINE_PROGRAM, HostingServer
from tests.system.server import NO_LADDER

from meijin.game import Result
from meijin.store.games import decode_times

NS_PER_MS = 1_000_000
LONG_WAIT = 500.0
"""Seconds that seventeen programs may take to be started and ended, one after the other."""
VICTIMS = ("ada", "blaise")
OTHERS = ("edsger", "grace")


@pytest.mark.timeout(600)
def test_attacks_harm_their_own_program_alone(processes: Processes) -> None:
    """Each loses by a cause that is named; its opponent, and two others that play, notice nothing."""
    server = HostingServer(processes, NO_LADDER)
    for number, name in enumerate((*VICTIMS, *OTHERS)):
        server.upload(name, LINE_PROGRAM.format(number=number).encode())
    for name, attack in ATTACKS.items():
        server.upload(name, attack.program)
    server.admit_all()
    server.create_tournament(*OTHERS, rounds=40, time="30", variant="7x7")
    eventually(lambda: not server.books.tournaments_running())
    alone_ms = slowest_ms(server.books.games())
    host = server.host_pid
    for number, (name, attack) in enumerate(ATTACKS.items()):
        victim = VICTIMS[number % 2]
        server.create_tournament(victim, name, rounds=1, time=attack.time, variant="15x15")
    for _ in range(len(ATTACKS)):
        server.create_tournament(*OTHERS, rounds=10, time="30", variant="7x7")
    eventually(lambda: not server.books.tournaments_running(), patience=LONG_WAIT)
    assert server.host_pid == host
    games = server.books.games()
    beside = [game for game in games if {game.black, game.white} == set(OTHERS)]
    print(
        f"p99 of a move: {alone_ms:.1f} ms alone, {slowest_ms(beside[40:]):.1f} ms beside attacks"
    )
    assert [game.detail for game in beside if game.detail] == []
    assert len(beside) == 40 + 10 * len(ATTACKS)
    found = {attacker(game): (game.ending, winner(game), game.detail) for game in games}
    wrong = {
        name: found.get(name)
        for number, (name, attack) in enumerate(ATTACKS.items())
        if not is_as_told(found.get(name), attack, VICTIMS[number % 2])
    }
    assert wrong == {}
    eventually(lambda: not server.seated(host))


def attacker(game: Any) -> str:
    return str(next((name for name in (game.black, game.white) if name in ATTACKS), ""))


def winner(game: Any) -> str:
    return str(game.black if game.result is Result.BLACK_WINS else game.white)


def is_as_told(found: tuple[Any, str, str] | None, attack: Attack, victim: str) -> bool:
    """Whether a game has ended by an attack's cause, and its opponent has won."""
    return found is not None and found[:2] == (attack.ending, victim) and attack.cause in found[2]


def slowest_ms(games: Sequence[Any]) -> float:
    """The time that one move in a hundred is charged more than."""
    charged = sorted(ns for game in games for ns in decode_times(game.times)[1])
    return charged[len(charged) * 99 // 100] / NS_PER_MS
