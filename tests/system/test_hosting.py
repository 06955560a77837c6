"""A program handed over by commands to a `meijin serve`, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from tests.processes import Processes, eventually
from tests.system.server import NO_LADDER, Server

from meijin.store import Database
from meijin.store.programs import admissions, usage
from meijin.store.schema import Finding, FindingStatus, ProgramId

PASSED = Finding("archive", FindingStatus.PASSED, "4 files")
FAILED = Finding("doctor", FindingStatus.FAILED, "no hello came", "connect it", ("ImportError",))


@pytest.fixture
def hosting(processes: Processes) -> Server:
    """A server that hosts programs, and whose worker is the test."""
    server = Server(processes, "--hosting", NO_LADDER)
    server.tell("bot", "register", "ada")
    server.tell("bot", "new", "ada", "--dir=ada")
    return server


@contextmanager
def worker(server: Server) -> Iterator[Database]:
    with Database(server.database_url) as database:
        yield database


def end_admission(database: Database, *findings: Finding, reason: str = "") -> None:
    """Take the next program, say what is found, and admit it, or refuse it for a reason."""
    now = datetime.now(UTC)
    taken = database.write(admissions.take_program, now, now + timedelta(minutes=2))
    assert taken is not None
    if reason:
        assert database.write(admissions.refuse, taken, findings, reason, now)
    else:
        assert database.write(admissions.admit, taken, findings, {}, now)


def waits(database: Database) -> bool:
    return bool(database.read(admissions.open_admissions))


def test_an_upload_is_followed_until_it_is_admitted(hosting: Server) -> None:
    """What is found is told; then the bot plays with it, and the same again is there already."""
    upload = hosting.processes.start_command(
        "upload", *hosting.command, "bot", "upload", "ada", "--as=ada", **hosting.env
    )
    with worker(hosting) as database:
        eventually(lambda: waits(database))
        end_admission(database, PASSED)
        upload.wait_for("program 1 is admitted; ada plays with it from its next game on")
    assert "ada.zip: 4 files" in upload.words
    assert "ok    archive                   4 files" in upload.words
    assert upload.wait() == 0
    again = hosting.ask("bot", "upload", "ada", "--as=ada")
    assert (again["program_id"], again["state"], again["current"]) == ("1", "admitted", True)


def test_a_refused_program_is_status_1(hosting: Server) -> None:
    """With its reason; its findings say how to mend it."""
    hosting.tell("bot", "upload", "ada", "--as=ada", "--no-wait")
    with worker(hosting) as database:
        end_admission(database, PASSED, FAILED, reason="the doctor failed: no hello came")
    done = hosting.run("bot", "upload", "ada", "--as=ada")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-4:] == [
        "FAIL  doctor                    no hello came",
        "                                fix: connect it",
        "                                | ImportError",
        "meijin: program 1 is refused: the doctor failed: no hello came",
    ]
    assert "FAIL  doctor                    no hello came" in hosting.tell(
        "bot", "program", "show", "1"
    )


def test_programs_are_managed(hosting: Server) -> None:
    """Listed, rolled back, suspended, reinstated and retired."""
    with worker(hosting) as database:
        for version in ("one", "two"):
            (hosting.folder / "ada" / "version.txt").write_text(version)
            hosting.tell("bot", "upload", "ada", "--as=ada", f"--label={version}", "--no-wait")
            end_admission(database)
        first = database.read(admissions.open_admissions, [ProgramId(1)])[0]
        database.write(usage.append_log, first.id, ["hello", "world"])
    told = hosting.tell("bot", "program", "list", "ada").splitlines()
    assert [line.split()[:3] for line in told[2:4]] == [["2", "ada", "two"], ["1", "ada", "one"]]
    assert told[4].startswith("2 of 20 programs, ")
    assert ("playing" in told[2], "playing" in told[3]) == (True, False)
    assert "ada plays with program 1" in hosting.tell("bot", "program", "rollback", "1")
    assert hosting.tell("bot", "program", "log", "1").splitlines() == ["hello", "world"]
    suspend = ("bot", "program", "suspend", "1", "--reason=it mines")
    assert "program 1 is suspended" in hosting.tell(*suspend)
    shown = hosting.ask("bot", "program", "show", "1")["program"]
    assert (shown["state"], shown["reason"]) == ("suspended", "it mines")
    assert "program 1 is admitted" in hosting.tell("bot", "program", "reinstate", "1")
    examined = hosting.tell("bot", "program", "reinstate", "2", "--examine")
    assert "program 2 is uploaded" in examined
    assert "program 1 is retired" in hosting.tell("bot", "program", "retire", "1")
    listed = hosting.ask("bot", "program", "list", "--state=retired")["programs"]
    assert [each["program_id"] for each in listed] == ["1"]
    why = hosting.refusal("bot", "program", "rollback", "1")
    assert why == "program 1 is retired; a bot plays with an admitted one alone"


def test_a_server_without_hosting_says_so(server: Server) -> None:
    server.tell("bot", "new", "ada", "--dir=ada")
    server.tell("bot", "register", "ada")
    why = server.refusal("bot", "upload", "ada", "--as=ada")
    assert why.startswith("this server hosts no programs; its operator may set MEIJIN_HOSTING=true")


def test_programs_need_a_place(processes: Processes) -> None:
    """A server that has none for them does not start, and says so in a line."""
    serve = ("serve", "--hosting", "--listen=127.0.0.1:0", NO_LADDER)
    why = processes.refusal(*serve, "--programs=ftp://here")
    assert why == '"ftp://here" is no place for programs; name a folder or s3://BUCKET'


def test_a_bot_is_registered_by_its_first_upload(hosting: Server) -> None:
    """Nobody needs a token of it: it does not connect."""
    done = hosting.run("bot", "upload", "ada", "--as=zoe", "--no-wait")
    assert done.returncode == 0, done.stderr
    assert "registered zoe" in done.stderr
    assert hosting.ask("bot", "program", "list")["programs"][0]["bot"] == "zoe"
