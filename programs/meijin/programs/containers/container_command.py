"""The words with which an engine makes a container for a program."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from meijin.programs.sandbox.running import SCRATCH, SOCKET, SOCKET_FOLDER, TREE, Launch

OWN_IMAGE = "meijin"
"""The image that this project's Dockerfile makes, by the name that its instructions give it."""
USER = 60_000
"""Whom programs run as: nobody's, of the machine or of an image."""
INIT_PROCESSES = 1
"""The engine's own, which passes signals on and buries children."""


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """What an operator chooses for all containers."""

    image: str = ""
    """That programs run in which are no images themselves; it has this project and its Python."""
    runtime: str = ""
    """Of those that the engine knows, such as ``runsc``, gVisor's; its default one where empty."""
    seccomp: Path | None = None
    """A profile of system calls; the engine's own else."""


def create_words(
    launch: Launch, settings: ContainerSettings, *, name: str, label: str
) -> Sequence[str]:
    """The command that makes a container, and does not start it yet."""
    return (
        *("create", "--name", name, "--label", label, "--hostname", "bot", "--init"),
        *("--network", "none", "--ipc", "none", "--log-driver", "none", "--no-healthcheck"),
        *_rights(settings),
        *_limits(launch),
        *_files(launch),
        *_environment(launch),
        *(("--runtime", settings.runtime) if settings.runtime else ()),
        *_command(launch, settings),
    )


def _rights(settings: ContainerSettings) -> Iterator[str]:
    yield from ("--user", f"{USER}:{USER}", "--cap-drop", "ALL", "--read-only")
    yield from ("--security-opt", "no-new-privileges")
    if settings.seccomp is not None:
        yield from ("--security-opt", f"seccomp={settings.seccomp}")


def _limits(launch: Launch) -> Iterator[str]:
    limits = launch.limits
    memory = str(limits.memory_bytes)
    yield from ("--memory", memory, "--memory-swap", memory)  # the sum of both: no swap
    yield from ("--pids-limit", str(limits.processes + INIT_PROCESSES))
    yield from ("--cpus", "1")
    if launch.core is not None:
        yield from ("--cpuset-cpus", str(launch.core))
    for name, value in (
        ("nofile", limits.files),
        ("fsize", limits.scratch_bytes),
        ("core", 0),
        ("memlock", 1 << 16),
    ):
        yield from ("--ulimit", f"{name}={value}:{value}")


def _files(launch: Launch) -> Iterator[str]:
    scratch = f"rw,exec,nosuid,nodev,mode=1777,size={launch.limits.scratch_bytes}"
    yield from ("--tmpfs", f"{SCRATCH}:{scratch}")
    yield from ("--mount", f"type=bind,source={launch.socket_folder},target={SOCKET_FOLDER},ro")
    if not launch.image:
        yield from ("--mount", f"type=bind,source={launch.tree},target={TREE},ro")
        yield from ("--workdir", str(TREE))


def _environment(launch: Launch) -> Iterator[str]:
    """The variables besides the image's own; of these PATH alone is of use."""
    variables = {
        **launch.environment,
        "HOME": str(SCRATCH),
        "XDG_CACHE_HOME": str(SCRATCH),
        "MEIJIN_SERVER": f"unix:{SOCKET_FOLDER / SOCKET}",
    }
    for name, value in variables.items():
        yield from ("--env", f"{name}={value}")


def _command(launch: Launch, settings: ContainerSettings) -> Sequence[str]:
    """The image, and what runs in it: an image that was handed over has a command of its own."""
    if launch.image:
        return ("--pull", "never", launch.image)
    program, *arguments = command_inside(launch.command)
    return ("--pull", "never", "--entrypoint", program, settings.image or OWN_IMAGE, *arguments)


def command_inside(command: Sequence[str]) -> Sequence[str]:
    """A command whose Python is the image's, and not this interpreter."""
    program, *arguments = command
    return ("python3" if program == sys.executable else program, *arguments)
