"""A small class from its roster to its grades, with real processes."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.system.processes import NO_LADDER, Process, Processes, Server, eventually
from tests.system.screen import terminal

ROSTER = "name;id;mail\nAda Lovelace;1;ada@example.org\n名人;2;\nŁukasz Groß;3;\nEve <b>;4;\n"
HANDLES = ["ada-lovelace", "student-02", "lukasz-gross", "eve-b"]
CRASHER = """\
from meijin.bots import Bot, Capabilities


class Crasher(Bot):
    name = "crasher"
    capabilities = Capabilities(min_size=3, max_games=8)

    def choose(self, position):
        return {}[len(position.board.moves)]
"""


class Room:
    """A class at a server of its own."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self.server = Server(processes, NO_LADDER)
        self.where = f"--server={self.server.address}"
        self.folder = processes.folder / "CS101"

    def run(self, *words: str, status: int = 0) -> str:
        """What a command of the class prints, by the operator."""
        done = self.processes.run("class", *words, self.where, MEIJIN_DATA=str(self.server.data))
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if status in {0, 3} else done.stderr

    def start(self, handle: str, bot: str = "random", *options: str) -> Process:
        """A student's bot, with its token."""
        token = (self.folder / f"{handle}.token").read_text().strip()
        words = ("bot", "run", bot, *options, self.where)
        return self.processes.start(handle, *words, MEIJIN_TOKEN=token)

    def students(self) -> dict[str, dict[str, object]]:
        """The class by handles."""
        found = json.loads(self.run("show", "CS101", "--json"))
        return {each["handle"]: each for each in found["students"]}


@pytest.fixture
def room(processes: Processes) -> Room:
    """A class of four."""
    (processes.folder / "names.csv").write_text(ROSTER)
    (processes.folder / "crasher.py").write_text(CRASHER)
    room = Room(processes)
    room.run("create", "--roster=names.csv", "--name=CS101")
    return room


def table_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table by their titles."""
    return list(csv.DictReader(StringIO(path.read_text("utf-8-sig"))))


def test_a_class_from_its_roster_to_its_grades(room: Room) -> None:
    """Tokens for all, a deadline that refuses what is late, grades that go on, reports."""
    merge = table_of(room.folder / "mail-merge.csv")
    assert [row["handle"] for row in merge] == HANDLES
    assert [row["name"] for row in merge][1] == "名人"
    for row in merge:
        file = room.folder / f"{row['handle']}.token"
        assert (file.read_text().strip(), file.stat().st_mode & 0o777) == (row["token"], 0o600)
    assert (room.folder / "mail-merge.csv").stat().st_mode & 0o777 == 0o600
    (room.processes.folder / "names.csv").write_text(ROSTER + "Zoë;5;\n")
    assert "5 students, 1 of them new" in room.run("create", "--roster=names.csv", "--name=CS101")
    assert table_of(room.folder / "mail-merge.csv")[:4] == merge

    bots = [room.start(handle) for handle in HANDLES[:3]]
    bots.append(room.start("eve-b", "crasher.py"))
    eventually(lambda: room.server.connected_bots() >= set(HANDLES))
    room.run("deadline", "CS101", "now")
    for bot in bots:
        bot.stop()
    late = room.start("ada-lovelace", "reference")
    assert late.wait() == 1
    assert "the deadline of CS101 was" in late.words
    assert room.students()["ada-lovelace"]["late_attempts"] == 1

    grade = ("grade", "CS101", "--levels=", "--variant=5x5", "--games=4", "--wait=0")
    assert "…" in room.run(*grade, status=3)  # nobody is there
    bots = [room.start(handle) for handle in HANDLES[:3]]
    bots.append(room.start("eve-b", "crasher.py"))
    eventually(lambda: room.server.connected_bots() >= set(HANDLES))
    grade = (*grade[:-1], "--wait=60")
    room.run(*grade)
    first = (room.folder / "grades.csv").read_bytes()
    rows = table_of(room.folder / "grades.csv")
    assert [row["reference tournament"] for row in rows] == ["1", "2", "3", "4", ""]
    assert {row["reference"] for row in rows[:3]} <= {"failed", "undecided"}
    assert [row["reference"] for row in rows[3:]] == ["undecided", "absent"]
    assert [row["points"] for row in rows[3:]] == ["0.0", "0.0"]
    assert (rows[3]["faults"], rows[3]["reference score"]) == ("4", " +0 =0 -4")
    room.run(*grade)
    assert (room.folder / "grades.csv").read_bytes() == first

    room.run("report", "CS101")
    page = (room.folder / "reports" / "eve-b.html").read_text()
    assert "<h1>Eve &lt;b&gt;: CS101</h1>" in page
    assert "KeyError" in page
    assert "crasher.py" in page
    assert "<pre>" in page
    assert "pairs have met enough positions" in room.run("copies", "CS101")
    assert "CS101" in room.run("list")
    said = room.run("ladder", "CS101", "--anonymous", status=1)
    assert said.count("\n") == 1


def test_a_class_fits_the_screen(room: Room) -> None:
    """At 120, 80 and 40 columns no line is longer, and every student is on it."""
    for width in (120, 80, 40):
        words = ("class", "show", "CS101", room.where)
        with terminal(
            room.processes.folder, width, *words, MEIJIN_DATA=str(room.server.data)
        ) as opened:
            assert opened.wait() == 0
        assert max(map(cell_len, opened.screen.lines)) <= width, opened.screen.lines
        for name in ("Ada", "名人", "Łukasz", "Eve"):
            assert opened.screen.shows(name)
