"""The runtime: the folders of this interpreter and its packages, which programs read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

_SYSTEM = Path("/usr")
"""Every sandbox has it."""


def runtime_folders() -> Sequence[Path]:
    """The folders that a Python program needs besides ``/usr``, none inside of another.

    They are those that this process has, but for that of the command it was started by, which may
    be where it was started: what is not installed here no program can import.
    """
    folders = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix)}
    installed = sys.path if sys.flags.safe_path else sys.path[1:]
    folders |= {Path(entry) for entry in installed if Path(entry).is_dir()}
    found: list[Path] = []
    for folder in sorted(folder.resolve() for folder in folders):
        if not any(folder.is_relative_to(above) for above in (_SYSTEM, *found)):
            found.append(folder)
    return found


def with_python(command: Sequence[str]) -> Sequence[str]:
    """A command whose Python is this interpreter, with its packages; an image has none."""
    if not command:
        return ()
    program, *arguments = command
    return (sys.executable if program == "python3" else program, *arguments)
