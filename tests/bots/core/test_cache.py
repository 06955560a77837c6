"""Where compiled code is kept."""

from __future__ import annotations

import os
import subprocess
import sys
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


NOW = time.time()
LONG_AGO = NOW - LIFETIME.total_seconds() - 60


def leftover(parent: Path, name: str = "core-old", used: float = LONG_AGO) -> Path:
    """A folder with compiled code that was taken at a time."""
    folder = parent / name
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "search.pvs-1.nbi").touch()
    os.utime(folder, (used, used))
    return folder


def test_leftovers_are_removed(tmp_path: Path) -> None:
    """Folders that nobody has used for a month go; all else stays."""
    old = leftover(tmp_path)
    recent = leftover(tmp_path, "core-recent", LONG_AGO + 120)
    foreign = leftover(tmp_path, "weights")
    remove_leftovers(tmp_path, NOW)
    assert not old.exists()
    assert recent.exists()
    assert foreign.exists()


def test_finding_the_folder_clears_up(tmp_path: Path, sources: Path) -> None:
    """The first look for the folder removes what other versions have left."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    old = leftover(tmp_path / "meijin")
    folder = cache_folder(environ, sources)
    assert not old.exists()
    assert folder.exists()


def test_use_counts(tmp_path: Path, sources: Path) -> None:
    """A folder is as old as its last use, not as its making."""
    folder = cache_folder({"XDG_CACHE_HOME": str(tmp_path)}, sources)
    os.utime(folder, (LONG_AGO, LONG_AGO))
    take(folder)
    assert folder.stat().st_mtime >= NOW - 1


def test_own_folder_stays(tmp_path: Path, sources: Path) -> None:
    """A process that runs for months doesn't lose its own folder."""
    folder = cache_folder({"XDG_CACHE_HOME": str(tmp_path)}, sources)
    remove_leftovers(folder.parent, NOW + 2 * LIFETIME.total_seconds())
    assert folder.exists()


TAKE = """
import sys
from pathlib import Path
from meijin.bots.core.cache import take
take(Path(sys.argv[1]))
print("taken", flush=True)
sys.stdin.read()
"""


def test_folder_of_a_running_process_stays(tmp_path: Path) -> None:
    """What another process has taken stays until that ends, however old it is."""
    old = leftover(tmp_path)
    command = [sys.executable, "-c", TAKE, str(old)]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        os.utime(old, (LONG_AGO, LONG_AGO))
        remove_leftovers(tmp_path, NOW)
        assert (old / "below").exists()
        process.communicate()
    os.utime(old, (LONG_AGO, LONG_AGO))
    remove_leftovers(tmp_path, NOW)
    assert not old.exists()


CLEAR = """
import sys
from pathlib import Path
from meijin.bots.core.cache import remove_leftovers
remove_leftovers(Path(sys.argv[1]), float(sys.argv[2]))
"""


def test_processes_clear_up_together(tmp_path: Path) -> None:
    """Several processes may remove the same folders at once; none fails."""
    for number in range(100):
        leftover(tmp_path, f"core-{number}")
    command = [sys.executable, "-W", "error", "-c", CLEAR, str(tmp_path), str(NOW)]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen(command, env=variables) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert not list(tmp_path.iterdir())


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
    assert not (old / LOCK).exists()
