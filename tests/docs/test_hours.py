"""The commands in the tables of docs/hours.md are run, with fewer games and engines of the tests."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import BRAINS
from tests.docs.pages import ROOT, Command, page
from tests.docs.terminal import Terminal

HOURS = page("docs/hours.md")
ROSTER = "name;id\nAda Lovelace;17\n名人;18\nBob;19\nBob;20\n"
CRASH = """\
from meijin.bots import Bot


class Crash(Bot):
    def choose(self, position):
        raise IndexError("no cell")
"""
ENGINE = f"""\
import sys

sys.path.insert(0, {str(BRAINS.parent)!r})
from {BRAINS.stem} import Brain


class Column(Brain):
    \"\"\"Fills a column, or as the old one cells that are far from each other.\"\"\"

    def choose(self):
        width, height = self.size
        step = 7 if "old" in sys.argv[1] else 1
        order = (step * at % (width * height) for at in range(width * height))
        cells = ((width - 1 - at // height, at % height) for at in order)
        return next(cell for cell in cells if cell not in self.stones)


Column().run()
"""


@pytest.fixture
def folder(terminal: Terminal) -> Path:
    """What the three have in their folder when their hours begin."""
    folder = terminal.folder
    (folder / "benchmarks").symlink_to(ROOT / "benchmarks")
    (folder / "names.csv").write_text(ROSTER)
    (folder / "crash.py").write_text(CRASH)
    (folder / "engine.py").write_text(ENGINE)
    for name in ("new", "old", "rapfi"):
        path = folder / f"pbrain-{name}"
        words = shlex.join([sys.executable, "-S", "-E", str(folder / "engine.py"), name])
        path.write_text(f"#!/bin/sh\nexec {words}\n")
        path.chmod(0o755)
    return folder


@pytest.mark.long
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("whose", ["An author's", "A researcher's", "A teacher's"])
def test_the_commands_of_an_hour(whose: str, terminal: Terminal) -> None:
    """Each succeeds after those before it."""
    heading = f"## {whose} hour"
    for cell, *_ in HOURS.table(heading):
        text = re.sub(r"--games \d+", "--games 10", cell.strip("`"))
        terminal.type(Command(f"{HOURS.name}: {heading}", text))
    terminal.close()
