"""The folder of a new bot."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from meijin.bots import load_bot
from meijin.cli.bot.program.packing import pack
from meijin.cli.bot.program.project import write_project
from meijin.cli.errors import CommandError


def test_a_project_is_a_bot_that_uploads_as_it_is(tmp_path: Path) -> None:
    """Its manifest names the bot, which can be loaded."""
    folder = tmp_path / "new" / "grace"
    write_project("grace", folder)
    assert pack(folder).files == ["README.md", "bot.py", "meijin.toml", "requirements.txt"]
    manifest = tomllib.loads((folder / "meijin.toml").read_text())
    assert load_bot(str(folder / manifest["bot"]), ()).name == "grace"
    requirements = (folder / "requirements.txt").read_text().splitlines()
    assert all(line.startswith("#") for line in requirements)
    assert "meijin bot upload . --as grace " in (folder / "README.md").read_text()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write_project("grace", tmp_path / "grace")
    with pytest.raises(CommandError, match="is not empty; give another --dir"):
        write_project("grace", tmp_path / "grace")
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="is no folder"):
        write_project("grace", tmp_path / "file")
    with pytest.raises(CommandError, match="is no bot name"):
        write_project("no/name", tmp_path / "name")
    assert not (tmp_path / "name").exists()
