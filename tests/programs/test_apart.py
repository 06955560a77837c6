"""The examination in a child process: what it finds, and what ends it."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests.programs.conftest import Write
from tests.programs.raw_zip import BOT, Raw, plain, wheel, written
from tests.programs.test_kinds import elf

from meijin.programs.archive import child, examine, examine_apart
from meijin.programs.archive.script import MAX_SCRIPT_BYTES
from meijin.programs.errors import ProgramError, ProgramRefusedError
from meijin.programs.kinds import MAX_UNPACKED_BYTES

MANIFEST = b'engine = "pbrain"\nprotocol = "gtp"\nrules = ["renju"]\n[options]\na = 1'


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (BOT, "ada.py"),
        (elf(), "pbrain-ada"),
        (plain({"pbrain": elf(), "meijin.toml": MANIFEST}), "ada.zip"),
        (plain({"bot.py": BOT, "requirements.txt": b"numpy"}), "ada.zip"),
        (wheel({"ada.py": BOT}, needs=["numpy"]), "ada-1.0-py3-none-any.whl"),
        (b"ada@sha256:" + b"0" * 64, "image"),
    ],
)
def test_child_finds_what_the_process_finds(data: bytes, name: str, write: Write) -> None:
    path = write(data)
    assert examine_apart(path, None, name) == examine(path, None, name)


def test_child_refuses_as_the_process_does(write: Write) -> None:
    path = write(written([Raw(b"../a", b"x")]))
    with pytest.raises(ProgramRefusedError) as own:
        examine(path, None, "ada.zip")
    with pytest.raises(ProgramRefusedError) as childs:
        examine_apart(path, None, "ada.zip")
    assert str(childs.value) == str(own.value)


def test_child_warns_of_nothing(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even of itself, which would end it where warnings are errors."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    path = write(BOT)
    assert examine_apart(path, None, "ada.py") == examine(path, None, "ada.py")


def test_file_name_of_dashes_is_no_option(write: Write) -> None:
    with pytest.raises(ProgramRefusedError, match="--help"):
        examine_apart(write(b"x"), None, "--help")


def test_limit_of_the_operator_reaches_the_child(write: Write) -> None:
    with pytest.raises(ProgramRefusedError, match="at most 9 may be"):
        examine_apart(write(BOT), None, "ada.py", max_bytes=9)


def test_child_that_takes_too_long_is_ended(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program is refused, and no process stays."""
    monkeypatch.setattr(sys, "executable", str(_sleeper(write)))
    with pytest.raises(ProgramRefusedError, match="takes too long"):
        examine_apart(write(BOT), None, "ada.py", timeout=timedelta(milliseconds=300))


def _sleeper(write: Write) -> Path:
    path = write(b"").with_name("sleeper")
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kill -XCPU $$", "takes too long"),
        ("kill -KILL $$", "takes too long"),
        ("kill -SEGV $$", "fails with status -11"),
        ("exit 3", "fails with status 3"),
        ("head -c 300000 /dev/zero; exit 0", "fails with status 0"),
    ],
)
def test_child_that_ends_badly_refuses_the_program(
    line: str, why: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = write(b"").with_name("child")
    child.write_text(f"#!/bin/sh\nulimit -c 0\n{line}\n")
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    with pytest.raises(ProgramRefusedError, match=why):
        examine_apart(write(BOT), None, "ada.py")


def test_child_that_can_not_start_is_no_refusal(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program may be a good one."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ProgramError, match="try again later") as caught:
        examine_apart(write(BOT), None, "ada.py")
    assert not isinstance(caught.value, ProgramRefusedError)


def test_child_limits_itself() -> None:
    """Memory, time and files, before it opens the program."""
    lines = (
        "import resource; from meijin.programs.archive import child; child.limit_itself();"
        "print([resource.getrlimit(limit)[1] for limit in"
        " (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)])"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, check=True)
    seconds = int(child.CPU_TIME.total_seconds())
    assert done.stdout.decode().strip() == str([child.MEMORY_BYTES, seconds, 0])


HEAVY = {
    "names": (b"a;" * (MAX_SCRIPT_BYTES // 2), "ada.py"),
    "calls": (b"a()\n" * (MAX_SCRIPT_BYTES // 4), "ada.py"),
    "zeros": (
        written([Raw(b"bot.py", BOT), Raw(b"a", bytes(MAX_UNPACKED_BYTES - 9999))]),
        "ada.zip",
    ),
    "empty blocks": (
        written([Raw(b"a", b"", packed=b"\0\0\0\xff\xff" * 2_000_000 + b"\1\0\0\xff\xff")]),
        "ada.zip",
    ),
    "engine": (elf() + bytes(9 << 20), "pbrain"),
}


@pytest.mark.parametrize("case", HEAVY)
def test_heaviest_programs_stay_within_the_limits_of_the_child(case: str, write: Write) -> None:
    """None of them needs more memory or time than the child has."""
    data, name = HEAVY[case]
    try:
        examine_apart(write(data), None, name)
    except ProgramRefusedError as error:
        assert "its examination" not in error.what  # noqa: PT017 - most are no bots
