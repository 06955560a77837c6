"""The cache of compiled code: where it is kept between runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where the age of a folder alone keeps it
    fcntl = None  # type: ignore[assignment]

OVERRIDE = "NUMBA_CACHE_DIR"
LIFETIME = timedelta(days=30)
"""Other versions' folders that no process has taken for so long are removed."""
LOCK = "in-use"
"""The file that every process locks in its folder, until it ends."""
_SOURCES = Path(__file__).parent
_PRIVATE = 0o700
_DIGEST_LENGTH = 16
_NAME = "core-"
_taken: dict[Path, int] = {}
"""The folders that this process has taken, and the descriptors of their locks."""


def cache_folder(environ: Mapping[str, str] = os.environ, sources: Path = _SOURCES) -> Path:
    """Find the folder for compiled code: one that can be written, and this version's own.

    numba looks at the file of the outermost function alone, so the digest of all of
    `sources` is in the name. What numba is told by the environment, such as to check
    bounds, makes another folder too. The first call clears up what other versions have left.
    NUMBA_CACHE_DIR is taken as it is.
    """
    if environ.get(OVERRIDE):
        return Path(environ[OVERRIDE])
    name = f"{_NAME}{_digest(environ, sources)}"
    for parent in _parents(environ):
        folder = parent / "meijin" / name
        if _is_ours(folder):
            if folder not in _taken:
                take(folder)
                remove_leftovers(folder.parent, time.time())
            return folder
    return Path(tempfile.mkdtemp(prefix="meijin-core-"))


def take(folder: Path) -> None:
    """Mark a folder as used: from now on, and until this process ends."""
    with suppress(OSError):
        os.utime(folder)
        _taken[folder] = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, _PRIVATE)
        if fcntl is not None:
            fcntl.flock(_taken[folder], fcntl.LOCK_SH | fcntl.LOCK_NB)


def remove_leftovers(parent: Path, now: float) -> None:
    """Remove the folders in `parent` that have not been taken for `LIFETIME`.

    Those that a process has taken stay, however old. What can't be removed, or is removed by
    another process at the same time, is left alone. `now` is in seconds since the epoch.
    """
    oldest = now - LIFETIME.total_seconds()
    for folder in parent.glob(f"{_NAME}*"):
        with suppress(OSError):
            if folder.stat().st_mtime < oldest:
                _remove(folder)


def _remove(folder: Path) -> None:
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, _PRIVATE)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
    if fcntl is None:  # what is open can't be removed there
        shutil.rmtree(folder, ignore_errors=True)


def source_digest(sources: Path = _SOURCES) -> str:
    """Tell versions of the core apart, its network included: the start of a SHA-256."""
    sha = hashlib.sha256()
    for path in sorted([*sources.glob("*.py"), *sources.glob("*.npz")]):
        sha.update(path.name.encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:_DIGEST_LENGTH]


def _digest(environ: Mapping[str, str], sources: Path) -> str:
    settings = [f"{name}={value}" for name, value in environ.items() if name.startswith("NUMBA_")]
    sha = hashlib.sha256("\0".join([source_digest(sources), *sorted(settings)]).encode())
    return sha.hexdigest()[:_DIGEST_LENGTH]


def _parents(environ: Mapping[str, str]) -> list[Path]:
    """List the folders to try: the user's cache, then a temporary one of the user's own."""
    parents = []
    with suppress(RuntimeError):
        parents.append(Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
    return [*parents, Path(tempfile.gettempdir()) / f"meijin-{_user()}"]


def _user() -> int:
    """The user's number; 0 on Windows, where these folders are each user's own anyway."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(folder: Path) -> bool:
    """Whether the folder can be made and written, and no other user could fill it.

    numba unpickles what it finds there.
    """
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        owners = {folder.stat().st_uid, folder.parent.stat().st_uid}
        return owners == {_user()} and os.access(folder, os.W_OK)
    except OSError:
        return False
