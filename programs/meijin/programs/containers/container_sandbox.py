"""The sandbox of containers: those of Docker or Podman, by their command line."""

import asyncio
import json
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Self

from meijin.programs.containers import janitor
from meijin.programs.containers.container_command import ContainerSettings, create_words
from meijin.programs.containers.container_group import ContainerGroup
from meijin.programs.containers.container_program import ContainerProgram
from meijin.programs.containers.engine import PULL_TIMEOUT, Engine, EngineError
from meijin.programs.containers.engine_check import check_engine
from meijin.programs.containers.engine_info import read_info
from meijin.programs.containers.host_label import LABEL, HostLabel
from meijin.programs.containers.not_started import NotStarted
from meijin.programs.containers.seccomp_profile import ProfileFile, without_namespaces
from meijin.programs.sandbox.abilities import CannotHostError, Finding, require
from meijin.programs.sandbox.janitor import Janitor
from meijin.programs.sandbox.running import Cause, Launch, Running

_PODMAN = "podman"
_POLL_INTERVAL = timedelta(milliseconds=20)
"""Between two looks at whether a container runs: the engine tells nobody of it."""


class ContainerSandbox:
    """Starts programs in containers, each for itself, and images as they are."""

    runs_images = True

    def __init__(
        self,
        program: str,
        settings: ContainerSettings | None = None,
        *,
        find_group: Callable[[str, int], ContainerGroup | None] = ContainerGroup.find,
    ) -> None:
        """Take an engine's program, what its containers have in common, and what finds their groups."""
        self._settings = settings or ContainerSettings()
        runtime = self._settings.runtime if program == _PODMAN else ""
        self._engine = Engine(program, ("--runtime", runtime) if runtime else ())
        self._create_settings = replace(self._settings, runtime="") if runtime else self._settings
        """Podman takes its runtime before every command, Docker with the one that makes a container."""
        self._find_group = find_group
        self._label = str(HostLabel.own())
        self._profile: ProfileFile | None = None
        self._found: Sequence[Finding] | None = None
        self._running: set[ContainerProgram] = set()
        self._janitor: Janitor | None = None

    @property
    def name(self) -> str:
        """The engine's program."""
        return self._engine.program

    @property
    def janitor_pid(self) -> int | None:
        """The process that removes what the host leaves when it is killed."""
        return None if self._janitor is None else self._janitor.pid

    def check(self) -> Sequence[Finding]:
        """What it can limit here; asked once, for it takes many commands."""
        if self._found is None:
            self._found = check_engine(self._engine, self._settings)
        return self._found

    async def __aenter__(self) -> Self:
        """Remove what hosts have left that were killed, and start the janitor.

        Raises:
            CannotHostError: memory, processes or network can't be limited.
        """
        require(await asyncio.to_thread(self.check))
        await asyncio.to_thread(self._choose_calls)
        with suppress(EngineError):  # the next host tries again
            await asyncio.to_thread(janitor.remove_of_dead, self._engine)
        self._janitor = Janitor(janitor.__name__, self._label, *self._engine.words)
        await self._janitor.start()
        return self

    def _choose_calls(self) -> None:
        """Take the engine's profile of system calls, where it is a file, without namespaces.

        Raises:
            CannotHostError: it can't be read.
        """
        if self._settings.seccomp is not None:
            return
        try:
            file = read_info(self._engine).seccomp_profile
            if file is not None:
                self._profile = ProfileFile(without_namespaces(file.read_text()))
                self._create_settings = replace(self._create_settings, seccomp=self._profile.path)
        except (OSError, ValueError, KeyError) as error:
            text = f"this machine can't host programs: the profile of system calls: {error}"
            raise CannotHostError(text) from None

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(program.stop() for program in list(self._running)))
        if self._janitor is not None:
            await self._janitor.close()
        if self._profile is not None:
            self._profile.close()

    async def start(self, launch: Launch) -> Running:
        """Start a program; where it can't run it ends with a cause that says so."""
        name = f"meijin-{launch.name}-{secrets.token_hex(4)}"
        label = f"{LABEL}={self._label}"
        try:
            if launch.image and (why := await self._fetch(launch.image)):
                return NotStarted(Cause.COMMAND, why)
            words = create_words(launch, self._create_settings, name=name, label=label)
            created = await self._engine.call(*words)
        except EngineError as error:
            return NotStarted(Cause.LAUNCH, str(error))
        return await self._attach(created.split()[-1], launch)

    async def _fetch(self, image: str) -> str:
        """Have an image here; why it can't be taken, in words, or nothing.

        Raises:
            EngineError: it can't be had.
        """
        inspect = ("image", "inspect", image)
        try:
            told = await self._engine.call(*inspect)
        except EngineError:
            await self._engine.call("pull", "--quiet", image, timeout=PULL_TIMEOUT)
            told = await self._engine.call(*inspect)
        volumes = json.loads(told)[0].get("Config", {}).get("Volumes") or {}
        if volumes:
            return (
                f"its image has the volume {min(volumes)}, which nothing limits; build it without"
            )
        return ""

    async def _attach(self, container: str, launch: Launch) -> ContainerProgram:
        reader, writer = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(*self._engine.words, "start", "--attach", container),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                cwd=launch.socket_folder,  # where Podman's monitor may leave a file
                start_new_session=True,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        program = ContainerProgram(
            self._engine,
            container,
            process,
            limits=launch.limits,
            core=launch.core,
            output=reader,
            find_group=self._find_group,
            on_end=self._running.discard,
        )
        self._running.add(program)
        await program.begin(_POLL_INTERVAL)
        return program
