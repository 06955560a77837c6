"""Programs in containers of an engine that runs them as processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import until
from tests.processes import eventually
from tests.programs.containers.conftest import IMAGE, FakeEngine
from tests.programs.sandbox.laboratory import is_alive, kill

from meijin.programs.containers.container_command import ContainerSettings
from meijin.programs.containers.container_program import ContainerProgram
from meijin.programs.containers.container_sandbox import ContainerSandbox
from meijin.programs.containers.engine import Engine, EngineError
from meijin.programs.containers.janitor import remove_of_dead
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import CannotHostError
from meijin.programs.sandbox.running import Cause, Launch, Running

HOST = Path(__file__).with_name("host_in_test.py")
MISSING = Launch("seat", ["./engine"], Path("/"), Path("/"))


@pytest.fixture
async def sandbox(engine: FakeEngine) -> AsyncIterator[ContainerSandbox]:
    async with ContainerSandbox("docker", find_group=engine.find_group) as sandbox:
        yield sandbox
    assert engine.containers() == []


async def started(
    sandbox: ContainerSandbox, engine: FakeEngine, *words: str, limits: ProgramLimits | None = None
) -> ContainerProgram:
    program = await sandbox.start(engine.launch(engine.folder, *words, limits=limits))
    assert isinstance(program, ContainerProgram)
    return program


async def rests(sandbox: ContainerSandbox, engine: FakeEngine) -> ContainerProgram:
    program = await started(sandbox, engine, "rest")
    await until(lambda: "up" in program.lines)
    return program


async def run(sandbox: ContainerSandbox, launch: Launch) -> Running:
    program = await sandbox.start(launch)
    async with asyncio.timeout(60):
        await program.wait()
    return program


async def test_program_runs_to_its_end(sandbox: ContainerSandbox, engine: FakeEngine) -> None:
    """What it writes is kept, what it used is read from its control group, and nothing is left."""
    program = await run(sandbox, engine.launch(engine.folder, "leave", "7"))
    end = await program.wait()
    assert (end.cause, end.status) == (Cause.EXITED, 7)
    assert engine.containers() == []


async def test_usage_is_that_of_its_control_group(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """It stays when the group has gone; the engine's own process is not counted."""
    program = await rests(sandbox, engine)
    program.usage()
    for file in engine.group.iterdir():
        file.unlink()
    await program.stop(timedelta(0))
    used = program.usage()
    assert (used.cpu_ns, used.memory_bytes, used.processes) == (1_500_000, 4096, 2)
    assert used.output_bytes == len("up\n")


@pytest.mark.parametrize(
    ("words", "cause", "status"),
    [(("leave", "127"), Cause.COMMAND, 127), (("end_by", "6"), Cause.SIGNAL, 6)],
)
async def test_end_is_told(
    sandbox: ContainerSandbox,
    engine: FakeEngine,
    words: tuple[str, ...],
    cause: Cause,
    status: int,
) -> None:
    end = await (await run(sandbox, engine.launch(engine.folder, *words))).wait()
    assert (end.cause, end.status) == (cause, status)


async def test_memory_is_the_cause_where_the_engine_says_so(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    engine.set("out-of-memory", "")
    end = await (await run(sandbox, engine.launch(engine.folder, "leave", "1"))).wait()
    assert end.cause is Cause.MEMORY
    assert "256 MiB" in end.words


async def test_command_that_is_not_there_is_named(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """In the last line of what the engine says."""
    end = await (await run(sandbox, MISSING)).wait()
    assert (end.cause, end.words) == (Cause.COMMAND, "exec: './engine': not found")
    assert engine.containers() == []


async def test_engine_that_makes_no_container_is_the_hosts_fault(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    engine.set("fail-create", "no space left on device")
    end = await (await run(sandbox, engine.launch(engine.folder, "rest"))).wait()
    assert end.cause is Cause.LAUNCH
    assert end.words.endswith("no space left on device")


async def test_flood_ends_it(sandbox: ContainerSandbox, engine: FakeEngine) -> None:
    limits = ProgramLimits(output_bytes=1000)
    program = await started(sandbox, engine, "flood", "1", limits=limits)
    async with asyncio.timeout(60):
        assert (await program.wait()).cause is Cause.OUTPUT


async def test_program_whose_use_is_not_seen_is_given_up(engine: FakeEngine) -> None:
    """As where the engine runs on another machine: it would think without being charged."""
    async with ContainerSandbox("docker", find_group=lambda _container, _pid: None) as sandbox:
        end = await (await run(sandbox, engine.launch(engine.folder, "rest"))).wait()
    assert end.cause is Cause.LAUNCH
    assert "control groups" in end.words
    assert engine.containers() == []


async def test_program_that_has_gone_at_once_is_not_given_up(engine: FakeEngine) -> None:
    """Its control groups are gone with it: how it ended tells more."""

    def remove(container: str, _pid: int) -> None:
        subprocess.run(["docker", "rm", "--force", "--volumes", container], check=True)

    async with ContainerSandbox("docker", find_group=remove) as sandbox:
        end = await (await run(sandbox, engine.launch(engine.folder, "rest"))).wait()
    assert "control groups" not in end.words


async def test_frozen_program_is_paused_until_it_thaws(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """Asked twice, the engine is told once."""
    program = await rests(sandbox, engine)
    await program.freeze()
    await program.freeze()
    state = json.loads((engine.folder / "containers" / program.container / "state").read_text())
    assert state["Status"] == "paused"
    await program.thaw()
    assert len(engine.calls("pause")) == len(engine.calls("unpause")) == 1


async def test_last_wish_holds_where_one_is_taken_back(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """A thaw whose caller is cancelled does not come after the freeze that follows it."""
    program = await rests(sandbox, engine)
    await program.freeze()
    thaw = asyncio.create_task(program.thaw())
    await until(program._turns.locked)
    thaw.cancel()
    with suppress(asyncio.CancelledError):
        await thaw
    await program.freeze()
    told = [words[0] for words in engine.calls() if words[0] in ("pause", "unpause")]
    assert told == ["pause", "unpause", "pause"]


async def test_pinned_program_thaws_on_its_core(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """The engine moves it before it goes on."""
    program = await rests(sandbox, engine)
    await program.freeze()
    program.pin(3)
    await program.thaw()
    told = [words for words in engine.calls() if words[0] in ("update", "unpause")]
    assert told[0] == ["update", "--cpuset-cpus", "3", program.container]
    assert told[1][0] == "unpause"


async def test_program_that_can_not_be_frozen_is_an_error(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """Else it would think on the opponent's time."""
    program = await rests(sandbox, engine)
    engine.set("fail-pause", "no freezer")
    with pytest.raises(EngineError, match="no freezer"):
        await program.freeze()


async def test_freezing_what_has_ended_is_nothing(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    program = await run(sandbox, engine.launch(engine.folder, "leave", "0"))
    await program.freeze()
    await program.thaw()
    assert engine.calls("pause") == []


async def test_stop_asks_before_it_kills(sandbox: ContainerSandbox, engine: FakeEngine) -> None:
    """Also where it is frozen."""
    program = await rests(sandbox, engine)
    await program.freeze()
    async with asyncio.timeout(60):
        end = await program.stop(timedelta(minutes=5))
    assert (end.cause, end.status) == (Cause.ASKED, 128 + signal.SIGTERM)


async def test_stop_ends_whoever_does_not_listen(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    program = await started(sandbox, engine, "ignore_sigterm")
    await until(lambda: "up" in program.lines)
    end = await program.stop(timedelta(milliseconds=50))
    assert end.cause is Cause.ASKED
    assert engine.containers() == []


async def test_leaving_the_block_ends_all(engine: FakeEngine) -> None:
    async with ContainerSandbox("docker", find_group=engine.find_group) as sandbox:
        await rests(sandbox, engine)
        assert len(engine.containers()) == 1
    assert engine.containers() == []


async def test_image_is_fetched_once(sandbox: ContainerSandbox, engine: FakeEngine) -> None:
    """It is started with its own command, in its own folder, with the socket alone."""
    launch = Launch("seat", (), engine.folder, engine.folder, image=IMAGE)
    for _ in range(2):
        await run(sandbox, launch)
    assert engine.calls("pull") == [["pull", "--quiet", IMAGE]]
    words = engine.calls("create")[0]
    assert words[-1] == IMAGE
    assert not {"--entrypoint", "--workdir"} & set(words)
    assert [word for word in words if word.startswith("type=bind")] == [
        f"type=bind,source={engine.folder},target=/run/arena,ro"
    ]


async def test_image_with_a_volume_is_refused(
    sandbox: ContainerSandbox, engine: FakeEngine
) -> None:
    """A volume is a folder of the machine's disk, which the container could fill."""
    engine.set("images", {"meijin": None, IMAGE: {"/data": {}}})
    launch = Launch("seat", (), engine.folder, engine.folder, image=IMAGE)
    end = await (await run(sandbox, launch)).wait()
    assert end.cause is Cause.COMMAND
    assert "the volume /data" in end.words
    assert engine.calls("create") == []


async def test_engine_that_does_not_run_hosts_nothing(engine: FakeEngine) -> None:
    engine.set("fail-info", "the engine is not running")
    with pytest.raises(CannotHostError, match="the engine is not running"):
        async with ContainerSandbox("docker"):
            pass


def test_podman_takes_the_runtime_before_each_command() -> None:
    """Docker takes it with the command that makes a container."""
    sandbox = ContainerSandbox("podman", ContainerSettings(runtime="runsc"))
    assert sandbox._engine.words == ("podman", "--runtime", "runsc")
    assert sandbox._create_settings.runtime == ""


@dataclass(frozen=True, slots=True)
class Host:
    """A host that runs, with two programs."""

    process: subprocess.Popen[str]
    janitor: int
    pids: list[int]
    """Of the programs, one of which is frozen."""

    def is_gone(self) -> bool:
        return not any(map(is_alive, [self.process.pid, self.janitor, *self.pids]))


@pytest.fixture
def host(engine: FakeEngine) -> Iterator[Host]:
    command = [sys.executable, str(HOST), str(engine.folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        host = Host(process, **json.loads(process.stdout.readline()))
        try:
            yield host
        finally:
            process.kill()
            eventually(host.is_gone)


def test_killed_host_leaves_no_container(engine: FakeEngine, host: Host) -> None:
    """Its janitor removes them, and the processes in them die."""
    assert all(map(is_alive, host.pids))
    host.process.kill()
    host.process.wait()
    eventually(lambda: engine.containers() == [])
    eventually(host.is_gone)


def test_next_host_removes_what_a_janitor_could_not(engine: FakeEngine, host: Host) -> None:
    """As where a service ends all of its processes at once; a host that lives keeps its own."""
    remove_of_dead(Engine("docker"))
    assert len(engine.containers()) == 2
    host.process.send_signal(signal.SIGSTOP)  # it starts no other janitor
    kill(host.janitor)
    host.process.kill()
    host.process.wait()
    assert len(engine.containers()) == 2
    remove_of_dead(Engine("docker"))
    assert engine.containers() == []
