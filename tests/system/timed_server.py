"""A server whose event loop's longest turn is known, exactly and as its own stall watch tells it."""

import sys
from collections.abc import Callable

import timed_turns
from tests.system.processes import Processes, Server
from timed_turns import LongestTurn

LONGEST_MS = 20
"""Of the processor time of the loop's thread: the wall clock tells how busy the machine is."""

WATCHED = 0.05
"""Seconds; a bucket of the stall watch's histogram. It may count 10 ms that were before a stall."""

TRIES = 3
"""A processor that others share takes longer for the same work at times, but not each time."""


class TimedServer(Server):
    """A `meijin serve` whose longest turn is measured by the loop's own selector."""

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        file = processes.folder / "longest-turn"
        self._turn = LongestTurn(file)
        self.command = (sys.executable, timed_turns.__file__, str(file), "meijin")
        super().__init__(processes, "--metrics=127.0.0.1:0", *options, **env)

    def assert_no_stall(self, happen: Callable[[], None]) -> None:
        """Fail if the loop works for too long in one turn whenever something happens."""
        found = []
        for _ in range(TRIES):
            stalls = self._stalls()
            self._turn.begin()
            happen()
            turn_ms, stalls = self._turn.ms, self._stalls() - stalls
            if turn_ms <= LONGEST_MS and not stalls:
                return
            found.append(f"{turn_ms:.1f} ms, and {stalls} stalls above {WATCHED:g} s")
        raise AssertionError(f"the loop's longest turns were {'; '.join(found)}")

    def _stalls(self) -> int:
        """The stalls so far in which the loop has worked for long, as its stall watch tells."""
        (family,) = (
            each for each in self.metrics() if each.name == "meijin_event_loop_stalls_seconds"
        )
        counts = {
            float(sample.labels["le"]): int(sample.value)
            for sample in family.samples
            if sample.labels["time"] == "loop" and "le" in sample.labels
        }
        return counts[float("inf")] - counts[WATCHED]
