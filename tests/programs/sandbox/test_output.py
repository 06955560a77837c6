"""What programs write: the last lines are kept, and a flood is noticed."""

import asyncio
import os
from collections.abc import Callable

from meijin.programs.sandbox.output import KEPT_BYTES, Output


class Pipe:
    """An output that a test writes to, with a clock that stands still."""

    def __init__(self, limit: int = 1_000_000) -> None:
        reader, self.writer = os.pipe()
        self.seconds = 0.0
        self.floods = 0
        self.output = Output(reader, limit=limit, on_flood=self._count, now=lambda: self.seconds)

    def _count(self) -> None:
        self.floods += 1

    def close(self) -> None:
        os.close(self.writer)
        self.output.close()

    async def write(self, data: bytes) -> None:
        """Write, and wait until that was read."""
        wanted = self.output.total + len(data)
        os.write(self.writer, data)
        await until(lambda: self.output.total >= wanted)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - the loop reads between
        await asyncio.sleep(0)


async def test_lines_are_kept_without_control_characters() -> None:
    """What a terminal would obey is taken out, and bytes that are no text are shown as such."""
    pipe = Pipe()
    await pipe.write(b"\x1b[2Jone\ntwo\x07\tthree\nf\xffour\n\xe2\x80\xaegnirts")
    assert pipe.output.lines == ["[2Jone", "two\tthree", "f\ufffdour", "gnirts"]
    assert not pipe.output.is_cut
    pipe.close()


async def test_only_the_last_of_it_is_kept() -> None:
    pipe = Pipe()
    for number in range(KEPT_BYTES // 1000 + 5):
        await pipe.write(f"{number:<999}\n".encode())
    assert pipe.output.is_cut
    assert sum(len(line) + 1 for line in pipe.output.lines) <= KEPT_BYTES + 1
    assert pipe.output.lines[-1].strip() == str(number)
    pipe.close()


async def test_flood_is_told_once_and_no_more_is_read() -> None:
    """The pipe is whole until its end: the flood is the only cause of that."""
    pipe = Pipe(limit=1000)
    await pipe.write(b"x" * 1000)
    assert pipe.floods == 0
    await pipe.write(b"x")
    assert pipe.floods == 1
    os.write(pipe.writer, b"x")
    pipe.output.close()
    assert pipe.floods == 1
    pipe.close()


async def test_limit_is_of_a_minute() -> None:
    """Half of it is free again after half a minute."""
    pipe = Pipe(limit=1000)
    await pipe.write(b"x" * 1000)
    pipe.seconds = 30.0
    await pipe.write(b"x" * 500)
    assert pipe.floods == 0
    await pipe.write(b"x")
    assert pipe.floods == 1
    pipe.close()


async def test_close_reads_what_is_there() -> None:
    """Also where the writer lives on."""
    pipe = Pipe()
    os.write(pipe.writer, b"last words\n")
    pipe.output.close()
    assert pipe.output.lines == ["last words"]
    pipe.output.close()
    pipe.close()
