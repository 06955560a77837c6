"""A seat: a program in its sandbox, with its door, from the start to the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from meijin.hosting.cores import Cores
from meijin.hosting.door.lines import (
    Answered,
    Done,
    Ended,
    Failed,
    Granted,
    Line,
    Listening,
    Opened,
    Plan,
    Started,
    Used,
    Wants,
)
from meijin.hosting.doors import DoorPool, DoorProcess
from meijin.programs.sandbox.running import Cause, End, Launch, Running, Sandbox, Usage

log = logging.getLogger("meijin.host")

NS_PER_US = 1000

LOOK_INTERVAL_S = 0.02
"""Between two looks at the processor time of a program that is charged by it."""

STOP_GRACE = timedelta(seconds=1)
"""For a program to end by itself when it is told to."""

LAST_WORDS_S = 3.0
"""For a door to tell the server that its program has failed."""

NO_FAULTS = frozenset({Cause.ASKED, Cause.LAUNCH})
"""How a program ends that has done nothing for it."""

NOTHING_USED = Usage(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a seat has ended."""

    cause: str
    """Empty where it was asked to."""
    is_hosts: bool
    """The cause is the host's own, and not the program's."""
    usage: Usage
    lines: Sequence[str] = ()


class Seating:
    """One program on this host.

    Args:
        launch: What is to be started, without a core.
        owner: Whose it is, for its share of the cores.
        opened: Told when the server has let the bot in.
    """

    def __init__(
        self,
        launch: Launch,
        plan: Plan,
        *,
        sandbox: Sandbox,
        cores: Cores,
        doors: DoorPool,
        owner: str = "",
        opened: Callable[[], None] = lambda: None,
    ) -> None:
        self._launch = launch
        self._plan = plan
        self._sandbox = sandbox
        self._cores = cores
        self._doors = doors
        self._owner = owner
        self._opened = opened
        self._core: int | None = None
        self._turn: asyncio.Task[None] | None = None
        """Gets it a core, and looks after it while it has one."""
        self._began_ns = 0
        """The processor time that it had used when its turn began."""
        self._running: Running | None = None
        self._door: DoorProcess | None = None
        self._stop = asyncio.Event()

    @property
    def lines(self) -> Sequence[str]:
        """The last of what it has said."""
        return () if self._running is None else self._running.lines

    @property
    def usage(self) -> Usage:
        """What it has used so far."""
        return NOTHING_USED if self._running is None else self._running.usage()

    def stop(self) -> None:
        """Have it end."""
        self._stop.set()

    async def run(self) -> Ending:
        """Play until the program ends, or is told to."""
        try:
            return await self._run()
        finally:
            await self._end_turn()
            self._give_core_back()
            if self._door is not None:
                await self._door.close()

    async def _run(self) -> Ending:
        await self._wait_for_start()
        if self._core is None:
            return Ending("", is_hosts=False, usage=NOTHING_USED)
        self._door = door = await self._doors.take(self._plan)
        lines = door.lines()
        first = await anext(lines, None)
        if not isinstance(first, Listening):
            return Ending("its door does not open", is_hosts=True, usage=NOTHING_USED)
        try:
            running = await self._sandbox.start(replace(self._launch, core=self._core))
        except OSError as error:
            return Ending(f"it can't be started here: {error}", is_hosts=True, usage=NOTHING_USED)
        self._running = running
        door.tell(Started())
        with suppress(OSError):  # the door has ended, of which its lines tell
            running.add_door(door.pid)
        hearing = asyncio.create_task(self._hear(lines))
        ended = asyncio.create_task(running.wait())
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([hearing, ended, stopped], return_when=asyncio.FIRST_COMPLETED)
            failed = hearing.result() if hearing.done() else None
            if ended.done() and failed is None:
                await self._tell_end(ended.result(), hearing)
            hearing.cancel()  # or it has the program stand still, which is asked to end
            end = await running.stop(STOP_GRACE)
            return self._ending(end, failed)
        finally:
            for task in (hearing, ended, stopped):
                task.cancel()
            await asyncio.gather(hearing, ended, stopped, return_exceptions=True)
            await running.stop(timedelta(0))

    async def _wait_for_start(self) -> None:
        """Wait for a core, before anything is counted as the program's time, unless it is stopped."""
        taking = asyncio.create_task(self._cores.take(self._owner))
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([taking, stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            taking.cancel()
            with suppress(asyncio.CancelledError):
                self._core = await taking

    async def _tell_end(self, end: End, hearing: asyncio.Task[Failed | None]) -> None:
        """The program has ended by itself: its door tells the server, and is done then."""
        assert self._door is not None
        self._door.tell(Ended(end.words, end.cause not in NO_FAULTS))
        await asyncio.wait([hearing], timeout=LAST_WORDS_S)

    def _ending(self, end: End, failed: Failed | None) -> Ending:
        assert self._running is not None
        usage, lines = self._running.usage(), list(self._running.lines)
        if failed is not None:
            return Ending(failed.cause, not failed.is_fault, usage, lines)
        cause = "" if end.cause is Cause.ASKED else end.words
        return Ending(cause, end.cause in NO_FAULTS, usage, lines)

    async def _hear(self, lines: AsyncIterator[Line]) -> Failed | None:
        """Do what the door asks for, until it ends; why it says that the program is to end."""
        async for line in lines:
            if isinstance(line, Opened):
                self._opened()
                await self._freeze()
            elif isinstance(line, Wants):
                await self._end_turn()
                self._turn = asyncio.create_task(self._give_core(line))
            elif isinstance(line, Answered):
                await self._take_answer(line.number)
            elif isinstance(line, Done):
                await self._end_turn()
                await self._freeze()
            elif isinstance(line, Failed):
                return line
        return Failed("its door has ended", is_fault=False)

    async def _give_core(self, wants: Wants) -> None:
        """Wait for a core, have the program go on there, and look at what it uses."""
        assert self._running is not None
        assert self._door is not None
        if self._core is None:
            self._core = await self._cores.take(self._owner)
        running = self._running
        running.pin(self._core)
        self._began_ns = running.usage().cpu_ns
        await running.thaw()
        self._door.tell(Granted(wants.number))
        while wants.cpu_us:
            await asyncio.sleep(LOOK_INTERVAL_S)
            if self._used_us() > wants.cpu_us:
                self._door.tell(Used(wants.number, self._used_us(), is_overstepped=True))
                return

    def _used_us(self) -> int:
        assert self._running is not None
        return (self._running.usage().cpu_ns - self._began_ns) // NS_PER_US

    async def _take_answer(self, number: int) -> None:
        assert self._door is not None
        self._door.tell(Used(number, self._used_us()))
        await self._end_turn()
        await self._freeze()

    async def _freeze(self) -> None:
        """Have the program stand still, and others think on its core."""
        if self._running is not None:
            await self._running.freeze()
        self._give_core_back()

    def _give_core_back(self) -> None:
        core, self._core = self._core, None
        if core is not None:
            self._cores.give_back(core)

    async def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.cancel()
            await asyncio.wait([turn])  # else a cancellation of this task would pass for the turn's
            if not turn.cancelled():
                turn.result()
