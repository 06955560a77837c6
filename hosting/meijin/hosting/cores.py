"""Cores: those of this machine that programs think on, one program each."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Iterable


class Cores:
    """A queue for cores: a free one goes to the owner whose programs have the fewest.

    Among owners with equally many they go round, and among an owner's programs whoever comes first
    is the next.

    Args:
        numbers: The cores, as the system numbers them.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._free = deque(numbers)
        self._waiting: dict[str, deque[asyncio.Future[int]]] = {}
        """By owners."""
        self._served: dict[str, int] = {}
        """The turn in which an owner was served last."""
        self._turns = itertools.count(1)
        self._owners: dict[int, str] = {}
        """Of the cores that are taken."""

    async def take(self, owner: str = "") -> int:
        """Wait for a core; it is to be given back."""
        core: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(core)
        self._hand_out()
        try:
            return await core
        except asyncio.CancelledError:
            if not core.cancelled():
                self.give_back(core.result())
            raise  # one that is cancelled is passed over when its turn comes

    def give_back(self, core: int) -> None:
        del self._owners[core]
        self._free.append(core)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free and self._waiting:
            taken = Counter(self._owners.values())
            owner = min(self._waiting, key=lambda each: (taken[each], self._served.get(each, 0)))
            core = self._waiting[owner].popleft()
            if not self._waiting[owner]:
                del self._waiting[owner]
            if not core.cancelled():
                core.set_result(self._free[0])
                self._owners[self._free.popleft()] = owner
                self._served[owner] = next(self._turns)
