"""The admission of programs, as a worker writes it into the store, step by step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from meijin.store.programs import admissions
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import Finding, FindingStatus

LEASE = timedelta(minutes=2)
PASSED = Finding("archive", FindingStatus.PASSED, "1 file")
FAILED = Finding("doctor", FindingStatus.FAILED, "no <hello>", "connect it", ("ImportError: x",))


class Examination:
    """The program that waits longest, taken by a worker.

    Args:
        write: Runs a transaction of the server's database.
    """

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        now = datetime.now(UTC)
        taken = write(admissions.take_program, now, now + LEASE)
        assert isinstance(taken, ProgramRow), "no program waits"
        self.taken = taken

    def find(self, *findings: Finding) -> None:
        lease = datetime.now(UTC) + LEASE
        assert self._write(admissions.set_findings, self.taken, findings, lease)

    def admit(self, *findings: Finding) -> None:
        now = datetime.now(UTC)
        assert self._write(admissions.admit, self.taken, findings, {"botName": "ada"}, now)

    def refuse(self, *findings: Finding, reason: str) -> None:
        assert self._write(admissions.refuse, self.taken, findings, reason, datetime.now(UTC))
