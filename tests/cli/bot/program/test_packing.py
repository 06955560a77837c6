"""What is sent of a file or a folder."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from meijin.cli.bot.program import packing
from meijin.cli.bot.program.packing import pack
from meijin.cli.errors import CommandError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot's folder, with what is no part of the bot."""
    folder = tmp_path / "mybot"
    for name, text in {
        "bot.py": "print()",
        "b/weights.bin": "1234",
        "run.sh": "exit",
        ".git/HEAD": "ref",
        "b/__pycache__/bot.pyc": "x",
        ".venv/bin/python": "x",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "run.sh").chmod(0o755)
    return folder


def test_a_folder_is_the_same_each_time(folder: Path) -> None:
    """Whenever its files were written; what is no part of a bot is left out and told."""
    first = pack(folder)
    os.utime(folder / "bot.py", (1, 1))
    (folder / ".git/HEAD").write_text("another")
    assert pack(folder) == first
    with zipfile.ZipFile(io.BytesIO(first.data)) as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
        assert archive.read("b/weights.bin") == b"1234"
    assert modes == {"b/weights.bin": 0o644, "bot.py": 0o644, "run.sh": 0o755}
    (folder / "bot.py").write_text("print(1)")
    assert pack(folder).digest != first.digest


def test_what_is_sent_is_told(folder: Path) -> None:
    told = pack(folder).summary
    assert told.startswith("mybot.zip: 3 files, ")
    assert told.endswith("bytes: b/weights.bin, bot.py, run.sh; left out: .git, .venv, __pycache__")
    for number in range(10):
        (folder / f"c{number}").touch()
    assert "c0, c1, c2, c3 and 7 more" in pack(folder).summary


def test_a_file_is_sent_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "pbrain-mine"
    file.write_bytes(b"\x7fELF")
    package = pack(file)
    assert (package.file_name, package.data) == ("pbrain-mine", b"\x7fELF")
    assert package.summary == "pbrain-mine: 4 bytes"


def test_what_is_no_program_is_not_sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is told with what to do."""
    with pytest.raises(CommandError, match=r"can't use .*nowhere: No such file"):
        pack(folder / "nowhere")
    (folder / "empty").touch()
    with pytest.raises(CommandError, match="is empty"):
        pack(folder / "empty")
    with pytest.raises(CommandError, match=r"neither bot\.py nor meijin\.toml; `meijin bot new"):
        pack(folder / "b")
    with monkeypatch.context() as patch:
        patch.setattr(packing, "MAX_ENTRIES", 3)
        with pytest.raises(CommandError, match="has 4 files; a program has at most 3"):
            pack(folder)
    with monkeypatch.context() as patch:
        patch.setattr(packing, "MAX_UNPACKED_BYTES", 10)
        with pytest.raises(CommandError, match="has 15 bytes; a program has at most 10 bytes"):
            pack(folder)
    (folder / "long").with_name("x" * 101).write_text("x")
    with pytest.raises(CommandError, match="at most 100 characters; rename it"):
        pack(folder / ("x" * 101))
    (folder / "link").symlink_to("bot.py")
    with pytest.raises(CommandError, match="link is a link"):
        pack(folder)
    (folder / "link").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(CommandError, match="pipe is no plain file"):
        pack(folder)
