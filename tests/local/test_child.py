"""What a child process says, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from meijin.local.child import Child

FAILING = """
def inner():
    raise IndexError("list index out of range")
inner()
"""


def ended(folder: Path, program: str) -> Child:
    """A program that has ended, behind what an earlier one has said."""
    log = folder / "ada.log"
    log.write_text("Traceback (most recent call last):\nearlier\n")
    with log.open("a") as file:
        begin = file.tell()
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=file, stderr=file, text=True
        )
        process.wait()
    return Child(process, log, begin)


def test_the_end_is_told_with_the_last_line(tmp_path: Path) -> None:
    assert ended(tmp_path, "raise SystemExit('meijin: no file')").end == "exit status 1: no file"
    assert ended(tmp_path, "import os; os._exit(3)").end == "exit status 3: it said nothing"


def test_the_last_frames_are_those_of_the_last_traceback(tmp_path: Path) -> None:
    frames = ended(tmp_path, FAILING).last_frames
    assert frames[-1] == "IndexError: list index out of range"
    assert any("line 3, in inner" in line for line in frames)


GOING_ON = """
import traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
print("goes on")
print("done")
"""


@pytest.mark.parametrize("program", ["print('done')", GOING_ON])
def test_a_process_without_a_traceback_has_no_frames(tmp_path: Path, program: str) -> None:
    assert ended(tmp_path, program).last_frames == []
