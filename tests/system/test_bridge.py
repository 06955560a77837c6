"""Engines behind `meijin bot wrap`, and bots behind `meijin bot engine`, as processes."""

import signal
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import brain
from tests.processes import MEIJIN, Process, eventually, processes_of
from tests.system.server import Server


def wrap(server: Server, name: str, *command: str, options: tuple[str, ...] = ()) -> Process:
    words = ("bot", "wrap", f"--name={name}", f"--server={server.address}", *options)
    return server.processes.start(name, *words, "--", *command)


def engines(folder: Path) -> list[int]:
    found = []
    for number in processes_of(folder):
        words = Path(f"/proc/{number}/cmdline")
        if words.exists() and any(
            name in words.read_bytes() for name in (b"brains.py", b"launcher.py")
        ):
            found.append(number)
    return found


def test_engines_play_bots(server: Server) -> None:
    """An engine, a bot as an engine, and a bot play each other to the end, all found out."""
    wrapped = [
        wrap(server, "first", *brain(), options=("--sizes=5-20", "--pause=0")),
        wrap(server, "engine", *MEIJIN, "bot", "engine", "random", "--option", "seed=1"),
    ]
    server.run_bots(random="random")
    names = {"first", "engine", "random"}
    eventually(lambda: server.connected_bots() >= names)
    server.create_tournament(*names, rounds=2, time="20+1", variant="9x9")
    server.assert_all_is_played(6)
    assert "speaks gomocup, boards 5 to 20, openings free" in wrapped[0].words
    assert "speaks gomocup, boards 5 to 22, openings free swap2 swap swap1" in wrapped[1].words
    for process in wrapped:
        assert process.stop(signal.SIGINT) == 0
    assert engines(server.folder) == []


@pytest.mark.parametrize("mode", ["Stubborn", "Forks"])
def test_killed_wrapper_leaves_nothing(server: Server, mode: str) -> None:
    """After ``kill -9`` of the wrapper none of the engine's processes is left."""
    bot = wrap(server, "wild", *brain(mode), options=("--sizes=15", "--pause=0"))
    eventually(lambda: "wild" in server.connected_bots())
    assert engines(server.folder)
    bot.kill()
    eventually(lambda: not engines(server.folder))
