"""A class whose bots the arena runs, from its roster to its grades, with real processes."""

import csv
from io import StringIO

import pytest
from tests.processes import Commands, Processes
from tests.system.server import Server

from meijin.programs.sandbox.abilities import CannotHostError, require
from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox

ROSTER = "name,id\nAda Lovelace,1\nGrace Hopper,2\nBlaise Pascal,3\n"
HANDLES = ("ada-lovelace", "grace-hopper", "blaise-pascal")
BOT = """\
from meijin.bots import Bot, Capabilities


class {name}(Bot):
    version = "{name}"
    capabilities = Capabilities(min_size=5)

    def choose(self, position):
        print("thinking", flush=True)
        return max(position.legal_cells(), key=lambda cell: cell * {factor} % 101)
"""


def student(server: Server, handle: str) -> Commands:
    """The commands of a student, who has the bot's token and no operator's."""
    token = (server.folder / "CS101" / f"{handle}.token").read_text().strip()
    return Commands(server.folder, MEIJIN_SERVER=server.address, MEIJIN_TOKEN=token)


@pytest.fixture
def server(processes: Processes) -> Server:
    """A server that hosts programs, where the machine can."""
    try:
        require(BubblewrapSandbox().check())
    except CannotHostError as error:
        pytest.skip(str(error))
    return Server(processes, "--hosting")


def test_a_class_uploads_and_is_graded(server: Server) -> None:
    """Nobody is connected: the arena examines and plays what was uploaded before the deadline."""
    (server.folder / "names.csv").write_text(ROSTER)
    create = ("class", "create", "--roster=names.csv")
    said = server.tell(*create, "--name=CS101", "--hosted")
    assert "each student uploads: MEIJIN_TOKEN=... meijin bot upload FILE" in said
    papers = server.folder / "CS101"
    students = [student(server, handle) for handle in HANDLES]
    for number, each in enumerate(students):
        file = f"bot{number}.py"
        source = BOT.format(name=f"Bot{number}", factor=7 + number)
        (server.folder / file).write_text(source)
        each.tell("bot", "upload", file)
    (server.folder / "late.py").write_text(BOT.format(name="Late", factor=17))
    server.tell("class", "deadline", "CS101", "now")
    assert "is late: the deadline of CS101 was" in students[0].refusal("bot", "upload", "late.py")

    grade = ("class", "grade", "CS101", "--levels=", "--variant=5x5", "--games=2")
    server.tell(*grade, "--wait=60")
    text = (papers / "grades.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(StringIO(text)))
    assert [(row["handle"], row["version"]) for row in rows] == [
        (handle, f"Bot{number}") for number, handle in enumerate(HANDLES)
    ]
    assert {row["reference"] for row in rows} <= {"failed", "undecided", "passed"}
    assert {(row["final"], row["faults"]) for row in rows} == {("yes", "0")}

    listed = students[1].ask("bot", "program", "list")["programs"]
    (program,) = (each["program_id"] for each in listed)
    assert "thinking" in students[1].tell("bot", "program", "log", program)
    shown = students[1].ask("bot", "program", "show", program)["program"]
    assert {each["status"] for each in shown["findings"]} <= {"passed", "warned"}
    assert "no program" in students[2].refusal("bot", "program", "log", program)

    assert f"{program}, admitted" in server.tell("class", "show", "CS101")
    server.tell(*create, "--name=CS102")
    refused = server.refusal(*create, "--name=CS102", "--hosted")
    assert "CS102 is there, and its students' bots connect" in refused
