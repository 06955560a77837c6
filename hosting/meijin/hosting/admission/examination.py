"""The steps of an admission: the bytes, what they depend on, the doctor, and two games."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from meijin.hosting.admission.candidate import SandboxCandidate, SandboxLoop
from meijin.local.doctor.check import Check, Status
from meijin.local.doctor.hosted import Hello, examine_hosted
from meijin.local.errors import ArenaError
from meijin.programs.archive import examine_apart
from meijin.programs.depot import Depot
from meijin.programs.errors import ProgramError, ProgramRefusedError
from meijin.programs.kinds import ProgramLimits
from meijin.programs.prepared import Prepared, Wheelhouse, prepare
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import Finding, FindingStatus
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import capabilities_to_proto

_STATUSES = {
    Status.PASS: FindingStatus.PASSED,
    Status.WARN: FindingStatus.WARNED,
    Status.FAIL: FindingStatus.FAILED,
    Status.SKIP: FindingStatus.PASSED,
}

BYTES, DEPENDENCIES, DOCTOR = "bytes", "dependencies", "doctor"


class AdmissionFailedError(Exception):
    """An admission can't be carried out, through no fault of the program's."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What an admission has come to."""

    findings: Sequence[Finding]
    hello: dict[str, Any] | None
    """What the program has said of itself, in the contract's JSON; ``None`` where it is refused."""
    lines: Sequence[str]
    """What it has said on its standard output and error."""
    label: str = ""
    """What it calls its version; may be empty."""

    @property
    def failure(self) -> str:
        """Why the program is refused, in a sentence; empty where it is not."""
        failed = (each for each in self.findings if each.status is FindingStatus.FAILED)
        return next((f"{each.step}: {each.detail}" for each in failed), "")


class ProgramExamination:
    """Examines programs in a sandbox.

    Args:
        core: The one that they think on.
    """

    def __init__(
        self,
        loop: SandboxLoop,
        depot: Depot,
        *,
        wheelhouse: Wheelhouse,
        core: int,
        limits: ProgramLimits,
    ) -> None:
        self._loop = loop
        self._depot = depot
        self._wheelhouse = wheelhouse
        self._core = core
        self._limits = limits

    def run(self, program: ProgramRow, told: Callable[[Sequence[Finding]], None]) -> Admission:
        """Take all steps, up to the first that fails; `told` hears of the findings so far.

        Raises:
            AdmissionFailedError: it can't be examined now.
        """
        findings: list[Finding] = []

        def note(finding: Finding) -> None:
            if findings and findings[-1].status is FindingStatus.RUNNING:
                findings.pop()
            findings.append(finding)
            told(tuple(findings))

        with tempfile.TemporaryDirectory(dir=self._loop.folder, prefix="admission-") as made:
            try:
                prepared = self._prepare(program, Path(made), note)
            except ProgramRefusedError as error:
                where = f" ({error.where})" if error.where else ""
                words, step = f"{error.what}{where}", findings[-1].step
                note(Finding(step, FindingStatus.FAILED, words, error.fix))
                return Admission(findings, None, ())
            except ProgramError as error:
                raise AdmissionFailedError(str(error)) from error
            return self._examine(program, prepared, note, findings)

    def _prepare(
        self, program: ProgramRow, folder: Path, note: Callable[[Finding], None]
    ) -> Prepared:
        note(_running(BYTES))
        path = folder / "program"
        self._depot.copy(program.digest, path)
        contents = examine_apart(path, program.kind, program.file_name)
        size = f"{program.size} bytes, {contents.files} files"
        note(Finding(BYTES, FindingStatus.PASSED, f"{contents.kind.value}, {size}"))
        note(_running(DEPENDENCIES))
        prepared = prepare(path, contents, folder / "tree", wheelhouse=self._wheelhouse)
        needed = ", ".join(contents.requirements) or "none"
        note(Finding(DEPENDENCIES, FindingStatus.PASSED, needed))
        return prepared

    def _examine(
        self,
        program: ProgramRow,
        prepared: Prepared,
        note: Callable[[Finding], None],
        findings: list[Finding],
    ) -> Admission:
        candidate = SandboxCandidate(
            self._loop,
            prepared,
            name=program.bot,
            core=self._core,
            limits=self._limits,
            digest=program.digest,
        )
        note(_running(DOCTOR))
        try:
            report = examine_hosted(
                candidate, name=program.bot, told=lambda check: note(_finding(check))
            )
        except ArenaError as error:
            raise AdmissionFailedError(str(error)) from error
        if not report.has_passed or report.hello is None:
            return Admission(tuple(findings), None, candidate.lines)
        said = report.hello
        return Admission(tuple(findings), _hello(said), candidate.lines, said.label)


def _running(step: str) -> Finding:
    return Finding(step, FindingStatus.RUNNING)


def _finding(check: Check) -> Finding:
    return Finding(
        f"{DOCTOR}: {check.name}", _STATUSES[check.status], check.reason, check.fix, check.evidence
    )


def _hello(said: Hello) -> dict[str, Any]:
    hello = pb.Hello(capabilities=capabilities_to_proto(said.capabilities))
    hello.engine.version = said.label
    hello.engine.configuration.extend(said.configuration)
    return json_format.MessageToDict(hello, preserving_proto_field_name=True)
