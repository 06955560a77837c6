"""A real sandbox, of which a test may take a guard away."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.programs.sandbox import attacks

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, Finding
from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.bubblewrap_command import Place
from meijin.programs.sandbox.bubblewrap_program import BubblewrapProgram
from meijin.programs.sandbox.running import End, Launch
from meijin.programs.sandbox.seat_groups import Part, read_field, write
from meijin.programs.sandbox.seccomp import SystemCallFilter

PYTHON = Path(sys.base_prefix)
Edit = Callable[[list[str]], list[str]]


def unchanged(words: list[str]) -> list[str]:
    return words


@dataclass(frozen=True, slots=True)
class Guards:
    """What keeps a program in."""

    edit: Edit = unchanged
    """Of the command line."""
    calls: SystemCallFilter = field(default_factory=SystemCallFilter)
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    core: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has become of an attack."""

    end: End
    lines: Sequence[str]

    @property
    def is_through(self) -> bool:
        """Whether it has done what it wanted."""
        return attacks.THROUGH in self.lines


class Laboratory(BubblewrapSandbox):
    """A sandbox whose guards each start may change."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tree = folder / "tree"
        self.arena = folder / "arena"
        for each in (self.tree, self.arena):
            each.mkdir()
            each.chmod(0o777)  # so that the mounts alone keep a program from writing
        shutil.copy(attacks.__file__, self.tree / "attacks.py")
        (self.tree / "own").touch()
        (self.tree / "own").chmod(0o666)
        self._edit: Edit = unchanged
        self._seats = 0

    def _command_line(self, launch: Launch, place: Place) -> Sequence[str]:
        return self._edit(list(super()._command_line(launch, place)))

    async def begin(self, *words: str, guards: Guards | None = None) -> BubblewrapProgram:
        """Start an attack, by its name and arguments."""
        command = [str(PYTHON / "bin/python3"), "-I", "-S", "attacks.py", *words]
        return await self.run(command, guards=guards)

    async def run(
        self,
        command: Sequence[str],
        *,
        guards: Guards | None = None,
        packages: Sequence[Path] = (),
    ) -> BubblewrapProgram:
        """Start a command, which may import what is in the folders of `packages`."""
        guards = guards or Guards()
        self._seats += 1
        self._edit = guards.edit
        self._filter = guards.calls.assemble()
        launch = Launch(
            name=f"seat-{self._seats}",
            command=command,
            tree=self.tree,
            socket_folder=self.arena,
            runtime=[PYTHON, *packages],
            environment={"PYTHONPATH": ":".join(map(str, packages))} if packages else {},
            limits=guards.limits,
            core=guards.core,
        )
        return await self.start(launch)

    async def attack(self, *words: str, guards: Guards | None = None) -> Outcome:
        """Run an attack to its end, and look for what it may have left."""
        program = await self.begin(*words, guards=guards)
        end = await program.wait()
        self.assert_clean()
        return Outcome(end, program.lines)

    def pids(self, program: BubblewrapProgram) -> list[int]:
        """The processes of a program, bubblewrap's included."""
        return program._group.members()

    def throttled(self, program: BubblewrapProgram) -> int:
        """How often the seat had to wait for its next share of the processor."""
        return max(read_field(seat / "cpu.stat", "nr_throttled") for seat in _seats(program))

    def favour(self, program: BubblewrapProgram) -> None:
        """Have the seat go before all others of the machine, however busy that is."""
        for folder in {folder for seat in _seats(program) for folder in (seat, seat.parent)}:
            for name, value in (("cpu.shares", 262_144), ("cpu.weight", 10_000)):
                if (folder / name).exists():
                    write(folder / name, value)

    def lift_quota(self, program: BubblewrapProgram) -> None:
        """Give the seat as much of the processor as it can take."""
        for seat in _seats(program):
            for name, value in (("cpu.cfs_quota_us", "-1"), ("cpu.max", "max")):
                if (seat / name).exists():
                    write(seat / name, value)

    def assert_clean(self) -> None:
        """Nothing is left of any program: no control group, and no process of a seat's user."""
        for folder in self._hierarchy.folders():
            assert [each for each in folder.iterdir() if each.is_dir()] == []
        assert self._taken == set()


def _seats(program: BubblewrapProgram) -> set[Path]:
    """The groups of a program's seat."""
    return {entry.parent.parent for entry in program._group.entries(Part.PROGRAM)}


def missing(findings: Sequence[Finding]) -> str:
    """The first that can't be limited, in the words of the check; empty where all can be."""
    lacks = [finding for finding in findings if not finding.is_limited]
    return f"{lacks[0].ability.value}: {lacks[0].how}" if lacks else ""


def skip_without(findings: Sequence[Finding], *abilities: Ability) -> None:
    """Skip a test where the machine lacks what it is about, and say so as the check does."""
    wanted = [finding for finding in findings if finding.ability in abilities or not abilities]
    if why := missing(wanted):
        pytest.skip(why)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
