"""Bots, the SDK and commands where Python lacks what Windows lacks; the server runs as usual."""

import signal
import sys
from pathlib import Path

import pytest
from tests.processes import Process, Processes, eventually
from tests.system.server import Server

FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_system.py")))
MEIJIN = (*FOREIGN, "-m", "meijin")
OLD_ENCODING = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""What pipes are written in there, unless a program says otherwise."""
BUILT_IN = ("random", "reference", "alphabeta", "mcts")
SCRIPT = '''
"""A bot of the SDK, as its author starts it."""
from meijin.bots import Bot, run


class First(Bot):
    def choose(self, position):
        return position.legal_cells()[0]


if __name__ == "__main__":
    run(First())
'''
MATCHES = (
    ("first", "random", "--time=5/move", "--games=2"),
    ("alphabeta", "mcts", "--time=0.5/move", "--variant=5x5", "--games=1"),
    ("reference", "random", "--time=5/move", "--variant=3x3, 3 in a row", "--games=2"),
)
WSL = "the server runs on Linux and macOS; on Windows start it in WSL"
REFUSALS = {
    "serve --data=made": WSL,
    "demo --data=made": WSL,
    "match random random --local --data=made": WSL,
    "bot doctor random": WSL,
    f"bot wrap -- {sys.executable}": "engines are wrapped on Linux and macOS; on Windows do it in",
}


def run(processes: Processes, name: str, *words: str, **env: str) -> tuple[int, str]:
    """How a `meijin` command ends as there, and what it says."""
    process = processes.start_command(name, *MEIJIN, *words, **OLD_ENCODING, **env)
    return process.wait(), process.words


def test_bots_play_and_commands_show_it(server: Server) -> None:
    """Every built-in bot and a script play real matches; Ctrl-C ends each in order."""
    processes, told = server.processes, {"MEIJIN_SERVER": server.address}
    (processes.folder / "first.py").write_text(SCRIPT, encoding="utf-8")

    def start(name: str, *command: str) -> Process:
        return processes.start_command(name, *command, **OLD_ENCODING, **told)

    bots = [start(name, *MEIJIN, "bot", "run", name) for name in BUILT_IN]
    bots.append(start("first", *FOREIGN, "first.py"))
    eventually(lambda: server.connected_bots() >= {*BUILT_IN, "first"})
    for number, match in enumerate(MATCHES):
        status, words = run(processes, f"match-{number}", "match", *match, **told)
        assert status == 0, words
        assert "faults 0 and 0" in words
    status, words = run(processes, "show", "game", "show", "1", **told)
    assert status == 0, words
    for bot in bots:
        assert bot.stop(signal.SIGINT) == 0, bot.words
        assert "Traceback" not in bot.words


def test_old_encodings_lose_nothing(processes: Processes) -> None:
    """Pipes hold UTF-8 where the system's own encoding lacks what tables show."""
    status, words = run(processes, "tree", "learn", "tree")
    assert status == 0, words
    assert "─" in words


@pytest.mark.parametrize("command", REFUSALS)
def test_what_needs_another_system_says_so(processes: Processes, command: str) -> None:
    """One line tells where it runs, and nothing is made before it."""
    status, words = run(processes, "refused", *command.split())
    assert status in {1, 2}
    (line,) = words.splitlines()
    assert line.startswith(f"meijin: {REFUSALS[command]}")
    assert not (processes.folder / "made").exists()
