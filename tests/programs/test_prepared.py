"""Prepared programs: all of one in a fresh folder, or nothing, and what starts it."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import typer
from tests.programs.conftest import Write, picture
from tests.programs.raw_zip import BOT, FILE, Raw, plain, wheel, written
from tests.programs.test_kinds import elf
from typer.core import TyperGroup

from meijin.bots import load_bot
from meijin.cli.bot.commands import app
from meijin.programs.archive import examine
from meijin.programs.errors import ProgramError, ProgramRefusedError
from meijin.programs.kinds import ProgramKind
from meijin.programs.prepared import Prepared, Wheelhouse, discard_partials, prepare, wheelhouse

RUN = ("python3", "-P", "-m", "meijin.bots")
WRAP = ("python3", "-P", "-m", "meijin", "bot", "wrap")
EMPTY = Wheelhouse()
NUMBERS = "numbers-2.0-py3-none-any.whl"


@pytest.fixture(name="target")
def _target(tmp_path: Path) -> Path:
    folder = tmp_path / "trees"
    folder.mkdir()
    return folder / "ada"


@pytest.fixture(name="house")
def _house(tmp_path: Path) -> Wheelhouse:
    """A wheelhouse that has one library, which needs another that it has not."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / NUMBERS).write_bytes(library("numbers", "2.0", b"ANSWER = 42\n"))
    (folder / "lonely-1.0-py3-none-any.whl").write_bytes(
        library("lonely", "1.0", b"", needs=["company"])
    )
    return Wheelhouse(folder)


def library(name: str, version: str, source: bytes, needs: list[str] | None = None) -> bytes:
    """A wheel of one module."""
    folder = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {line}\n" for line in needs or [])
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}"
    tags = "Wheel-Version: 1.0\nGenerator: ada\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{name}.py,,\n{folder}/METADATA,,\n{folder}/WHEEL,,\n{folder}/RECORD,,\n"
    return plain(
        {
            f"{name}.py": source,
            f"{folder}/METADATA": head.encode(),
            f"{folder}/WHEEL": tags.encode(),
            f"{folder}/RECORD": record.encode(),
        }
    )


def made(path: Path, name: str, target: Path, house: Wheelhouse = EMPTY) -> Prepared:
    return prepare(path, examine(path, None, name), target, wheelhouse=house)


UNPACKED: list[tuple[bytes, str, set[str], tuple[str, ...]]] = [
    (BOT, "ada.py", {"bot.py"}, (*RUN, "/bot/bot.py")),
    (elf(), "pbrain-ada", {"engine"}, (*WRAP, "--", "/bot/engine")),
    (plain({"bot.py": BOT, "a/b": b"x"}), "a.zip", {"bot.py", "a/b"}, (*RUN, "/bot/bot.py")),
    (
        plain({"ada/bot.py": BOT, "__MACOSX/x": b"x"}),
        "a.zip",
        {"bot.py"},
        (*RUN, "/bot/bot.py"),
    ),
    (
        plain({"x.py": BOT, "meijin.toml": b'bot = "x.py:Ada"\n[options]\ndepth = 3'}),
        "a.zip",
        {"x.py", "meijin.toml"},
        (*RUN, "/bot/x.py:Ada", "depth=3"),
    ),
    (
        plain(
            {
                "b/pbrain": elf(),
                "meijin.toml": b'engine = "b/pbrain"\nprotocol = "yixin"\n'
                b'rules = ["renju", "freestyle"]\n[options]\nhash = "1 2"',
            }
        ),
        "a.zip",
        {"b/pbrain", "meijin.toml"},
        (
            *(*WRAP, "--protocol", "yixin", "--rules", "renju,freestyle"),
            *("-o", "hash=1 2", "--", "/bot/b/pbrain"),
        ),
    ),
    (
        plain({"main.py": b"", "meijin.toml": b'command = ["python3", "main.py"]'}),
        "a.zip",
        {"main.py", "meijin.toml"},
        ("python3", "main.py"),
    ),
    (
        plain({"run": b"#!/bin/sh", "meijin.toml": b'command = ["./run", "-x"]'}),
        "a.zip",
        {"run", "meijin.toml"},
        ("/bot/run", "-x"),
    ),
]


@pytest.mark.parametrize("case", UNPACKED, ids=lambda case: " ".join(case[3]))
def test_program_is_unpacked_with_its_command(
    case: tuple[bytes, str, set[str], tuple[str, ...]], write: Write, target: Path
) -> None:
    data, name, files, command = case
    assert made(write(data), name, target) == Prepared(target, command)
    there = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert there == files


@pytest.mark.parametrize(
    "command",
    sorted({case[3] for case in UNPACKED if case[3][: len(WRAP)] == WRAP}),
    ids=" ".join,
)
def test_command_is_one_that_the_command_line_knows(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its options, and no server but that of the variable."""
    monkeypatch.setenv("MEIJIN_SERVER", "unix:/run/arena/bot.sock")
    name, *arguments = command[len(WRAP) - 1 :]
    commands = typer.main.get_command(app)
    assert isinstance(commands, TyperGroup)
    parsed = commands.commands[name].make_context(name, arguments)
    assert not parsed.args
    assert parsed.params


def test_image_has_its_own_command(write: Write, target: Path) -> None:
    reference = "ada@sha256:" + "0" * 64
    prepared = made(write(reference.encode()), "image", target)
    assert (prepared.command, prepared.image) == ((), reference)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [(FILE, 0o644), (0o100755, 0o755), (0o104777, 0o755), (0o102000, 0o644), (0, 0o644)],
)
def test_files_have_plain_modes(mode: int, wanted: int, write: Write, target: Path) -> None:
    """None is set-user-ID, writable by others or unreadable, whatever the mask is."""
    before = os.umask(0o077)
    try:
        made(write(written([Raw(b"bot.py", BOT), Raw(b"a/x", b"", mode=mode)])), "a.zip", target)
    finally:
        os.umask(before)
    assert stat.S_IMODE((target / "a/x").stat().st_mode) == wanted
    assert stat.S_IMODE((target / "a").stat().st_mode) == 0o755
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


def test_engine_is_executable_whatever_the_archive_says(write: Write, target: Path) -> None:
    data = plain({"pbrain": elf(), "meijin.toml": b'engine = "pbrain"'})
    made(write(data), "a.zip", target)
    assert os.access(target / "pbrain", os.X_OK)


def test_bot_that_is_unpacked_can_be_loaded(write: Write, target: Path) -> None:
    made(write(BOT), "ada.py", target)
    assert type(load_bot(str(target / "bot.py"))).__name__ == "Ada"


def test_bot_of_a_wheel_is_loaded_by_its_entry_point(write: Write, target: Path) -> None:
    """As `meijin bot run` would, in a process that has the variables of the program."""
    files = {"ada/__init__.py": b"", "ada/play.py": b"from .base import *\n" + BOT}
    data = wheel({**files, "ada/base.py": b""}, points="[meijin.bots]\nada = ada.play:Ada\n")
    prepared = made(write(data), "ada-1.0-py3-none-any.whl", target)
    assert prepared.command == (*RUN, "/bot/.meijin/bot.py")
    assert prepared.environment == (("PYTHONPATH", "/bot"),)
    lines = "import sys; from meijin.bots import load_bot; print(type(load_bot(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", lines, target / ".meijin/bot.py"],
        env={"PYTHONPATH": str(target)},
        capture_output=True,
        check=True,
    )
    assert b"Ada" in done.stdout


def test_libraries_are_installed_from_the_wheelhouse(
    write: Write, target: Path, house: Wheelhouse
) -> None:
    data = plain({"bot.py": BOT, "requirements.txt": b"Numbers>=2"})
    prepared = made(write(data), "a.zip", target, house)
    assert prepared.environment == (("PYTHONPATH", "/bot/.meijin/libraries"),)
    assert (target / ".meijin/libraries/numbers.py").read_bytes() == b"ANSWER = 42\n"
    assert [path.name for path in (target / ".meijin").iterdir()] == ["libraries"]
    assert [path.name for path in target.parent.iterdir()] == ["ada"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("torch\nnumbers", "the arena has no torch; do without, or ask its operator; it has lon"),
        ("numbers>=3", "numbers>=3"),
        ("lonely", "company"),
    ],
)
def test_library_that_is_not_there_is_told(
    line: str, why: str, write: Write, target: Path, house: Wheelhouse
) -> None:
    """Nothing of the program is kept."""
    data = plain({"bot.py": BOT, "requirements.txt": line.encode()})
    with pytest.raises(ProgramRefusedError, match=why):
        made(write(data), "a.zip", target, house)
    assert list(target.parent.iterdir()) == []


def test_no_wheelhouse_has_no_library(write: Write, target: Path) -> None:
    data = plain({"bot.py": BOT, "requirements.txt": b"numbers"})
    with pytest.raises(ProgramRefusedError, match="it has no libraries"):
        made(write(data), "a.zip", target)


def test_installation_without_end_is_ended(
    target: Path, house: Wheelhouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheelhouse, "_pip", lambda: ["/bin/sh", "-c", "exec sleep 5"])
    with pytest.raises(ProgramError, match="has not installed numbers"):
        house.install(["numbers"], target, timeout=timedelta(milliseconds=300))


def test_interpreter_without_pip_takes_the_one_it_comes_with(
    target: Path, house: Wheelhouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    if not any(next(folder.glob("pip-*.whl"), None) for folder in wheelhouse._BUNDLED):
        pytest.skip("this Python comes with no pip")
    house.install(["numbers"], target)
    assert (target / "numbers.py").exists()


def test_interpreter_without_any_pip_is_told(
    target: Path, house: Wheelhouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(wheelhouse, "_BUNDLED", ())
    with pytest.raises(ProgramError, match="install pip there"):
        house.install(["numbers"], target)


def test_damaged_program_leaves_nothing(write: Write, target: Path) -> None:
    """Also where bytes go bad only after the examination."""
    good = plain({"bot.py": BOT, "data": b"x" * 5000})
    path = write(good)
    contents = examine(path, None, "a.zip")
    before = picture(target.parent)
    for place in range(good.index(b"data") + 4, good.index(b"PK\x01\x02")):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        with pytest.raises(ProgramRefusedError):
            prepare(path, contents, target)
    assert picture(target.parent) == before


def test_full_disk_leaves_nothing(
    write: Write, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(ProgramError, match="No space left on device; see the disk"):
        made(write(plain({"a/b": b"", "bot.py": BOT})), "a.zip", target)
    assert list(target.parent.iterdir()) == []


def test_program_that_is_prepared_already_is_left_alone(write: Write, target: Path) -> None:
    first = made(write(BOT), "ada.py", target)
    (target / "mark").write_text("x")
    assert made(write(BOT), "ada.py", target) == first
    assert (target / "mark").exists()


def test_two_preparations_at_once_keep_one(
    write: Write, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slower finds that of the faster in its place."""
    path, rename = write(BOT), Path.rename

    def slower(self: Path, new: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        made(path, "ada.py", target)
        return rename(self, new)

    monkeypatch.setattr(Path, "rename", slower)
    made(path, "ada.py", target)
    assert [path.name for path in target.parent.iterdir()] == ["ada"]
    assert (target / "bot.py").read_bytes() == BOT


def test_rest_of_a_killed_preparation_is_discarded(write: Write, target: Path) -> None:
    made(write(BOT), "ada.py", target)
    shutil.copytree(target, target.with_name(".grace.0123456789abcdef.part"))
    discard_partials(target.parent)
    assert [path.name for path in target.parent.iterdir()] == ["ada"]


def test_kind_decides_how_bytes_are_prepared(write: Write, target: Path) -> None:
    """A zip archive that is called a script is none."""
    path = write(plain({"bot.py": BOT}))
    with pytest.raises(ProgramRefusedError):
        prepare(path, examine(path, ProgramKind.SCRIPT, "ada.py"), target)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_engine_of_a_compiler_is_taken(tmp_path: Path, target: Path) -> None:
    """Linked as the compiler likes it, and by itself."""
    source = tmp_path / "pbrain.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("OK"); return 0; }\n')
    for options in ([], ["-no-pie"], ["-static"], ["-static-pie"]):
        program = tmp_path / "pbrain-ada"
        done = subprocess.run(["cc", *options, "-o", program, source], check=False)
        if done.returncode:
            continue  # no static library here
        prepared = made(program, "pbrain-ada", target)
        ended = subprocess.run([prepared.tree / "engine"], capture_output=True, check=True)
        assert ended.stdout == b"OK\n"
        shutil.rmtree(target)
