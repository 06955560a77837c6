"""Attacks in containers of a real engine, where there is one that can limit all that it limits."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.programs.sandbox import attacks
from tests.programs.sandbox.laboratory import skip_without

from meijin.programs.containers.container_sandbox import ContainerSandbox
from meijin.programs.containers.engine import Engine
from meijin.programs.containers.host_label import LABEL, HostLabel
from meijin.programs.containers.janitor import find, remove_all, remove_of_dead
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.running import SOCKET, Cause, Launch, Running

CALL = """
import os, socket
path = os.environ["MEIJIN_SERVER"].removeprefix("unix:")
socket.socket(socket.AF_UNIX).connect(path)
"""
LIMITS = ProgramLimits(memory_bytes=128 << 20)


@pytest.fixture(scope="module", params=["docker", "podman"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[ContainerSandbox]:
    sandbox = ContainerSandbox(request.param)
    skip_without(sandbox.check())
    async with sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Of the attacks, for whoever may read and write it."""
    with tempfile.TemporaryDirectory(prefix="meijin-tree-") as made:
        folder = Path(made)
        shutil.copy(attacks.__file__, folder / "attacks.py")
        folder.chmod(0o777)
        yield folder


async def begin(sandbox: ContainerSandbox, tree: Path, *words: str) -> Running:
    command = ["python3", "-I", "-S", "attacks.py", *words]
    return await sandbox.start(Launch("attack", command, tree, tree, limits=LIMITS))


@pytest.mark.parametrize(
    "words",
    [
        ("write", "/bot/mine"),
        ("write", "/etc/mine"),
        ("write", "/run/arena/mine"),
        ("write", "/dev/shm/mine"),
        ("connect", "22"),
        ("fork", "60"),
        ("start_threads", "60"),
        ("open_files", "300"),
        ("fill_scratch", "2", "20"),
        ("become_root",),
        ("make_device",),
        ("new_user_namespace_by_unshare",),
    ],
    ids="-".join,
)
async def test_attack_is_refused(
    sandbox: ContainerSandbox, tree: Path, words: tuple[str, ...]
) -> None:
    program = await begin(sandbox, tree, *words)
    end = await program.wait()
    assert end.cause is not Cause.LAUNCH, end.words
    assert attacks.THROUGH not in program.lines


async def test_program_reaches_its_socket(sandbox: ContainerSandbox, tree: Path) -> None:
    """By the address that it is told, though it may not write to the socket's folder."""
    reached = asyncio.Event()

    def reach(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        reached.set()

    server = await asyncio.start_unix_server(reach, tree / SOCKET)
    await asyncio.to_thread((tree / SOCKET).chmod, 0o777)
    launch = Launch("caller", ["python3", "-I", "-S", "-c", CALL], tree, tree, limits=LIMITS)
    async with server:
        program = await sandbox.start(launch)
        assert (await program.wait()).status == 0, program.lines
        await reached.wait()


async def test_killed_host_leaves_no_container(sandbox: ContainerSandbox, tree: Path) -> None:
    """Its containers are removed by their label, frozen or not, by whoever comes next."""
    program = await begin(sandbox, tree, "ignore_sigterm")
    await program.freeze()
    engine = Engine(sandbox.name)
    await asyncio.to_thread(remove_of_dead, engine)
    assert await asyncio.to_thread(find, engine, f"{LABEL}={HostLabel.own()}")
    await asyncio.to_thread(remove_all, engine, str(HostLabel.own()))
    assert (await program.wait()).cause is Cause.LAUNCH


async def test_memory_ends_a_program(sandbox: ContainerSandbox, tree: Path) -> None:
    program = await begin(sandbox, tree, "fill_memory", "400")
    assert (await program.wait()).cause is Cause.MEMORY


async def test_frozen_program_takes_no_time(sandbox: ContainerSandbox, tree: Path) -> None:
    """It goes on when it thaws, and ends when it is told to."""
    program = await begin(sandbox, tree, "spin", "2")
    await program.freeze()
    before = program.usage()
    await program.freeze()
    assert program.usage().cpu_ns == before.cpu_ns > 0
    await program.thaw()
    assert (await program.stop(timedelta(seconds=5))).cause is Cause.ASKED
