"""Bots, the SDK and commands where Python lacks what Windows lacks; the server runs as usual."""

import signal
import sys
from pathlib import Path

import pytest
from tests.system.processes import NO_LADDER, Process, Processes, Server, eventually

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
NEEDS_A_SERVER = (
    ("serve", "--data=made"),
    ("demo", "--data=made"),
    ("match", "random", "random", "--local", "--data=made"),
    ("bot", "doctor", "random"),
)


def run(processes: Processes, name: str, *words: str, **env: str) -> Process:
    """Run a `meijin` command to its end, as there."""
    process = processes.start_command(name, *MEIJIN, *words, **OLD_ENCODING, **env)
    process.wait()
    return process


def test_bots_play_and_commands_show_it(processes: Processes) -> None:
    """Every built-in bot and a script play real matches; Ctrl-C ends each in order."""
    server = Server(processes, NO_LADDER, "--open")
    told = {"MEIJIN_SERVER": server.address}
    script = processes.folder / "first.py"
    script.write_text(SCRIPT, encoding="utf-8")
    bots = [
        processes.start_command(name, *MEIJIN, "bot", "run", name, **OLD_ENCODING, **told)
        for name in BUILT_IN
    ]
    bots.append(processes.start_command("first", *FOREIGN, str(script), **OLD_ENCODING, **told))
    names = (*BUILT_IN, "first")
    eventually(lambda: server.connected_bots() >= set(names))
    for number, match in enumerate(MATCHES):
        played = run(processes, f"match-{number}", "match", *match, **told)
        assert played.wait() == 0, played.words
        assert "faults 0 and 0" in played.words
    shown = run(processes, "show", "game", "show", "1", **told)
    assert shown.wait() == 0, shown.words
    for bot in bots:
        assert bot.stop(signal.SIGINT) == 0, bot.words
        assert "Traceback" not in bot.words


def test_old_encodings_lose_nothing(processes: Processes) -> None:
    """Pipes hold UTF-8 where the system's own encoding lacks what tables show."""
    shown = run(processes, "tree", "learn", "tree")
    assert shown.wait() == 0, shown.words
    assert "─" in shown.words


@pytest.mark.parametrize("words", NEEDS_A_SERVER, ids=" ".join)
def test_what_needs_a_server_says_so(processes: Processes, words: tuple[str, ...]) -> None:
    """One line tells where a server runs, and nothing is made before it."""
    refused = run(processes, "refused", *words)
    assert refused.wait() in {1, 2}
    (line,) = refused.words.splitlines()
    assert line.startswith("meijin: the server runs on Linux and macOS; on Windows start it in WSL")
    assert not (processes.folder / "made").exists()


def test_engines_are_wrapped_elsewhere(processes: Processes) -> None:
    """One line says where."""
    refused = run(processes, "wrap", "bot", "wrap", "--", sys.executable)
    assert refused.wait() == 1
    (line,) = refused.words.splitlines()
    assert line.startswith("meijin: engines are wrapped on Linux and macOS; on Windows do it in")
