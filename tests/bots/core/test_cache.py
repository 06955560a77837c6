"""Where compiled code is kept."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from meijin.bots.core.cache import (
    LIFETIME,
    LOCK,
    cache_folder,
    remove_leftovers,
    source_digest,
    take,
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "first.py").write_text("A = 1")
    (folder / "second.py").write_text("B = 1")
    return folder


def folder_of(cache: Path, sources: Path, **environ: str) -> Path:
    return cache_folder({"XDG_CACHE_HOME": str(cache), **environ}, sources)


@pytest.mark.parametrize("name", ["first.py", "second.py", "network.npz"])
def test_folder(tmp_path: Path, sources: Path, name: str) -> None:
    """It is the user's own, below the one for caches, and another after a change in any source."""
    folder, digest = folder_of(tmp_path, sources), source_digest(sources)
    assert folder.parent == tmp_path / "meijin"
    assert folder.stat().st_mode & 0o077 == 0
    assert folder_of(tmp_path, sources) == folder
    (sources / name).write_text("2")
    assert folder_of(tmp_path, sources) != folder
    assert source_digest(sources) != digest


def test_what_numba_is_told(tmp_path: Path, sources: Path) -> None:
    """Code that checks bounds is kept apart from code that doesn't; NUMBA_CACHE_DIR is honoured."""
    assert folder_of(tmp_path, sources) != folder_of(tmp_path, sources, NUMBA_BOUNDSCHECK="1")
    there = folder_of(tmp_path, sources, NUMBA_CACHE_DIR="/elsewhere")
    assert there == Path("/elsewhere")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_no_home(
    tmp_path: Path, sources: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no home to write to, the folder is a temporary one that is found again."""
    (tmp_path / "file").touch()
    folder = folder_of(tmp_path / "file" / "no-folder", sources)
    assert folder.is_relative_to(temporary)

    def fail() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.setattr(Path, "home", fail)
    assert cache_folder({}, sources) == folder


def test_folder_of_somebody_else(
    sources: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is never loaded from a folder that another user may have filled."""
    real = folder_of(temporary / "cache", sources)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    folder = folder_of(temporary / "cache", sources)
    assert folder != real
    assert folder.name.startswith("meijin-core-")


NOW = time.time()
LONG_AGO = NOW - LIFETIME.total_seconds() - 60


def leftover(parent: Path, name: str = "core-old", used: float = LONG_AGO) -> Path:
    """A folder with compiled code that was taken at a time, by a process that has ended."""
    folder = parent / name
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "search.pvs-1.nbi").touch()
    (folder / LOCK).touch()
    os.utime(folder, (used, used))
    return folder


def test_leftovers_are_removed(tmp_path: Path, sources: Path) -> None:
    """Folders that nobody has used for a month go, as the first look finds; all else stays."""
    parent = tmp_path / "meijin"
    leftover(parent)
    kept = {leftover(parent, "weights"), leftover(parent, "core-recent", LONG_AGO + 120)}
    remove_leftovers(parent, NOW)
    assert set(parent.iterdir()) == kept
    old = leftover(parent)
    assert folder_of(tmp_path, sources).exists()
    assert not old.exists()


def test_own_folder_stays(tmp_path: Path, sources: Path) -> None:
    """What a process has taken stays, however old; it is as old as its use."""
    folder = folder_of(tmp_path, sources)
    remove_leftovers(folder.parent, NOW + 2 * LIFETIME.total_seconds())
    assert folder.exists()
    os.utime(folder, (LONG_AGO, LONG_AGO))
    take(folder)
    assert folder.stat().st_mtime >= NOW - 1


def test_what_cannot_be_removed_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be written is no reason to fail; neither is a file in its place."""
    old = leftover(tmp_path)
    (tmp_path / "core-file").touch()
    os.utime(tmp_path / "core-file", (LONG_AGO, LONG_AGO))

    def refuse(path: Path, *_: object) -> int:
        raise PermissionError(13, "read-only", str(path))

    monkeypatch.setattr(os, "open", refuse)
    remove_leftovers(tmp_path, NOW)
    assert old.exists()
    take(old)
    assert old.stat().st_mtime > LONG_AGO
