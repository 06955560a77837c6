"""The watch of admissions, which another process carries out and writes into the store."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.store.programs.admissions import open_admissions
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import OPEN_STATES, BotId, ProgramId, ProgramState

LOOK_INTERVAL = timedelta(seconds=0.5)
"""Between two looks at the store while a program is examined or waits for it."""


@dataclass(frozen=True, slots=True)
class AdmissionStatus:
    """Where the admission of a program stands."""

    program: ProgramRow
    before: int
    """Programs that are examined before it; 0 when it is its turn."""

    @property
    def is_open(self) -> bool:
        return self.program.state in OPEN_STATES


class AdmissionWatch:
    """Looks at the open admissions in one query, whoever follows which of them.

    `listeners` hear of each bot whose programs have changed: by an admission that ended, or by
    what its owner or an operator has done.
    """

    def __init__(self, storage: Storage) -> None:
        self.listeners: list[Callable[[BotId], object]] = []
        self._storage = storage
        self._followed: Counter[ProgramId] = Counter()
        self._found: Mapping[ProgramId, AdmissionStatus] = {}
        self._looked = asyncio.Event()
        self._wake = asyncio.Event()

    def tell(self, bot_id: BotId) -> None:
        """Tell that a bot's programs have changed."""
        self._wake.set()
        for listener in self.listeners:
            listener(bot_id)

    async def run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._look()
            except StoreAwayError:
                await asyncio.sleep(LOOK_INTERVAL.total_seconds())
                continue
            if self._found:
                await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            else:
                await self._wake.wait()

    async def _look(self) -> None:
        found = await self._storage.read(_statuses, list(self._followed))
        ended = [
            before.program.bot_id
            for key, before in self._found.items()
            if before.is_open and not (key in found and found[key].is_open)
        ]
        self._found = found
        self._looked.set()
        self._looked = asyncio.Event()
        for bot_id in ended:
            self.tell(bot_id)

    async def follow(self, program_id: ProgramId) -> AsyncGenerator[AdmissionStatus]:
        """Where an admission stands at once, and whenever that has changed, until it has ended."""
        self._followed[program_id] += 1
        try:
            told = (await self._storage.read(_statuses, [program_id]))[program_id]
            yield told
            while told.is_open:
                self._wake.set()
                await self._looked.wait()
                status = self._found.get(program_id, told)
                if status != told:
                    told = status
                    yield told
        finally:
            self._followed[program_id] -= 1
            if not self._followed[program_id]:
                del self._followed[program_id]


def _statuses(
    connection: Connection, followed: Sequence[ProgramId]
) -> Mapping[ProgramId, AdmissionStatus]:
    """Where the open admissions stand, and those that are followed."""
    rows = open_admissions(connection, followed)
    return {
        row.id: AdmissionStatus(row, place if row.state is ProgramState.UPLOADED else 0)
        for place, row in enumerate(rows)
    }
