"""Engines behind `meijin bot wrap`, and bots behind `meijin bot engine`, as processes."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import brain
from tests.system.conftest import Books
from tests.system.processes import (
    MEIJIN,
    NO_LADDER,
    Process,
    Processes,
    Server,
    eventually,
    processes_of,
)

TIME = "20+1"


def wrap(server: Server, name: str, *command: str, options: tuple[str, ...] = ()) -> Process:
    """Bring an engine to a server."""
    words = ("bot", "wrap", f"--name={name}", f"--server={server.address}", *options)
    return server.processes.start(name, *words, "--", *command)


def test_engines_play_bots(processes: Processes, open_books: Callable[[str], Books]) -> None:
    """An engine, a bot as an engine, and a bot play each other to the end, all found out."""
    server = Server(processes, "--open", NO_LADDER)
    wrapped = [
        wrap(server, "first", *brain(), options=("--sizes=5-20", "--pause=0")),
        wrap(server, "engine", *MEIJIN, "bot", "engine", "random", "--option", "seed=1"),
    ]
    processes.start("random", "bot", "run", "random", f"--server={server.address}")
    names = {"first", "engine", "random"}
    eventually(lambda: server.connected_bots() >= names)
    server.create_tournament(*names, rounds=2, time=TIME, variant="9x9")
    books = open_books(server.database_url)
    eventually(lambda: books.finished() == 6)
    books.assert_each_planned_game_was_played_once(6)
    assert "speaks gomocup, boards 5 to 20, openings free" in wrapped[0].words
    assert "speaks gomocup, boards 5 to 22, openings free swap2 swap swap1" in wrapped[1].words
    for process in wrapped:
        assert process.stop(signal.SIGINT) == 0
    engines = {number for number in processes_of(processes.folder) if _is_engine(number)}
    assert engines == set()


@pytest.mark.parametrize("mode", ["Stubborn", "Forks"])
def test_killed_wrapper_leaves_nothing(processes: Processes, mode: str) -> None:
    """After ``kill -9`` of the wrapper none of the engine's processes is left."""
    server = Server(processes, "--open", NO_LADDER)
    bot = wrap(server, "wild", *brain(mode), options=("--sizes=15", "--pause=0"))
    eventually(lambda: "wild" in server.connected_bots())
    before = processes_of(processes.folder)
    assert any(_is_engine(number) for number in before)
    bot.kill()
    eventually(lambda: not any(map(_is_engine, processes_of(processes.folder))))


def _is_engine(number: int) -> bool:
    """Whether a process is an engine or its launcher."""
    try:
        words = Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False
    return b"brains.py" in words or b"launcher.py" in words


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--", "./nowhere"], "no program ./nowhere; give its path, such as ./nowhere"),
        (["--", "false"], "the engine has ended with status 1; its protocol is unknown"),
    ],
)
def test_engine_that_cannot_be_wrapped(processes: Processes, words: list[str], error: str) -> None:
    """One line says what is wrong, and nothing is left."""
    done = processes.run("bot", "wrap", "--name=x", "--server=127.0.0.1:1", *words)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"meijin: {error}")
    assert len(done.stderr.splitlines()) == 1
