"""Uploaded programs at a `meijin serve --hosting`: they are examined, called, and play to the end."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.processes import Processes, eventually
from tests.system.hosting import ENGINE_PROGRAM, LINE_PROGRAM, HostingServer
from tests.system.server import NO_LADDER

from meijin.game import TimeControl, cpu_charge
from meijin.game.arbiter.moment import nanoseconds
from meijin.server.match.live.commands import CPU_US
from meijin.store.games import decode_times
from meijin.v1 import hosting_service_pb2 as pb

THIRTY = [f"bot-{number:02}" for number in range(30)]
CONTROL = "30+0.1"
LONG_WAIT = 800.0
"""Seconds that thirty programs may take to be started and to play 435 games, on busy cores."""


@pytest.mark.timeout(900)
def test_a_class_of_thirty_plays_a_round_robin(processes: Processes) -> None:
    """On the cores that are there: nobody forfeits, and every game's clocks are right."""
    server = HostingServer(processes, NO_LADDER)
    for number, name in enumerate(THIRTY):
        source = LINE_PROGRAM.format(number=number % 5) + f"# {number}\n"
        server.upload(name, source.encode())
    server.admit_all()
    server.create_tournament(*THIRTY, rounds=1, time=CONTROL, variant="5x5")
    eventually(lambda: not server.books.tournaments_running(), patience=LONG_WAIT)
    games = server.books.games()
    server.assert_all_is_played(len(THIRTY) * (len(THIRTY) - 1) // 2)
    control = TimeControl.parse(CONTROL)
    for game in games:
        assert_clocks_are_right(game, control)


def assert_clocks_are_right(game: Any, control: TimeControl) -> None:
    """Nobody is charged more than has passed, nor more than there was; processor time is there."""
    raw, charged = decode_times(game.times)
    assert all(paid <= passed for paid, passed in zip(charged, raw, strict=True))
    assert control.initial is not None
    for side in (0, 1):
        own = charged[side::2]
        given = control.initial + len(own) * control.increment
        assert sum(own) <= nanoseconds(given)
    plies = range(game.opening_plies, game.opening_plies + len(raw))
    assert {ply for ply in plies if CPU_US in (game.analysis or {}).get(str(ply), {})} == set(plies)


def test_an_engine_of_gomocup_in_c_plays_on_a_ladder(processes: Processes, tmp_path: Path) -> None:
    """Compiled here, uploaded as a binary, examined, and played through the bridge in the sandbox."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, cc, on the PATH")
    source, binary = tmp_path / "engine.c", tmp_path / "engine"
    source.write_text(ENGINE_PROGRAM)
    subprocess.run([compiler, "-O2", "-static", "-o", str(binary), str(source)], check=True)
    server = HostingServer(processes)
    ada = server.upload("ada", binary.read_bytes(), "engine")
    grace = server.upload("grace", LINE_PROGRAM.format(number=4).encode())
    assert server.admitted(ada.program_id).kind == pb.PROGRAM_KIND_ENGINE
    server.admitted(grace.program_id)
    server.create_tournament("ada", "grace", rounds=2, variant="15x15")
    server.assert_all_is_played(2)
    eventually(server.has_current_ladder)
    server.books.assert_ladder_is_what_the_games_give()


def test_a_hosted_and_a_remote_bot_play(processes: Processes) -> None:
    """The processor time of the hosted one alone is known."""
    server = HostingServer(processes, NO_LADDER)
    server.upload("ada", LINE_PROGRAM.format(number=1).encode())
    server.admit_all()
    server.run_bots(bob="random")
    server.create_tournament("ada", "bob", rounds=2, time=CONTROL)
    server.assert_all_is_played(2)
    for game in server.books.games():
        own = 0 if game.black == "ada" else 1
        assert {int(ply) % 2 for ply in game.analysis or {}} == {own}


def test_processor_time_is_charged(processes: Processes) -> None:
    """Where the time control says so, and a bot that nobody measures gets no such game."""
    server = HostingServer(processes, NO_LADDER)
    for name in ("ada", "grace"):
        server.upload(name, (LINE_PROGRAM.format(number=1) + f"# {name}\n").encode())
    server.admit_all()
    server.run_bots(bob="random")
    server.create_tournament("ada", "grace", rounds=2, time="10 cpu")
    server.assert_all_is_played(2)
    for game in server.books.games():
        raw, charged = decode_times(game.times)
        used = [1000 * game.analysis[str(ply)][CPU_US] for ply in range(len(raw))]
        assert list(charged) == list(map(cpu_charge, raw, used))
    server.create_tournament("ada", "bob", rounds=2, time="10 cpu")
    assert "bob is not hosted" in server.tell("tournament", "show", "2")
