"""The sandbox of bubblewrap: namespaces, control groups, a filter of system calls, and limits."""

import asyncio
import itertools
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from meijin.programs.sandbox import janitor
from meijin.programs.sandbox.abilities import Finding, require
from meijin.programs.sandbox.bubblewrap_check import check_namespaces, find_bwrap
from meijin.programs.sandbox.bubblewrap_command import FIRST_UID, Place, command_line, mount_table
from meijin.programs.sandbox.bubblewrap_program import OWN_PROCESSES, BubblewrapProgram
from meijin.programs.sandbox.cgroups import find_hierarchy
from meijin.programs.sandbox.janitor import Janitor
from meijin.programs.sandbox.running import Launch
from meijin.programs.sandbox.seat_groups import Hierarchy, Part, SeatGroup
from meijin.programs.sandbox.seccomp import SystemCallFilter, is_filterable

_USERS = 4_000


class BubblewrapSandbox:
    """Starts programs in bubblewrap, each with its own user where the host is root."""

    name = "bubblewrap"
    runs_images = False

    def __init__(
        self,
        *,
        bwrap: Path | None = None,
        hierarchy: Hierarchy | None = None,
        calls: SystemCallFilter | None = None,
    ) -> None:
        """Take what is not to be found out: the program, the control groups, the filter."""
        group = f"meijin-{os.getpid()}-{secrets.token_hex(4)}"
        self._bwrap = bwrap or find_bwrap()
        self._hierarchy = hierarchy or find_hierarchy(group)
        self._filter = (calls or SystemCallFilter()).assemble()
        self._users = itertools.cycle(range(FIRST_UID, FIRST_UID + _USERS))
        self._taken: set[int] = set()
        self._running: set[BubblewrapProgram] = set()
        self._folder = Path()
        self._janitor: Janitor | None = None

    @property
    def janitor_pid(self) -> int | None:
        """The process that removes what the host leaves when it is killed."""
        return None if self._janitor is None else self._janitor.pid

    @property
    def leftovers(self) -> Sequence[Path]:
        """The folders that are there as long as the sandbox is."""
        return [self._folder, *self._hierarchy.folders()]

    def check(self) -> Sequence[Finding]:
        """What it can limit here."""
        return [*self._hierarchy.findings(), *check_namespaces(self._bwrap)]

    async def __aenter__(self) -> Self:
        """Start the janitor, and make the host's groups.

        Raises:
            CannotHostError: memory, processes or network can't be limited.
        """
        require(await asyncio.to_thread(self.check))
        self._folder = Path(tempfile.mkdtemp(prefix="meijin-host-"))
        self._janitor = Janitor(janitor.__name__, *self.leftovers)
        await self._janitor.start()
        try:
            self._folder.chmod(0o711)
            self._stage.mkdir()
            self._hierarchy.open()
        except OSError:
            await self._janitor.close()
            raise
        return self

    @property
    def _stage(self) -> Path:
        return self._folder / "stage"

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(program.stop() for program in self._running))
        if self._janitor is not None:
            await self._janitor.close()

    async def start(self, launch: Launch) -> BubblewrapProgram:
        """Start a program; where it can't run it ends with a cause that says so.

        Raises:
            OSError: the machine has no room for another group or process; nothing is left.
        """
        limits = replace(launch.limits, processes=launch.limits.processes + OWN_PROCESSES)
        with ExitStack() as undo:
            group = self._hierarchy.seat(launch.name, limits)
            undo.callback(group.remove)
            group.pin(launch.core)
            uid = self._take_user()
            undo.callback(self._taken.discard, uid)
            output, written = _pipe(undo)
            status, said = _pipe(undo)
            with _closing(written, said):
                process = await self._spawn(launch, group, uid=uid, output=written, status=said)
            undo.pop_all()

        def forget() -> None:
            self._running.discard(program)
            self._taken.discard(uid or 0)

        program = BubblewrapProgram(
            process,
            group=group,
            limits=launch.limits,
            output=output,
            status=status,
            on_end=forget,
        )
        self._running.add(program)
        return program

    async def _spawn(
        self, launch: Launch, group: SeatGroup, *, uid: int | None, output: int, status: int
    ) -> asyncio.subprocess.Process:
        with _file("seccomp", self._filter) as filter_descriptor:
            place = Place(
                bwrap=self._bwrap or Path("bwrap"),
                entries=group.entries(Part.PROGRAM),
                stage=self._stage,
                uid=uid,
                filter_descriptor=filter_descriptor if is_filterable() else None,
                status_descriptor=status,
            )
            with _file("mounts", os.fsencode(mount_table(launch, place))) as mounts:
                return await asyncio.create_subprocess_exec(
                    *self._command_line(launch, place),
                    stdin=mounts,
                    stdout=output,
                    stderr=output,
                    pass_fds=(filter_descriptor, status),
                    env={},
                    cwd="/",
                    start_new_session=True,
                )

    def _command_line(self, launch: Launch, place: Place) -> Sequence[str]:
        return command_line(launch, place)

    def _take_user(self) -> int | None:
        if os.geteuid() != 0:
            return None
        uid = next(user for user in self._users if user not in self._taken)
        self._taken.add(uid)
        return uid


@contextmanager
def _file(name: str, content: bytes) -> Iterator[int]:
    """A file in memory, to be read from its begin."""
    descriptor = os.memfd_create(name)
    with _closing(descriptor):
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor


def _pipe(undo: ExitStack) -> tuple[int, int]:
    """A pipe, whose end for reading is closed where things go wrong."""
    reader, writer = os.pipe()
    undo.callback(os.close, reader)
    return reader, writer


@contextmanager
def _closing(*descriptors: int) -> Iterator[None]:
    try:
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
