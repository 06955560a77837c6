"""Where compiled code is kept between runs."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

OVERRIDE = "NUMBA_CACHE_DIR"
_SOURCES = Path(__file__).parent
_PRIVATE = 0o700
_DIGEST_LENGTH = 16


def cache_folder(environ: Mapping[str, str] = os.environ, sources: Path = _SOURCES) -> Path:
    """Find the folder for compiled code: one that can be written, and this version's own.

    numba looks at the file of the outermost function alone, so the digest of all of
    `sources` is in the name. What numba is told by the environment, such as to check
    bounds, makes another folder too. NUMBA_CACHE_DIR is taken as it is.
    """
    if environ.get(OVERRIDE):
        return Path(environ[OVERRIDE])
    name = f"core-{_digest(environ, sources)}"
    for parent in _parents(environ):
        folder = parent / "meijin" / name
        if _is_ours(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="meijin-core-"))


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
    return [*parents, Path(tempfile.gettempdir()) / f"meijin-{os.getuid()}"]


def _is_ours(folder: Path) -> bool:
    """Whether the folder can be made and written, and no other user could fill it.

    numba unpickles what it finds there.
    """
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        owners = {folder.stat().st_uid, folder.parent.stat().st_uid}
        return owners == {os.getuid()} and os.access(folder, os.W_OK)
    except OSError:
        return False


def is_compiled(function: str) -> bool:
    """Whether a function of this version, as ``module.name``, is there to be loaded."""
    return any(cache_folder().rglob(f"{function}-*.nbi"))
