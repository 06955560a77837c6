"""Watches which programs may be called for games, as admissions and owners change them."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

import structlog
from google.protobuf import json_format

from meijin.server.storage import Storage, retry_while_unavailable
from meijin.server.tournaments.seats import HostedProgram, Seats
from meijin.store.programs.players import CallableRow, callable_ids, callable_programs
from meijin.store.schema import BotVersionId, ProgramId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import capabilities_from_proto

log = structlog.get_logger()

INTERVAL = timedelta(seconds=1)
"""Between two looks: admissions are other processes'."""


class ProgramWatch:
    """Has seats know the programs that may be called, and look after those that are seated."""

    def __init__(self, storage: Storage, seats: Seats, *, cpu_quota: timedelta) -> None:
        self._cpu_quota = cpu_quota
        self._storage = storage
        self._seats = seats
        self._known: Mapping[ProgramId, BotVersionId | None] = {}
        self._programs: dict[ProgramId, HostedProgram] = {}
        self.due = asyncio.Event()
        """Set by who has changed programs, so that nobody waits for the next look."""

    async def run(self) -> None:
        """Look for as long as the server runs."""
        while True:
            self.due.clear()
            await retry_while_unavailable(self.look)
            try:
                async with asyncio.timeout(INTERVAL.total_seconds()):
                    await self.due.wait()
            except TimeoutError:
                pass

    async def look(self) -> None:
        """Read what has changed, and stop what is idle or plays no more."""
        known = await self._storage.read(callable_ids, datetime.now(UTC), self._cpu_quota)
        if known != self._known:
            fresh = [key for key, version in known.items() if self._is_new(key, version)]
            rows = await self._storage.read(callable_programs, fresh) if fresh else []
            kept = {key: each for key, each in self._programs.items() if key in known}
            self._programs = kept | dict(_programs(rows))
            self._known = known
            self._seats.set_programs(self._programs.values())
        self._seats.look()

    def _is_new(self, program_id: ProgramId, version_id: BotVersionId | None) -> bool:
        return program_id not in self._known or self._known[program_id] != version_id


def _programs(rows: Iterable[CallableRow]) -> Iterator[tuple[ProgramId, HostedProgram]]:
    """Programs by their ids; one whose hello can't be read is left out."""
    for row in rows:
        try:
            yield row.id, _program(row)
        except (ValueError, json_format.ParseError) as error:
            log.error(
                "what a program said when it was examined can't be read",
                program=row.id,
                error=str(error),
                fix="have it examined again: meijin bot program reinstate",
            )


def _program(row: CallableRow) -> HostedProgram:
    hello = json_format.ParseDict(row.hello or {}, pb.Hello(), ignore_unknown_fields=True)
    return HostedProgram(
        program_id=row.id,
        bot_id=row.bot_id,
        bot=row.bot,
        owner_id=row.owner_id,
        digest=row.digest,
        kind=row.kind,
        size=row.size,
        file_name=row.file_name,
        label=row.label,
        is_hidden=row.is_hidden,
        version_id=row.version_id or BotVersionId(0),
        capabilities=capabilities_from_proto(hello.capabilities).as_hosted(),
    )
