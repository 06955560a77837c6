"""What tests of programs share: files to examine, and pictures of folders."""

from collections.abc import Callable
from pathlib import Path

import pytest

from meijin.programs.archive import Contents, examine
from meijin.programs.errors import ProgramRefusedError

Write = Callable[[bytes], Path]
Refusal = Callable[[bytes, str], ProgramRefusedError]


def picture(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a folder: modes and bytes by their paths."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    """Writes the bytes of a program to a file."""

    def write(data: bytes) -> Path:
        path = tmp_path / "program"
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def examined(write: Write) -> Callable[[bytes, str], Contents]:
    """Examines bytes that are called by a name."""
    return lambda data, name: examine(write(data), None, name)


@pytest.fixture
def refusal(write: Write) -> Refusal:
    """Examines bytes that have to be refused."""

    def refusal(data: bytes, name: str) -> ProgramRefusedError:
        with pytest.raises(ProgramRefusedError) as caught:
            examine(write(data), None, name)
        assert caught.value.what
        assert caught.value.fix
        return caught.value

    return refusal
