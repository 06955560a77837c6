"""A seat between a stub of a sandbox and a stub of a door: cores, freezing, and every way to end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from meijin.hosting.cores import Cores
from meijin.hosting.door.lines import (
    Answered,
    Done,
    Ended,
    Failed,
    Granted,
    HostLine,
    Line,
    Listening,
    Opened,
    Plan,
    Started,
    Used,
    Wants,
)
from meijin.hosting.seating import Ending, Seating
from meijin.programs.sandbox.running import Cause, End, Launch, Usage

if TYPE_CHECKING:
    from meijin.hosting.doors import DoorPool
    from meijin.programs.sandbox.running import Sandbox

CORE = 3
TURNS = 20
"""Of the event loop, in which whatever is said meanwhile is heard."""


class Door:
    """Says what a test has it say; its end is an empty line."""

    pid = 1

    def __init__(self) -> None:
        self.told: list[HostLine] = []
        self.is_closed = False
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue()

    async def take(self, _: Plan) -> Door:
        return self

    def tell(self, line: HostLine) -> None:
        self.told.append(line)
        if isinstance(line, Ended):
            self.say(None)

    def say(self, *lines: Line | None) -> None:
        for line in lines:
            self._lines.put_nowait(line)

    async def lines(self) -> AsyncIterator[Line]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def close(self) -> None:
        self.is_closed = True


class Program:
    """A sandbox with one program, which notes what it is to do."""

    lines: Sequence[str] = ("hello",)

    def __init__(self, error: OSError | None = None) -> None:
        self.did: list[str] = []
        self.cpu_ns = 0
        self.at_stop: Callable[[], None] = lambda: None
        self._error = error
        self._end: asyncio.Future[End] = asyncio.get_running_loop().create_future()

    async def start(self, launch: Launch) -> Program:
        if self._error is not None:
            raise self._error
        self.did.append(f"start on {launch.core}")
        return self

    def add_door(self, pid: int) -> None:
        raise ProcessLookupError(pid)  # it may have ended

    def usage(self) -> Usage:
        return Usage(self.cpu_ns, 0, 0, 0)

    def pin(self, core: int | None) -> None:
        self.did.append(f"pin to {core}")

    async def freeze(self) -> None:
        self.did.append("freeze")

    async def thaw(self) -> None:
        self.did.append("thaw")

    async def wait(self) -> End:
        return await asyncio.shield(self._end)

    async def stop(self, grace: timedelta) -> End:  # noqa: ARG002
        self.did.append("stop")
        self.at_stop()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self.end(End(Cause.ASKED, 0, "the host has stopped it"))
        return await self._end

    def end(self, end: End) -> None:
        if not self._end.done():
            self._end.set_result(end)


class Seat:
    """A seat that plays in the background."""

    def __init__(self, cores: Sequence[int] = (CORE,), error: OSError | None = None) -> None:
        self.door, self.program, self.cores = Door(), Program(error), Cores(cores)
        launch = Launch("seat", ["bot"], Path("/tree"), Path("/sockets"))
        self.seating = Seating(
            launch,
            Plan("", "", "", "ada", ""),
            sandbox=cast("Sandbox", self.program),
            cores=self.cores,
            doors=cast("DoorPool", self.door),
        )
        self.task = asyncio.create_task(self.seating.run())

    async def open(self) -> None:
        self.door.say(Listening(), Opened())
        await self.until("freeze")

    async def until(self, *did: str) -> None:
        """Wait until these are the last things that the program was to do."""
        async with asyncio.timeout(10):
            while tuple(self.program.did[-len(did) :]) != did:  # noqa: ASYNC110 - no event comes
                await asyncio.sleep(0)

    async def end(self) -> Ending:
        async with asyncio.timeout(10):
            return await self.task

    async def assert_all_is_given_back(self) -> None:
        assert self.door.is_closed
        async with asyncio.timeout(10):
            assert await self.cores.take() == CORE


async def test_a_program_has_its_core_for_its_turn_alone() -> None:
    """It stands still from its hello on, goes on when it is to move, and is told of what it used."""
    seat = Seat()
    await seat.open()
    core = await seat.cores.take()
    seat.door.say(Wants(1))
    await asyncio.sleep(0)
    assert seat.program.did == [f"start on {CORE}", "freeze"]
    seat.cores.give_back(core)
    await seat.until(f"pin to {CORE}", "thaw")
    seat.program.cpu_ns = 5_000_000
    seat.door.say(Answered(1))
    await seat.until("freeze")
    assert seat.door.told == [Started(), Granted(1), Used(1, 5000)]
    seat.seating.stop()
    assert (await seat.end()).cause == ""
    await seat.assert_all_is_given_back()


async def test_a_turn_that_is_over_frees_the_queue() -> None:
    """A program whose game ends while it waits for a core does not take one any more."""
    seat = Seat()
    await seat.open()
    core = await seat.cores.take()
    seat.door.say(Wants(1), Done(1))
    await seat.until("freeze", "freeze")
    seat.cores.give_back(core)
    seat.seating.stop()
    await seat.end()
    await seat.assert_all_is_given_back()


@pytest.mark.parametrize("cause", [Cause.MEMORY, Cause.EXITED, Cause.LAUNCH])
async def test_the_door_hears_how_a_program_has_ended(cause: Cause) -> None:
    """So that the server does: a game is lost by the program's own fault alone."""
    seat = Seat()
    await seat.open()
    seat.program.end(End(cause, 1, "its last words"))
    ending = await seat.end()
    is_hosts = cause is Cause.LAUNCH
    assert seat.door.told == [Started(), Ended("its last words", is_fault=not is_hosts)]
    assert (ending.cause, ending.is_hosts, ending.lines) == ("its last words", is_hosts, ["hello"])
    await seat.assert_all_is_given_back()


async def test_a_door_that_fails_is_the_hosts_fault() -> None:
    seat = Seat()
    await seat.open()
    seat.door.say(None)
    ending = await seat.end()
    assert (ending.cause, ending.is_hosts) == ("its door has ended", True)
    await seat.assert_all_is_given_back()


async def test_a_door_says_why_its_program_is_to_end() -> None:
    seat = Seat()
    await seat.open()
    seat.door.say(Failed("it floods its door", is_fault=True))
    ending = await seat.end()
    assert (ending.cause, ending.is_hosts) == ("it floods its door", False)


async def test_a_program_that_can_not_be_started_is_the_hosts_fault() -> None:
    """The machine has no room for another process."""
    seat = Seat(error=OSError("no room"))
    seat.door.say(Listening())
    ending = await seat.end()
    assert (ending.cause, ending.is_hosts) == ("it can't be started here: no room", True)
    await seat.assert_all_is_given_back()


async def test_a_door_that_does_not_open_is_the_hosts_fault() -> None:
    seat = Seat()
    seat.door.say(None)
    assert (await seat.end()).is_hosts
    await seat.assert_all_is_given_back()


async def test_a_program_that_is_asked_to_end_is_not_frozen() -> None:
    """Whatever its door says then: one that stands still would have to be killed."""
    seat = Seat()
    await seat.open()
    seat.program.at_stop = lambda: seat.door.say(Done(1))
    seat.seating.stop()
    await seat.end()
    assert "freeze" not in seat.program.did[seat.program.did.index("stop") :]
    await seat.assert_all_is_given_back()


@pytest.mark.parametrize("ticks", range(8))
async def test_a_program_that_is_asked_to_end_as_its_turn_ends_is_not_frozen(ticks: int) -> None:
    """In whichever turn of the event loop that comes."""
    seat = Seat()
    await seat.open()
    seat.door.say(Wants(1, cpu_us=1_000_000))
    await seat.until("thaw")
    seat.seating.stop()
    for _ in range(ticks):
        await asyncio.sleep(0)
    seat.door.say(Done(1))
    await seat.end()
    assert "freeze" not in seat.program.did[seat.program.did.index("stop") :]
    await seat.assert_all_is_given_back()


async def test_a_program_that_waits_to_be_started_can_be_stopped() -> None:
    """Neither a door nor a program is started without a core."""
    seat = Seat(cores=())
    await asyncio.sleep(0)
    seat.seating.stop()
    ending = await seat.end()
    assert (ending.cause, seat.program.did, seat.door.is_closed) == ("", [], False)
