"""The scene: what all parts of a world share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random

from tests.simulation.bot import SimulatedBot
from tests.simulation.disk import Disk
from tests.simulation.loop import NS_PER_SECOND, SimulatedLoop
from tests.simulation.network import Threads
from tests.simulation.oracle.oracle import Oracle
from tests.simulation.server import SimulatedServer

MS = 1_000_000
TRACED = 80
"""Events that are kept, the last this many."""


class Scene:
    """Chance, time, the disk, the bots, the server that is there, and the trace.

    Args:
        grace_ns: How long a bot may be away before it forfeits.
    """

    def __init__(self, seed: int, disk: Disk, *, grace_ns: int) -> None:
        self.rng = Random(seed)
        self.loop = SimulatedLoop(self.rng)  # type: ignore[abstract]  # no files, no sockets
        self.disk = disk
        self.oracle = Oracle(disk, lambda: self.loop.now_ns, grace_ns=grace_ns)
        self.threads = Threads()
        self.server: SimulatedServer | None = None
        """``None`` while it is dead."""
        self.bots: list[SimulatedBot] = []
        self.is_closing = False
        """Everything is played: nothing fails any more."""
        self.digest = 0
        """Of the instants of all events."""
        self._events: deque[tuple[int, tuple[object, ...]]] = deque(maxlen=TRACED)

    def later(self, delay_ns: int, do: Callable[..., None], *args: object) -> None:
        self.loop.call_after_ns(delay_ns, do, *args, context=self.loop.network)

    def long_ns(self) -> int:
        """How long a fault lasts: often next to nothing, sometimes long."""
        return int(self.rng.choice([1, 10, 100, 1000]) * MS * self.rng.uniform(0.5, 4))

    def tournaments(self, state: str) -> list[str]:
        query = "SELECT id FROM tournament WHERE state = ?"
        return [str(number) for (number,) in self.disk.reader.execute(query, (state,))]

    def note(self, *words: object) -> None:
        now_ns = self.loop.now_ns
        self._events.append((now_ns, words))
        self.digest = hash((self.digest, now_ns, len(words)))

    @property
    def trace(self) -> tuple[str, ...]:
        return tuple(_line(*event) for event in self._events)


def _line(now_ns: int, words: tuple[object, ...]) -> str:
    return f"{now_ns / NS_PER_SECOND:.6f} " + " ".join(" ".join(map(str, words)).split())
