"""`meijin bot doctor` as a command, with all its processes."""

import json
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.system.processes import (
    MEIJIN,
    NO_LADDER,
    Processes,
    Server,
    eventually,
    processes_of,
)

BAD_BOTS = Path(__file__).parents[1] / "cli" / "doctor" / "bad_bots.py"


def examine(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the doctor to its end."""
    command = [*MEIJIN, "bot", "doctor", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_nothing_to_examine(tmp_path: Path) -> None:
    """A status of its own, and one line that says what to do."""
    done = examine(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("meijin: no bot to examine; ")


def test_ctrl_c_leaves_nothing_behind(processes: Processes) -> None:
    """In the middle of a game the bot and the server are stopped too."""
    doctor = processes.start("doctor", "bot", "doctor", f"{BAD_BOTS}:Hangs")
    eventually(lambda: doctor.has_said("hello"))
    assert doctor.stop(signal.SIGINT) == 130
    assert processes_of(processes.folder) == set()


def test_a_bot_that_its_author_starts(processes: Processes) -> None:
    """The doctor says with what, and looks at all but how it starts and ends."""
    words = ("bot", "doctor", "--quick", "--listen=127.0.0.1:0", "--name=ada", "--junit=report.xml")
    doctor = processes.start("doctor", *words)
    eventually(lambda: doctor.has_said("MEIJIN_TOKEN="))
    (line,) = (line for line in doctor.words.splitlines() if "MEIJIN_TOKEN=" in line)
    env = dict(word.split("=", 1) for word in line.split())
    processes.start("bot", "bot", "run", f"{BAD_BOTS}:Good", **env)
    eventually(lambda: not doctor.is_running)
    assert doctor.words.splitlines()[-1].startswith("ada may play: 6 passed, in")
    suite = ET.parse(processes.folder / "report.xml").find("testsuite")
    assert suite is not None
    assert [case.get("name") for case in suite] == [
        "connects",
        "hello",
        "first game",
        "rule freestyle",
        "games at once",
        "cut stream",
    ]


def test_a_reported_version_is_the_one_that_comes(processes: Processes) -> None:
    """A server that asks for the doctor takes the bot that it was told of for examined."""
    server = Server(processes, "--open", "--admission=doctor", NO_LADDER)
    words = (f"{BAD_BOTS}:Good", f"--server={server.address}")
    bot = processes.start("bot", "bot", "run", *words)
    eventually(lambda: bot.has_said("no rated games yet"))
    listed = processes.run("bot", "list", f"--server={server.address}")
    assert "unexamined" in listed.stdout
    options = ("--quick", "--json", "--report", "--name=good")
    done = processes.run("bot", "doctor", *options, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["passed"]
    listed = processes.run("bot", "list", f"--server={server.address}")
    assert "unexamined" not in listed.stdout
