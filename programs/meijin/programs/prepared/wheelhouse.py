"""The wheelhouse: libraries that the operator has put in a folder, and no others."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from meijin.programs.errors import ProgramError, ProgramRefusedError
from meijin.programs.requirements import name_of, normal_name

INSTALL_TIMEOUT = timedelta(minutes=3)
_BUNDLED = (Path(os.__file__).parent / "ensurepip/_bundled", Path("/usr/share/python-wheels"))
"""Where Python, and Debian's, keeps a pip for environments to come."""
_WHERE = "requirements"
_SHOWN = 20
_OPTIONS = (
    *("--isolated", "--no-index", "--only-binary=:all:", "--no-cache-dir", "--no-input"),
    *("--disable-pip-version-check", "--no-warn-script-location", "--root-user-action=ignore"),
    "--quiet",
)


@dataclass(frozen=True, slots=True)
class Wheelhouse:
    """A folder of wheels; programs get no library when there is none."""

    folder: Path | None = None

    def libraries(self) -> list[str]:
        """The normal names of the libraries that it has, sorted."""
        wheels = () if self.folder is None else self.folder.glob("*.whl")
        return sorted({normal_name(wheel.name.partition("-")[0]) for wheel in wheels})

    def check(self, requirements: Sequence[str]) -> None:
        """See that it has the libraries that are named.

        Raises:
            ProgramRefusedError: some are missing; it says which, and which there are.
        """
        there = self.libraries()
        missing = [wanted for wanted in requirements if name_of(wanted) not in there]
        if missing:
            few = ", ".join(there[:_SHOWN]) + (", ..." if len(there) > _SHOWN else "")
            what = f"the arena has no {', '.join(missing)}"
            fix = f"do without, or ask its operator; it has {few or 'no libraries'}"
            raise ProgramRefusedError(what, _WHERE, fix)

    def install(
        self, requirements: Sequence[str], target: Path, *, timeout: timedelta = INSTALL_TIMEOUT
    ) -> None:
        """Install libraries with what they need in turn into a fresh folder.

        Raises:
            ProgramRefusedError: the wheelhouse has not all of it.
            ProgramError: pip is missing, or takes too long.
        """
        self.check(requirements)
        assert self.folder is not None
        where = (f"--find-links={self.folder.resolve()}", f"--target={target.resolve()}")
        command = [*_pip(), "install", *_OPTIONS, *where, "--", *requirements]
        scratch = str(target.resolve().parent)
        variables = {"PATH": os.defpath, "HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=timeout.total_seconds(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            text = f"pip has not installed {', '.join(requirements)} in {timeout}; try again later"
            raise ProgramError(text) from None
        if done.returncode:
            fix = "name other versions, or ask the arena's operator for those that are missing"
            raise ProgramRefusedError(_first_error(done.stderr), _WHERE, fix)


def _pip() -> list[str]:
    """A pip of this interpreter: its own, or the one that Python comes with."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]
    for folder in _BUNDLED:
        if wheels := sorted(folder.glob("pip-*.whl")):
            return [sys.executable, "-P", str(wheels[-1] / "pip")]
    raise ProgramError(f"{sys.executable} has no pip for programs' libraries; install pip there")


def _first_error(said: bytes) -> str:
    """The first line of pip that begins with ERROR, else its last."""
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    text = (errors or lines[-1:] or ["pip fails"])[0]
    return "".join(sign for sign in text[:300] if sign.isprintable())
