"""Programs as plain processes: for one's own, with nothing limited."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import until
from tests.programs.sandbox import attacks
from tests.programs.sandbox.laboratory import is_alive

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, CannotHostError, require
from meijin.programs.sandbox.process import ProcessProgram, ProcessSandbox
from meijin.programs.sandbox.running import Cause, Launch

AT_ONCE = timedelta(0)


@pytest.fixture
async def sandbox() -> AsyncIterator[ProcessSandbox]:
    async with ProcessSandbox() as sandbox:
        yield sandbox
    assert not sandbox._folder.exists()


def launch(tmp_path: Path, *words: str, limits: ProgramLimits | None = None) -> Launch:
    command = [sys.executable, "-I", "-S", attacks.__file__, *words]
    return Launch("seat", command, tmp_path, tmp_path, limits=limits or ProgramLimits())


async def started(sandbox: ProcessSandbox, folder: Path, *words: str) -> ProcessProgram:
    program = await sandbox.start(launch(folder, *words))
    await until(lambda: "up" in program.lines)
    return program


def test_it_hosts_no_programs_of_others() -> None:
    """It says that it limits nothing, and what does."""
    with pytest.raises(CannotHostError, match="host programs of others with the sandbox bubble"):
        require(ProcessSandbox().check())
    limited = {each.ability for each in ProcessSandbox().check() if each.is_limited}
    assert limited == {Ability.CPU_TIME, Ability.FREEZE}


async def test_program_runs_in_its_tree(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    """Its environment is as empty as that of a sandboxed one."""
    program = await sandbox.start(launch(tmp_path, "describe"))
    assert (await program.wait()).cause is Cause.EXITED
    assert f"'MEIJIN_SERVER', 'unix:{tmp_path}/bot.sock'" in program.lines[0]
    assert f" {tmp_path} " in program.lines[0]
    assert program.usage().output_bytes == sum(len(line) + 1 for line in program.lines)


@pytest.mark.parametrize(
    ("words", "cause", "status"),
    [(("leave", "7"), Cause.EXITED, 7), (("end_by", "6"), Cause.SIGNAL, 6)],
)
async def test_end_is_told(
    sandbox: ProcessSandbox, tmp_path: Path, words: tuple[str, ...], cause: Cause, status: int
) -> None:
    end = await (await sandbox.start(launch(tmp_path, *words))).wait()
    assert (end.cause, end.status) == (cause, status)


async def test_command_that_is_not_there_is_named(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    program = await sandbox.start(Launch("seat", ["./engine"], tmp_path, tmp_path))
    end = await program.wait()
    assert end.cause is Cause.COMMAND
    assert "./engine" in end.words


async def test_flood_ends_it(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    limits = ProgramLimits(output_bytes=1000)
    program = await sandbox.start(launch(tmp_path, "flood", "1", limits=limits))
    assert (await program.wait()).cause is Cause.OUTPUT


async def test_frozen_program_stands_still(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    """With its children; and goes on when it thaws."""
    program = await started(sandbox, tmp_path, "spin", "2")
    await program.freeze()
    before = program.usage().cpu_ns
    await asyncio.sleep(0.05)  # what must not happen has no event
    assert program.usage().cpu_ns == before
    await program.thaw()
    await until(lambda: program.usage().cpu_ns > before)
    assert program.usage().processes == 2


async def test_stop_asks_before_it_kills(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    """Also where it is frozen."""
    program = await started(sandbox, tmp_path, "rest")
    await program.freeze()
    async with asyncio.timeout(60):
        end = await program.stop(timedelta(minutes=5))
    assert (end.cause, end.status) == (Cause.ASKED, -15)


async def test_stop_ends_whoever_does_not_listen(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    program = await started(sandbox, tmp_path, "ignore_sigterm")
    end = await program.stop(timedelta(milliseconds=50))
    assert (end.cause, end.status) == (Cause.ASKED, -9)


async def test_leaving_the_block_ends_all(tmp_path: Path) -> None:
    async with ProcessSandbox() as sandbox:
        program = await started(sandbox, tmp_path, "rest")
    assert not is_alive(program.pid)
