"""`meijin bot doctor` as a command, with all its processes."""

import signal
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.processes import Processes, processes_of
from tests.system.server import NO_LADDER, Server

BAD_BOTS = Path(__file__).parents[1] / "local" / "doctor" / "bad_bots.py"


def test_ctrl_c_leaves_nothing_behind(processes: Processes) -> None:
    """In the middle of a game the bot and the server are stopped too."""
    doctor = processes.start("doctor", "bot", "doctor", f"{BAD_BOTS}:Hangs")
    doctor.wait_for("hello")
    assert doctor.stop(signal.SIGINT) == 130
    assert processes_of(processes.folder) == set()


def test_a_bot_that_its_author_starts(processes: Processes) -> None:
    """The doctor says with what, and looks at all but how it starts and ends."""
    words = ("bot", "doctor", "--quick", "--listen=127.0.0.1:0", "--name=ada", "--junit=report.xml")
    doctor = processes.start("doctor", *words)
    doctor.wait_for("MEIJIN_TOKEN=")
    (line,) = (line for line in doctor.words.splitlines() if "MEIJIN_TOKEN=" in line)
    env = dict(word.split("=", 1) for word in line.split())
    processes.start("bot", "bot", "run", f"{BAD_BOTS}:Good", **env)
    doctor.wait()
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
    bot.wait_for("no rated games yet")
    assert "unexamined" in server.tell("bot", "list")
    options = ("--quick", "--report", "--name=good")
    assert server.ask("bot", "doctor", *options, *words)["passed"]
    assert "unexamined" not in server.tell("bot", "list")
