"""A program that could not be started: it has ended at once, with the cause."""

from collections.abc import Sequence
from datetime import timedelta

from meijin.programs.sandbox.running import Cause, End, Usage


class NotStarted:
    """Stands for a program that never ran."""

    lines: Sequence[str] = ()
    is_cut = False

    def __init__(self, cause: Cause, words: str) -> None:
        self._end = End(cause, 1, words)

    def usage(self) -> Usage:
        return Usage(0, 0, 0, 0)

    def pin(self, core: int | None) -> None: ...

    def add_door(self, pid: int) -> None: ...

    async def freeze(self) -> None: ...

    async def thaw(self) -> None: ...

    async def wait(self) -> End:
        return self._end

    async def stop(self, grace: timedelta = timedelta(0)) -> End:  # noqa: ARG002 - as of a protocol
        return self._end
