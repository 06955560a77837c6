"""Engines' commands."""

import sys
from pathlib import Path

import pytest

from meijin.bots.bridge.command import display_name, find_command
from meijin.bots.bridge.errors import EngineStartError


def program(folder: Path, name: str, mode: int = 0o755) -> Path:
    """A file that may be run, or not."""
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_program_on_the_path_or_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either is found, with its whole path; its arguments stay as they are."""
    path = program(tmp_path, "pbrain-mine")
    assert find_command([str(path), "-x", "./y"]) == [str(path), "-x", "./y"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_command(["pbrain-mine"]) == [str(path)]


def test_program_that_is_none(tmp_path: Path) -> None:
    """The message says what to do."""
    for words, error in (
        ([], "give its command behind --"),
        ([str(tmp_path / "nothing")], "no program .*nothing; give its path"),
        ([str(tmp_path)], "is a folder"),
        ([str(program(tmp_path, "text", 0o644))], r"can't be run; chmod \+x"),
        ([str(tmp_path / "nothing.exe")], "no file"),
    ):
        with pytest.raises(EngineStartError, match=error):
            find_command(words)


def test_windows_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run by wine where that is installed, and refused where it isn't."""
    engine = program(tmp_path, "pbrain-win.EXE", 0o644)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineStartError, match="wine, which would run it, is not installed"):
        find_command([str(engine)])
    wine = program(tmp_path, "wine")
    assert find_command([str(engine), "x"]) == [str(wine), str(engine), "x"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/opt/pbrain-rapfi"], "rapfi"),
        (["/usr/bin/wine", "/opt/pbrain-Yixin2018.exe"], "Yixin2018"),
        ([sys.executable, "-S", "brains.py", "mode"], "brains"),
        (["/usr/bin/python3"], "python3"),
        (["/opt/my engine (new)"], "my-engine-new"),
        (["/opt/\u65e5\u672c"], "engine"),
        (["/opt/" + "x" * 90], "x" * 40),
    ],
)
def test_names(command: list[str], name: str) -> None:
    """An engine is called what its file is, as far as a bot may be."""
    assert display_name(command) == name
