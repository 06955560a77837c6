"""The runner: mutants are put into a copy of the tree, never into the tree itself."""

from __future__ import annotations

import enum
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.table import Group, Mutant

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300
"""A mutant may well have a test wait for what never comes."""

PYTEST = ("-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--timeout=60")
FEW_GAMES = {"MEIJIN_SIMULATED_GAMES": "4000"}
"""In so many the simulation notices each of its mutants."""

ALL_PASSED, SOME_FAILED = 0, 1
"""Exit statuses of pytest; others are of runs in which nothing was tested."""


class Verdict(enum.Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    LOST = "lost"
    """Its text does not stand in its room, or not once: the table is to be mended."""
    UNTESTED = "untested"
    """Its tests fail without it, or are not there."""


@dataclass(slots=True)
class Tree:
    """A copy of the tree."""

    folder: Path
    _statuses: dict[str, int] = field(default_factory=dict)
    """Of tests without any mutant."""

    @classmethod
    def copied(cls, folder: Path) -> Tree:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        for name in filter(None, names.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        tree = cls(folder)
        generate = (sys.executable, "scripts/generate.py")  # what git ignores
        quiet = subprocess.DEVNULL
        subprocess.run(generate, cwd=folder, env=tree._env, check=True, stdout=quiet, stderr=quiet)
        return tree

    def judge(self, group: Group, mutant: Mutant) -> Verdict:
        """Run a mutant's tests with it, and once without any."""
        place = self.place(group, mutant)
        if place is None:
            return Verdict.LOST
        if group.tests not in self._statuses:
            self._statuses[group.tests] = self._status(group.tests)
        if self._statuses[group.tests] != ALL_PASSED:
            return Verdict.UNTESTED
        with _changed(place, mutant):
            status = self._status(group.tests)
        return {ALL_PASSED: Verdict.SURVIVED, SOME_FAILED: Verdict.KILLED}.get(
            status, Verdict.UNTESTED
        )

    def place(self, group: Group, mutant: Mutant) -> Path | None:
        """The module with a mutant's text; ``None`` unless it stands once in its room."""
        places = [path for path in self._modules(group.room) if mutant.text in path.read_text()]
        if len(places) != 1 or places[0].read_text().count(mutant.text) != 1:
            return None
        return places[0]

    def _modules(self, room: str) -> Iterator[Path]:
        """The modules of a room; of the folder above one that has moved."""
        return _nearest(self.folder / room).rglob("*.py")

    def _status(self, tests: str) -> int:
        """Pytest's exit status; tests whose file has moved are looked for around it."""
        files = {str(_nearest(self.folder / name)) for name in tests.split()}
        try:
            done = subprocess.run(
                [sys.executable, *PYTEST, *sorted(files)],
                cwd=self.folder,
                env=self._env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return SOME_FAILED
        return done.returncode

    @property
    def _env(self) -> dict[str, str]:
        """By which processes of tests find the copy, before what is installed."""
        path = os.pathsep.join(str(path.parent) for path in self.folder.glob("*/meijin"))
        return {**os.environ, **FEW_GAMES, "PYTHONPATH": path}


def _nearest(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.exists())


@contextmanager
def _changed(path: Path, mutant: Mutant) -> Iterator[None]:
    """A module with a mutant in it; bytecode is no older than what it was made of."""
    before = path.read_text()
    bytecode = Path(importlib.util.cache_from_source(str(path)))
    try:
        path.write_text(before.replace(mutant.text, mutant.replacement))
        bytecode.unlink(missing_ok=True)
        yield
    finally:
        path.write_text(before)
        bytecode.unlink(missing_ok=True)
