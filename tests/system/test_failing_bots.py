"""Bots that fail in a local match, each in a way of its own: told why, with a status, and gone."""

from pathlib import Path

import pytest
from tests.processes import Processes, processes_of

HEAD = """
import os, signal, time
from meijin.bots import Bot, Capabilities

{top}

class Bad(Bot):
    capabilities = Capabilities(min_size=3, max_size=22)

    def prepare(self):
        {prepare}

    def choose(self, position):
        {choose}
"""
MATCH = ("match", "bad.py", "random", "--local", "--games=4", "--time=5/move", "--variant=5x5")
LOST, FAULTY = 5, 6
"""Exit statuses: of a bot whose process ended or never came, and of too many forfeits."""

FAILURES = {
    "import": (LOST, "bad.py, line 5", {"top": "1 / 0"}),
    "exception": (
        FAULTY,
        "IndexError: no cell (bad.py, line 14)",
        {"choose": "raise IndexError('no cell')"},
    ),
    "loop": (FAULTY, "for a move that had 0.200 s", {"choose": "while True: pass"}),
    "killed": (
        FAULTY,
        "its process has ended, killed by SIGKILL",
        {"choose": "os.kill(os.getpid(), signal.SIGKILL)"},
    ),
    "silent": (LOST, "bad is not ready after 3 s", {"prepare": "time.sleep(600)"}),
}
"""By what goes wrong: the exit status, the cause that is told, and the program."""
MORE = {"silent": ("--wait=3",), "loop": ("--time=0.2/move",)}


def write_bot(folder: Path, **parts: str) -> None:
    usual = {"top": "", "prepare": "pass", "choose": "return position.legal_cells()[0]"}
    (folder / "bad.py").write_text(HEAD.format(**(usual | parts)))
    (folder / "openings.txt").write_text("c3\nd4\n")


@pytest.mark.parametrize("failure", FAILURES)
def test_the_cause_is_told(processes: Processes, failure: str) -> None:
    """In the command's own words; nothing hangs, nothing is left running, and the logs stay."""
    status, cause, parts = FAILURES[failure]
    write_bot(processes.folder, **parts)
    words = (*MATCH, "--max-faults=2", "--openings=openings.txt", *MORE.get(failure, ()))
    done = processes.run(*words, TMPDIR=str(processes.folder))
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    assert cause in said
    assert not processes_of(processes.folder)
    (logs,) = processes.folder.glob("meijin-*")
    assert f"logs: {logs}" in said
    assert {path.name for path in logs.iterdir()} == {
        "bad.log",
        "random.log",
        "server.log",
        "worker.log",
    }


def test_the_first_fault_is_in_the_json(processes: Processes) -> None:
    """With the bot's own words, where it happened, and where the logs are; a test stops too."""
    write_bot(processes.folder, choose="raise IndexError('no cell')")
    told = processes.ask(*MATCH, "--max-faults=2", "--sprt=0,50", status=FAULTY)
    (fault,) = told["first_faults"]
    assert fault["bot"] == "bad"
    assert "IndexError: no cell" in fault["text"]
    assert 'File "bad.py", line 14, in choose' in fault["traceback"]
    assert (Path(told["logs"]) / "bad.log").exists()


def test_a_bot_that_ends_once_is_started_again(processes: Processes) -> None:
    """It loses the game that it has left, and the match is played to its end."""
    choose = (
        "if not os.path.exists('ended'): open('ended', 'w').close(); os._exit(3)\n"
        "        return position.legal_cells()[0]"
    )
    write_bot(processes.folder, choose=choose)
    done = processes.run(*MATCH, "--time=60", TMPDIR=str(processes.folder))
    assert done.returncode == 0, done.stderr
    assert "its process has ended, exit status 3" in done.stdout
    assert "faults 1 and 0" in done.stdout
    assert "logs: " in done.stdout
