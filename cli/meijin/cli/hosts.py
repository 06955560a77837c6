"""`meijin host`: runs the programs of bots on this machine, and says what can be limited here."""

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from meijin.bots.sdk.hardware import hardware as machine_of
from meijin.bots.sdk.hardware import read_speed
from meijin.cli.bot.options import HardwareOption
from meijin.cli.command import Commands, option
from meijin.cli.errors import CommandError, needed_parts
from meijin.cli.server.commands import LOG_LEVEL_HELP
from meijin.hosting.doors import DoorPool
from meijin.hosting.host import HostDaemon, HostRefusedError, HostSettings
from meijin.local.connection import Server
from meijin.programs.containers.container_command import ContainerSettings
from meijin.programs.containers.container_sandbox import ContainerSandbox
from meijin.programs.containers.kubernetes.sandbox import KubernetesSandbox
from meijin.programs.depot import open_depot
from meijin.programs.kinds import ProgramLimits
from meijin.programs.prepared import Wheelhouse
from meijin.programs.sandbox.abilities import CannotHostError, report, require
from meijin.programs.sandbox.bubblewrap import BubblewrapSandbox
from meijin.programs.sandbox.process import ProcessSandbox
from meijin.programs.sandbox.running import Sandbox
from meijin.wire.contract import (
    DATABASE_VARIABLE,
    HOST_TOKEN_VARIABLE,
    LOG_FORMAT_VARIABLE,
    LOG_LEVEL_VARIABLE,
    PROGRAMS_VARIABLE,
    REDIS_VARIABLE,
    WHEELHOUSE_VARIABLE,
)
from meijin.worker.cores import cores as cores_here

app = Commands()

MEMORY_SHARE = 2
"""Programs may take one in this many parts of the machine's memory, where nothing else is said."""


class SandboxName(StrEnum):
    """What separates programs from each other and from the machine."""

    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"
    PODMAN = "podman"
    KUBERNETES = "kubernetes"
    PROCESS = "process"


SANDBOXES: dict[SandboxName, Callable[[ContainerSettings], Sandbox]] = {
    SandboxName.BUBBLEWRAP: lambda _: BubblewrapSandbox(),
    SandboxName.DOCKER: partial(ContainerSandbox, "docker"),
    SandboxName.PODMAN: partial(ContainerSandbox, "podman"),
    SandboxName.KUBERNETES: KubernetesSandbox,
    SandboxName.PROCESS: lambda _: ProcessSandbox(),
}

WheelhouseOption = Annotated[
    Path | None, option("A folder of wheels that programs may need.", envvar=WHEELHOUSE_VARIABLE)
]
SandboxOption = Annotated[
    SandboxName,
    option("What separates programs: process limits nothing, and is for one's own bots."),
]
ImageOption = Annotated[
    str,
    option(
        "Of containers: what programs run in that are no images; this project's own image else.",
    ),
]
RuntimeOption = Annotated[
    str, option("Of containers: their runtime, or its class, such as gVisor's runsc.")
]


@app.command()
def check(
    sandbox: SandboxOption = SandboxName.BUBBLEWRAP,
    image: ImageOption = "",
    runtime: RuntimeOption = "",
) -> None:
    """Show what a program can be limited in on this machine, and what to do where it can't be.

    The status is 0 where programs of others can be hosted, and 1 where not.
    """
    found = SANDBOXES[sandbox](ContainerSettings(image, runtime)).check()
    typer.echo(report(sandbox, found))
    try:
        require(found)
    except CannotHostError as error:
        raise CommandError(str(error)) from None


@app.command()
def run(
    server: Server,
    token: Annotated[
        str,
        option(
            "The host's own; an operator makes one: meijin token create host.",
            envvar=HOST_TOKEN_VARIABLE,
        ),
    ],
    name: Annotated[str, "What the machine is called; its host name else."] = "",
    sandbox: SandboxOption = SandboxName.BUBBLEWRAP,
    image: ImageOption = "",
    runtime: RuntimeOption = "",
    seats: Annotated[int, option("Programs at once; as many as fit into memory else.", 0)] = 0,
    cores: Annotated[
        int, option("Programs that think at once, a core each; all cores but one else.", 0)
    ] = 0,
    folder: Annotated[Path | None, "Where programs are kept; a temporary folder else."] = None,
    wheelhouse: WheelhouseOption = None,
    owners: Annotated[
        list[str] | None,
        option(
            "Run this owner's programs alone; may be given again, and - stands for bots without an "
            "owner. With --sandbox process it has to be given.",
            flags=("--owner",),
        ),
    ] = None,
    hardware: HardwareOption = None,
) -> None:
    """Seat the programs of bots for a server, here or elsewhere, until Ctrl-C.

    It connects to the server, and nothing connects to it.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    own = cores_here()
    used = own[-cores:] if cores else own[1:] or own
    machine = machine_of(hardware)
    settings = HostSettings(
        server=server.address,
        token=token,
        name=(name or socket.gethostname())[:40],
        folder=None if folder is None else folder.resolve(),
        seats=seats or _seats(),
        cores=used,
        hardware=machine,
        nodes_per_second=read_speed() if machine else 0,
        wheelhouse=wheelhouse,
        owners=owners or (),
    )
    try:
        asyncio.run(_host(settings, SANDBOXES[sandbox](ContainerSettings(image, runtime))))
    except (CannotHostError, HostRefusedError, ValueError) as error:
        raise CommandError(str(error)) from None


def _seats() -> int:
    """How many programs fit into the memory that they may take."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, memory // MEMORY_SHARE // ProgramLimits().memory_bytes)


@app.command()
def admit(
    database: Annotated[str, option("The server's SQLAlchemy URL.", envvar=DATABASE_VARIABLE)],
    redis: Annotated[str, option("The server's redis:// or unix:// URL.", envvar=REDIS_VARIABLE)],
    programs: Annotated[
        str,
        option(
            "Where the server keeps programs: a folder or s3://bucket.", envvar=PROGRAMS_VARIABLE
        ),
    ],
    sandbox: SandboxOption = SandboxName.BUBBLEWRAP,
    image: ImageOption = "",
    runtime: RuntimeOption = "",
    wheelhouse: WheelhouseOption = None,
    log_level: Annotated[str, option(LOG_LEVEL_HELP, envvar=LOG_LEVEL_VARIABLE)] = "info",
    log_format: Annotated[
        str, option("text or json; auto is text to a terminal alone.", envvar=LOG_FORMAT_VARIABLE)
    ] = "auto",
) -> None:
    """Examine the programs that were uploaded to a server, until Ctrl-C or SIGTERM.

    Needed only where `meijin serve --hosting` is given a Redis; else it starts one of its own.
    """
    with needed_parts():
        from meijin.hosting.admission.candidate import SandboxLoop  # noqa: PLC0415 - as in serve
        from meijin.hosting.admission.examination import ProgramExamination  # noqa: PLC0415
        from meijin.hosting.admission.worker import Admissions, run_worker  # noqa: PLC0415
        from meijin.server.logs import LogFormat, LogLevel, configure_logs  # noqa: PLC0415
        from meijin.store import Database  # noqa: PLC0415
    configure_logs(LogLevel(log_level), LogFormat(log_format))
    stop, own = threading.Event(), cores_here()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    chosen = SANDBOXES[sandbox](ContainerSettings(image, runtime))
    loop = SandboxLoop(chosen, DoorPool(os.environ))
    with Database(database) as store:
        try:
            with loop:
                examination = ProgramExamination(
                    loop,
                    open_depot(programs),
                    wheelhouse=Wheelhouse(wheelhouse),
                    core=own[-1],
                    limits=ProgramLimits(),
                )
                run_worker(Admissions(store, examination), redis, stop)
        except CannotHostError as error:
            raise CommandError(str(error)) from None


async def _host(settings: HostSettings, sandbox: Sandbox) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with sandbox:
        await HostDaemon(settings, sandbox).run(stop)
