"""A small class from its roster to its grades, with real processes."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.processes import Process, Processes, eventually
from tests.system.screen import terminal
from tests.system.server import NO_LADDER, Server

ROSTER = "name;id;mail\nAda Lovelace;1;ada@example.org\n名人;2;\nŁukasz Groß;3;\nEve <b>;4;\n"
HANDLES = ["ada-lovelace", "student-02", "lukasz-gross", "eve-b"]
ZONE = "XXX-05:30"
"""As the environment has it: five hours and a half east of UTC."""
CRASHER = """\
from meijin.bots import Bot, Capabilities


class Crasher(Bot):
    name = "crasher"
    capabilities = Capabilities(min_size=3, max_games=8)

    def choose(self, position):
        return {}[len(position.board.moves)]
"""


class Room(Server):
    """A server with a class."""

    def __init__(self, processes: Processes) -> None:
        super().__init__(processes, NO_LADDER)
        self.papers = self.folder / "CS101"
        (self.folder / "names.csv").write_text(ROSTER)
        (self.folder / "crasher.py").write_text(CRASHER)
        self.create()

    def create(self) -> str:
        return self.tell("class", "create", "--roster=names.csv", "--name=CS101")

    def start_student(self, handle: str, bot: str = "random") -> Process:
        token = (self.papers / f"{handle}.token").read_text().strip()
        words = ("bot", "run", bot, f"--server={self.address}")
        return self.processes.start(handle, *words, MEIJIN_TOKEN=token)

    def start_students(self) -> list[Process]:
        bots = [self.start_student(handle) for handle in HANDLES[:3]]
        bots.append(self.start_student("eve-b", "crasher.py"))
        eventually(lambda: self.connected_bots() >= set(HANDLES))
        return bots


@pytest.fixture
def room(processes: Processes) -> Room:
    return Room(processes)


def table_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(path.read_text("utf-8-sig"))))


def test_a_class_from_its_roster_to_its_grades(room: Room) -> None:
    """Tokens for all, a deadline that refuses what is late, grades that go on, reports."""
    merge = table_of(room.papers / "mail-merge.csv")
    assert [row["handle"] for row in merge] == HANDLES
    assert [(row["name"], row["id"]) for row in merge][1] == ("名人", "2")
    for row in merge:
        file = room.papers / f"{row['handle']}.token"
        assert (file.read_text().strip(), file.stat().st_mode & 0o777) == (row["token"], 0o600)
    assert (room.papers / "mail-merge.csv").stat().st_mode & 0o777 == 0o600
    (room.folder / "names.csv").write_text(ROSTER + "Zoë;5;\n")
    assert "5 students, 1 of them new" in room.create()
    assert table_of(room.papers / "mail-merge.csv")[:4] == merge

    bots = room.start_students()
    said = room.tell("class", "deadline", "CS101", "now", TZ=ZONE)
    frozen = said.strip().removeprefix("CS101, frozen since ")
    assert frozen.endswith(" UTC+05:30")
    for bot in bots:
        bot.stop()
    late = room.start_student("ada-lovelace", "reference")
    assert late.wait() == 1
    assert f"the deadline of CS101 was {frozen}, and its file or options have changed" in late.words
    students = room.ask("class", "show", "CS101")["students"]
    (ada,) = (each for each in students if each["handle"] == "ada-lovelace")
    assert ada["late_attempts"] == 1

    grade = ("class", "grade", "CS101", "--levels=", "--variant=5x5", "--games=4", "--max-faults=2")
    assert "…" in room.tell(*grade, "--wait=0", status=3)  # nobody is there
    room.start_students()
    said = room.tell(*grade, "--wait=60")
    assert "! stopped by its faults: what was not played is lost" in said
    first = (room.papers / "grades.csv").read_bytes()
    rows = table_of(room.papers / "grades.csv")
    assert [row["reference tournament"] for row in rows] == ["1", "2", "3", "4", ""]
    assert {row["reference"] for row in rows[:3]} <= {"failed", "undecided"}
    assert [row["reference"] for row in rows[3:]] == ["stopped", "absent"]
    assert [row["points"] for row in rows[3:]] == ["0.0", "0.0"]
    assert int(rows[3]["faults"]) >= 2
    assert {row["final"] for row in rows} == {"yes"}
    room.tell(*grade, "--wait=60")
    assert (room.papers / "grades.csv").read_bytes() == first

    room.tell("class", "report", "CS101")
    page = (room.papers / "reports" / "eve-b.html").read_text()
    for part in ("<h1>Eve &lt;b&gt;: CS101</h1>", "KeyError", "crasher.py", "<pre>"):
        assert part in page
    assert "pairs have met enough positions" in room.tell("class", "copies", "CS101")
    assert "CS101" in room.tell("class", "list")
    assert room.refusal("class", "ladder", "CS101", "--anonymous")


def test_a_class_fits_the_screen(room: Room) -> None:
    """At 120, 80 and 40 columns no line is longer, and every student is on it."""
    for width in (120, 80, 40):
        with terminal(room, width, "class", "show", "CS101") as opened:
            assert opened.wait() == 0
        assert max(map(cell_len, opened.screen.lines)) <= width, opened.screen.lines
        for name in ("Ada", "名人", "Łukasz", "Eve"):
            assert opened.screen.shows(name)
