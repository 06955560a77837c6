"""What the worker of admissions writes of the programs that it has examined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from meijin.hosting.admission.examination import (
    Admission,
    AdmissionFailedError,
    ProgramExamination,
)
from meijin.hosting.admission.lease import LEASE_TIME
from meijin.hosting.admission.worker import DATABASE_WORDS, Admissions
from meijin.programs.kinds import ProgramKind
from meijin.store.access import versions
from meijin.store.bots import add_bot
from meijin.store.programs import admissions, programs
from meijin.store.programs.programs import NewProgram, ProgramRow
from meijin.store.programs.usage import read_log
from meijin.store.schema import Finding, FindingStatus, ProgramId, ProgramState

if TYPE_CHECKING:
    from meijin.store import Database

NOW = datetime.now(UTC)
FAILED = (Finding("doctor: plays", FindingStatus.FAILED, "it plays on a stone"),)


class Examiner:
    """Finds what it is told to find."""

    def __init__(self, admission: Admission | None) -> None:
        self.admission = admission

    def run(self, program: ProgramRow, told: Callable[[Sequence[Finding]], None]) -> Admission:
        if self.admission is None:
            raise AdmissionFailedError(f"no server for program {program.id}")
        told(self.admission.findings)
        return self.admission


class Overtaken:
    """Has another worker take the program in the middle of its examination."""

    def __init__(self, database: Database, admission: Admission, *, says: bool) -> None:
        self.admission = admission
        self.has_ended = False
        self._database = database
        self._says = says

    def run(self, program: ProgramRow, told: Callable[[Sequence[Finding]], None]) -> Admission:
        late = NOW + timedelta(days=1)
        assert self._database.write(admissions.take_program, late, late + LEASE_TIME, program.id)
        if self._says:
            told(FAILED)
        self.has_ended = True
        return self.admission


def uploaded(database: Database) -> ProgramRow:
    bot_id = database.write(add_bot, "ada", NOW)
    new = NewProgram(
        bot_id=bot_id,
        digest="a" * 64,
        kind=ProgramKind.SCRIPT,
        size=9,
        file_name="bot.py",
        label="",
        uploader="ada",
    )
    row, _ = database.write(programs.add_program, new, NOW)
    return row


def examined(database: Database, admission: Admission | None) -> ProgramRow:
    """A program that was uploaded, and examined with some end."""
    row = uploaded(database)
    worker = Admissions(database, cast("ProgramExamination", Examiner(admission)))
    assert worker.examine(row.id)
    return database.read(programs.get_program, ProgramId(row.id))


def test_a_program_without_a_fault_is_admitted(database: Database) -> None:
    """As the version that it calls itself, with what it has said."""
    row = examined(database, Admission((), {"engine": {}}, ("hello",), "2.0"))
    assert (row.state, row.is_current) == (ProgramState.ADMITTED, True)
    assert database.read(read_log, row.id).text == "hello\n"
    (version,) = database.read(versions.versions_of, row.bot_id, row.digest)
    assert version.label == "2.0"


def test_a_program_with_a_fault_is_refused_for_it(database: Database) -> None:
    row = examined(database, Admission(FAILED, None, ()))
    assert (row.state, row.findings) == (ProgramState.REFUSED, FAILED)
    assert row.reason == "doctor: plays: it plays on a stone"


def test_a_program_of_a_bot_with_too_many_versions_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could never say hello."""
    monkeypatch.setattr(versions, "_nth_newest", lambda *_: NOW)
    row = examined(database, Admission((), {"engine": {}}, ()))
    assert row.state is ProgramState.REFUSED
    assert f"the bot has {versions.MAX_VERSIONS} versions" in row.reason


def test_a_program_that_can_not_be_examined_waits(database: Database) -> None:
    """For a worker that can; it is no fault of the program's."""
    assert examined(database, None).state is ProgramState.CHECKING


def test_a_program_that_another_worker_has_taken_is_given_up(database: Database) -> None:
    """At the next finding, and not at the end of the examination."""
    row = uploaded(database)
    examiner = Overtaken(database, Admission(FAILED, None, ()), says=True)
    assert Admissions(database, cast("ProgramExamination", examiner)).examine(row.id)
    assert not examiner.has_ended
    found = database.read(programs.get_program, row.id)
    assert (found.state, found.attempts, found.findings) == (ProgramState.CHECKING, 2, ())


@pytest.mark.parametrize("hello", [None, {"engine": {}}])
def test_an_end_that_comes_too_late_is_not_heard(
    database: Database, hello: dict[str, Any] | None
) -> None:
    """Nor is what the program has said: the worker that has it tells of that."""
    row = uploaded(database)
    examiner = Overtaken(database, Admission((), hello, ("hello",)), says=False)
    assert Admissions(database, cast("ProgramExamination", examiner)).examine(row.id)
    assert examiner.has_ended
    assert database.read(programs.get_program, row.id).state is ProgramState.CHECKING
    assert not database.read(read_log, row.id).text


def test_an_outage_of_the_database_is_told_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By jobs and sweeps together; what it leaves undone the next sweep does."""
    row = uploaded(database)
    examiner = Examiner(Admission(FAILED, None, ()))
    worker = Admissions(database, cast("ProgramExamination", examiner))

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("UPDATE", {}, Exception("gone"))

    with capture_logs() as logs:
        with monkeypatch.context() as away:
            away.setattr(database, "write", fail)
            worker.take(row.id)
            worker.sweep()
        assert database.read(programs.get_program, row.id).state is ProgramState.UPLOADED
        worker.sweep()
    assert database.read(programs.get_program, row.id).state is ProgramState.REFUSED
    events = [entry["event"] for entry in logs]
    assert [each for each in events if "database" in each] == list(DATABASE_WORDS)
