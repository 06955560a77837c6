"""What a program is, and what holds for scripts, engines and images."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.programs.conftest import Refusal, Write
from tests.programs.raw_zip import BOT, plain

from meijin.bots import bot_source
from meijin.programs.archive import Contents, examine, kind_of
from meijin.programs.archive.elf import LOADER, Linkage, check_engine
from meijin.programs.archive.script import MAX_SCRIPT_BYTES, check_script
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.kinds import ProgramKind

Examined = Callable[[bytes, str], Contents]
IMAGE = b"registry.example/ada:1.0@sha256:" + b"0a" * 32
LOAD, DYNAMIC, INTERPRETER = 1, 2, 3


def elf(
    *segments: tuple[int, bytes],
    kind: int = 2,
    machine: int = 62,
    bits: int = 2,
    order: int = 1,
    entry: int = 0x400000,
) -> bytes:
    """A program of some segments; the first is loaded, and is the program itself."""
    parts = ((LOAD, b"\xc3"), *segments)
    start = 64 + 56 * len(parts)
    table, body = b"", b""
    for type_, data in parts:
        place = start + len(body)
        table += struct.pack("<2L6Q", type_, 5, place, place, place, len(data), len(data), 1)
        body += data
    identity = b"\x7fELF" + bytes([bits, order, 1]) + bytes(9)
    head = struct.pack("<16s2HL3QL6H", identity, kind, machine, 1, entry, 64, 0, 0, 64, 56,
        len(parts), 0, 0, 0)  # fmt: skip
    return head + table + body


PIE_FLAG = (DYNAMIC, struct.pack("<4Q", 0x6FFFFFFB, 0x08000000, 0, 0))


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (plain({"bot.py": BOT}), "ada.zip", ProgramKind.ARCHIVE),
        (plain({"bot.py": BOT}), "ada", ProgramKind.ARCHIVE),
        (b"no zip", "ada.zip", ProgramKind.ARCHIVE),
        (plain({"bot.py": BOT}), "ada-1.0-py3-none-any.whl", ProgramKind.WHEEL),
        (BOT, "ada.py", ProgramKind.SCRIPT),
        (elf(), "pbrain-ada", ProgramKind.ENGINE),
        (IMAGE + b"\n", "image", ProgramKind.IMAGE),
    ],
)
def test_kind_is_found_from_bytes_and_name(
    data: bytes, name: str, kind: ProgramKind, write: Write
) -> None:
    assert kind_of(write(data), name) is kind


@pytest.mark.parametrize("data", [b"MZ\x90", b"#!/bin/sh\n", b"\x1f\x8b", b"hello", BOT])
def test_unknown_kind_is_refused(data: bytes, refusal: Refusal) -> None:
    assert "known kind" in refusal(data, "ada.exe").what


def test_script_is_taken(examined: Examined) -> None:
    assert examined(BOT, "ada.py").manifest.bot == "bot.py"


def test_bot_that_authors_begin_with_is_taken(examined: Examined) -> None:
    assert examined(bot_source("ada").encode(), "ada.py").kind is ProgramKind.SCRIPT


@pytest.mark.parametrize(
    "source",
    [
        b"import meijin.bots\nclass A(meijin.bots.Bot): pass",
        b"import meijin.bots as m\nclass A(m.Bot): pass",
        b"from meijin.bots import Bot as Base\nclass A(Base): pass",
        b"from meijin.bots import *\nclass A(Bot): pass",
        b"from other import Parent\nclass A(Parent): pass",
        b"import other\nclass A(other.Parent): pass",
        b"from typing import Generic\nfrom meijin.bots import Bot\nclass A(Bot[int]): pass",
        b"if True:\n    from meijin.bots import Bot\n    class A(Bot): pass",
        b"try:\n    from meijin.bots import Bot\nfinally:\n    pass\nclass A(Bot): pass",
        b"\xef\xbb\xbffrom meijin.bots import Bot\nclass A(Bot): pass",
        b"from meijin.bots import Bot\nclass A(Bot): x = '\\d'",
    ],
)
def test_bot_is_found_however_it_is_derived(source: bytes) -> None:
    check_script(source, "bot.py")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b"x = 1", "no class in it"),
        (b"class A: pass", "no class in it"),
        (b"class A(dict): pass", "no class in it"),
        (b"def f():\n  from meijin.bots import Bot\n  class A(Bot): pass", "no class in it"),
        (b"from m import Bot\nclass A(Bot): pass\nclass B(A): pass", "the bots A, B"),
        (b"class A(Bot:\n", "line 1"),
        (b"print 'x'\n", "line 1"),
        (b"\xff\xfe", "byte 1 is no UTF-8"),
        (b"x = 1\0", "null bytes|can't be read"),
        (b"x = " + b"(" * 5000, "line 1"),
        (b"x = " + b"-" * 90_000 + b"1", "can't be read|line 1"),
        (b"x = " + b"a." * 45_000 + b"a", "can't be read|line 1"),
        (b"x = " + b"1+" * 45_000 + b"1", "can't be read|line 1"),
        (b"x = " + b"f(" * 90 + b")" * 90, "no class in it"),
        (b"if 1:\n" * 2 + b" " * 9 + b"x", "line"),
        (b"x = " + b"9" * 5000, "line 1"),
        (b"#" * (MAX_SCRIPT_BYTES + 1), f"at most {MAX_SCRIPT_BYTES}"),
        (b"x = f'{" + b"a" * 9 + b"'", "line 1"),
    ],
)
def test_script_that_is_no_bot_is_refused(source: bytes, why: str) -> None:
    with pytest.raises(ProgramRefusedError, match=why):
        check_script(source, "bot.py")


def test_class_that_is_named_is_looked_for() -> None:
    source = b"from meijin.bots import Bot\nclass A(Bot): pass\nclass B(A): pass"
    check_script(source, "bot.py", "B")
    with pytest.raises(ProgramRefusedError, match="no bot C; it has A, B"):
        check_script(source, "bot.py", "C")


@pytest.mark.parametrize(
    ("program", "linkage"),
    [
        (elf(), Linkage.STATIC),
        (elf((INTERPRETER, LOADER + b"\0"), kind=3), Linkage.DYNAMIC),
        (elf((INTERPRETER, LOADER + b"\0"), kind=2), Linkage.DYNAMIC),
        (elf(PIE_FLAG, kind=3), Linkage.STATIC),
    ],
)
def test_engine_is_taken_however_it_is_linked(
    program: bytes, linkage: Linkage, examined: Examined
) -> None:
    contents = examined(program, "pbrain-ada")
    assert (contents.manifest.engine, contents.linkage) == ("engine", linkage)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a Linux program")
def test_program_of_this_machine_is_an_engine() -> None:
    program = Path(sys.executable).resolve().read_bytes()
    if program[18:20] != b"\x3e\0":
        pytest.skip("this machine is no x86-64")
    assert check_engine(program, "python") is Linkage.DYNAMIC


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (b"#!/bin/sh\nrm -rf /\n", "it is a script"),
        (b"MZ" + bytes(99), "no Linux program"),
        (elf(machine=183), "another processor"),
        (elf(bits=1), "another processor"),
        (elf(order=2), "another processor"),
        (elf(kind=1), "an object file or a library"),
        (elf(kind=4), "an object file or a library"),
        (elf(entry=0), "an object file or a library"),
        (elf(kind=3), "it is a library"),
        (elf((DYNAMIC, bytes(32)), kind=3), "it is a library"),
        (elf((INTERPRETER, b"/lib/ld-musl-x86_64.so.1\0")), "its loader /lib/ld-musl"),
        (elf((INTERPRETER, b"/lib\x1b[2J\0")), "its loader /lib"),
        (elf()[:70], "end is missing"),
        (elf()[:-1], "end is missing"),
        (elf()[:20], "end is missing"),
        (b"\x7fELF", "end is missing"),
        (elf()[:56] + b"\xff\xff" + elf()[58:], "header is damaged"),
        (elf()[:54] + b"\x20\x00" + elf()[56:], "header is damaged"),
    ],
)
def test_file_that_is_no_engine_is_refused(program: bytes, why: str) -> None:
    with pytest.raises(ProgramRefusedError, match=why) as caught:
        check_engine(program, "engine")
    assert str(caught.value).isprintable()


WHOLE = elf((INTERPRETER, LOADER + b"\0"), PIE_FLAG, kind=3)


@settings(max_examples=300)
@given(place=st.integers(4, len(WHOLE) - 1), value=st.integers(0, 255))
def test_engine_with_any_byte_changed_is_taken_or_refused(place: int, value: int) -> None:
    """It never ends in another error."""
    changed = bytearray(WHOLE)
    changed[place] = value
    try:
        check_engine(bytes(changed), "engine")
    except ProgramRefusedError as error:
        assert str(error).isprintable()  # noqa: PT017 - both are right


@pytest.mark.parametrize(
    "reference",
    [
        b"ada:latest",
        b"ada@sha256:" + b"0" * 63,
        b"ada@sha256:" + b"G" * 64,
        b"ada@sha256:" + b"A" * 64,
        b"-v/:/host ada@sha256:" + b"0" * 64,
        b"--privileged@sha256:" + b"0" * 64,
        b"a/../b@sha256:" + b"0" * 64,
        b"ada@sha256:" + b"0" * 64 + b"\nmore",
        b"a" * 500 + b"@sha256:" + b"0" * 64,
        b"\xff@sha256:" + b"0" * 64,
    ],
)
def test_image_without_its_digest_is_refused(reference: bytes, write: Write) -> None:
    with pytest.raises(ProgramRefusedError, match="no reference to an image"):
        examine(write(reference), ProgramKind.IMAGE, "image")


def test_image_is_taken(write: Write) -> None:
    assert examine(write(IMAGE), ProgramKind.IMAGE, "image").image == IMAGE.decode()


def test_limit_of_the_operator_holds(write: Write) -> None:
    with pytest.raises(ProgramRefusedError, match="at most 9 may be"):
        examine(write(BOT), None, "ada.py", max_bytes=9)
