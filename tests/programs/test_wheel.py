"""Wheels: tags, hashes of all files, and the one entry point."""

import io
import sys
import zipfile
from collections.abc import Callable

import pytest
from tests.programs.conftest import Refusal
from tests.programs.raw_zip import BOT, plain, wheel

from meijin.programs.archive import Contents
from meijin.programs.kinds import ProgramKind

NAME = "ada-1.0-py3-none-any.whl"
FILES = {"ada.py": BOT}
FOLDER = "ada-1.0.dist-info"
MINOR = sys.version_info.minor
HERE = f"cp3{MINOR}"


def test_wheel_is_taken(examined: Callable[[bytes, str], Contents]) -> None:
    needs = ["meijin>=0.1", "numpy>=2", 'torch; extra == "big"']
    contents = examined(wheel(FILES, needs=needs), NAME)
    assert contents.kind is ProgramKind.WHEEL
    assert contents.entry_point == ("ada", "Ada")
    assert contents.requirements == ("numpy>=2",)
    assert contents.manifest.version == "1.0"


@pytest.mark.parametrize(
    "tag",
    [
        "py3-none-any",
        "py2.py3-none-any",
        f"{HERE}-{HERE}-manylinux_2_17_x86_64.manylinux2014_x86_64",
        f"{HERE}-{HERE}-linux_x86_64",
        "cp38-abi3-manylinux_2_28_x86_64",
        f"{HERE}-none-any",
        "py3-none-manylinux1_x86_64",
    ],
)
def test_tag_of_this_machine_is_taken(tag: str, examined: Callable[[bytes, str], Contents]) -> None:
    assert examined(wheel(FILES, tag=tag), NAME).files == 5


@pytest.mark.parametrize(
    "tag",
    [
        "py2-none-any",
        f"cp3{MINOR + 1}-cp3{MINOR + 1}-manylinux_2_17_x86_64",
        f"cp3{MINOR + 1}-abi3-manylinux_2_17_x86_64",
        f"{HERE}-{HERE}-manylinux_2_17_aarch64",
        f"{HERE}-{HERE}-musllinux_1_2_x86_64",
        f"{HERE}-{HERE}-win_amd64",
        f"{HERE}-{HERE}-macosx_11_0_x86_64",
        "py3-none",
        "any",
        "",
    ],
)
def test_tag_of_another_machine_is_refused(tag: str, refusal: Refusal) -> None:
    assert "and not for" in refusal(wheel(FILES, tag=tag), NAME).what


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (plain(FILES), "no .dist-info folder"),
        (wheel({**FILES, "grace-1.0.dist-info/METADATA": b""}), "several .dist-info"),
        (plain({**FILES, f"{FOLDER}/METADATA": b"", f"{FOLDER}/WHEEL": b""}), "no RECORD"),
        (wheel(FILES, changes={"ada.py": BOT + b"evil()"}), "not what RECORD says"),
        (wheel(FILES, changes={"evil.py": b"evil()"}), "RECORD does not name it"),
        (wheel(FILES, changes={f"{FOLDER}/RECORD": b"gone.py,,\n"}), "does not name it"),
        (wheel(FILES, changes={f"{FOLDER}/RECORD": b"a,b\n"}), "three columns"),
        (wheel(FILES, changes={f"{FOLDER}/RECORD": b"\xff"}), "no table"),
        (wheel(FILES, changes={f"{FOLDER}/RECORD": b'"a'}), "no table"),
        (wheel({**FILES, "ada-1.0.data/scripts/ada": b"x"}), "moved when it is installed"),
        (wheel(FILES, points=""), "0 entry points"),
        (wheel(FILES, points="x"), "can't be read"),
        (wheel(FILES, points="[console_scripts]\nada = ada:Ada\n"), "0 entry points"),
        (wheel(FILES, points="[meijin.bots]\na = ada:A\nb = ada:B\n"), "2 entry points"),
        (wheel(FILES, points="[meijin.bots]\na = ada\n"), "no class of a module"),
        (wheel(FILES, points="[meijin.bots]\na = ada:A; import os\n"), "no class of a module"),
        (wheel(FILES, points="[meijin.bots]\na = grace:Grace\n"), "no module grace"),
        (wheel(FILES, needs=["numpy @ https://example.org/n.whl"]), "no plain requirement"),
        (wheel(FILES, needs=["-r /etc/passwd"]), "no plain requirement"),
        (b"PK\x03\x04", "no zip archive"),
    ],
)
def test_wheel_that_is_damaged_or_no_bot_is_refused(
    data: bytes, why: str, refusal: Refusal
) -> None:
    assert why in str(refusal(data, NAME))


def record_of(files: dict[str, bytes]) -> bytes:
    """The RECORD that a wheel of these files has."""
    with zipfile.ZipFile(io.BytesIO(wheel(files))) as archive:
        return archive.read(f"{FOLDER}/RECORD")


def test_record_that_names_what_is_not_there_is_refused(refusal: Refusal) -> None:
    record = record_of({**FILES, "gone.py": b"x"})
    assert "not there" in str(refusal(wheel(FILES, changes={f"{FOLDER}/RECORD": record}), NAME))
