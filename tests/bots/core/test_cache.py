"""Where compiled code is kept."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from meijin.bots.core import cache
from meijin.bots.core.cache import cache_folder, source_digest


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with two sources."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "first.py").write_text("A = 1")
    (folder / "second.py").write_text("B = 1")
    return folder


def test_folder(tmp_path: Path, sources: Path) -> None:
    """The folder is the user's own, below the one for caches."""
    folder = cache_folder({"XDG_CACHE_HOME": str(tmp_path)}, sources)
    assert folder.parent == tmp_path / "meijin"
    assert folder.stat().st_mode & 0o077 == 0
    assert cache_folder({"XDG_CACHE_HOME": str(tmp_path)}, sources) == folder


@pytest.mark.parametrize("name", ["first.py", "second.py", "network.npz"])
def test_another_source(tmp_path: Path, sources: Path, name: str) -> None:
    """A change in any source leads to another folder, whichever function was compiled."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    before = cache_folder(environ, sources), source_digest(sources)
    (sources / name).write_text("2")
    after = cache_folder(environ, sources), source_digest(sources)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_another_compilation(tmp_path: Path, sources: Path) -> None:
    """Code that checks bounds is kept apart from code that doesn't."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    checked = environ | {"NUMBA_BOUNDSCHECK": "1"}
    assert cache_folder(environ, sources) != cache_folder(checked, sources)


def test_override(tmp_path: Path, sources: Path) -> None:
    """NUMBA_CACHE_DIR is honoured."""
    environ = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": "/elsewhere"}
    assert cache_folder(environ, sources) == Path("/elsewhere")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_no_home(
    tmp_path: Path, sources: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no home to write to, the folder is a temporary one that is found again."""
    (tmp_path / "file").touch()
    environ = {"XDG_CACHE_HOME": str(tmp_path / "file" / "no-folder")}
    folder = cache_folder(environ, sources)
    assert folder.is_relative_to(temporary)
    assert cache_folder(environ, sources) == folder

    def fail() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.setattr(Path, "home", fail)
    assert cache_folder({}, sources) == folder


def test_folder_of_somebody_else(
    sources: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is never loaded from a folder that another user may have filled."""
    real = cache_folder({"XDG_CACHE_HOME": str(temporary / "cache")}, sources)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    folder = cache_folder({"XDG_CACHE_HOME": str(temporary / "cache")}, sources)
    assert folder != real
    assert folder.name.startswith("meijin-core-")


def test_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code is there once the search is."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not cache.is_compiled("search.pvs")
    (tmp_path / "search.pvs-1.nbi").touch()
    assert cache.is_compiled("search.pvs")
