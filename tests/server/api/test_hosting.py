"""Programs uploaded to a server, whole and in pieces, and followed."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from structlog.testing import capture_logs
from tests.peer import WAIT_TIMEOUT, CallEnding, bearer, ending_of_call

from meijin.server.api.services import hosting
from meijin.store.programs import admissions, usage
from meijin.store.schema import Finding, FindingStatus, ProgramId, ProgramUsage
from meijin.v1 import hosting_service_pb2 as pb
from meijin.v1.class_service_pb2 import Student
from meijin.v1.hosting_service_pb2_grpc import HostingServiceStub
from meijin.wire.contract import MAX_CHUNK_BYTES

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

pytestmark = pytest.mark.settings(registration="closed", hosting=True)
Code = grpc.StatusCode
SOURCE = b"print('hello')\n" * 20_000
DIGEST = hashlib.sha256(SOURCE).hexdigest()
GET, LIST = "HostingService/GetProgram", "HostingService/ListPrograms"
UPDATE, LOG = "HostingService/UpdateProgram", "HostingService/ReadProgramLog"
WATCH = "HostingService/WatchAdmission"
LEASE = timedelta(minutes=2)


class Upload:
    """One call of UploadProgram, which sends and reads what its script says."""

    def __init__(self, server: ServerInTest, token: str) -> None:
        self.call: Any = HostingServiceStub(server.calls).UploadProgram(metadata=bearer(token))

    async def header(self, source: bytes = SOURCE, **changes: Any) -> pb.UploadProgramResponse:
        """Say what comes; return the answer, which says how much of it is there."""
        said = {
            "digest": hashlib.sha256(source).hexdigest(),
            "size": len(source),
            "file_name": "bot.py",
            **changes,
        }
        await self.call.write(pb.UploadProgramRequest(header=pb.ProgramHeader(**said)))
        return await self.read()

    async def chunks(self, source: bytes) -> None:
        for first in range(0, len(source), MAX_CHUNK_BYTES):
            chunk = source[first : first + MAX_CHUNK_BYTES]
            await self.call.write(pb.UploadProgramRequest(chunk=chunk))

    async def read(self) -> pb.UploadProgramResponse:
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            response = await self.call.read()
        assert isinstance(response, pb.UploadProgramResponse), "the call has ended"
        return response

    async def last(self) -> pb.UploadProgramResponse:
        while not (response := await self.read()).HasField("program"):
            pass
        return response

    async def ending(self) -> CallEnding:
        """How the call ends, whatever is told before."""
        return await ending_of_call(self.call)


async def upload(
    server: ServerInTest, token: str, source: bytes = SOURCE, **header: Any
) -> pb.UploadProgramResponse:
    call = Upload(server, token)
    answer = await call.header(source, **header)
    if answer.HasField("program"):
        return answer
    await call.chunks(source[answer.received :])
    return await call.last()


async def refused(
    server: ServerInTest, token: str, source: bytes = SOURCE, **header: Any
) -> CallEnding:
    """How an upload ends that is refused by its header."""
    call = Upload(server, token)
    with pytest.raises(grpc.aio.AioRpcError):
        await call.header(source, **header)
    return await call.ending()


def files(server: ServerInTest) -> Sequence[Path]:
    """The files of the depot, of uploads that are under way too."""
    return sorted(each for each in Path(server.settings.depot).rglob("*") if each.is_file())


def holds(server: ServerInTest, size: int) -> bool:
    """Whether the depot has so many bytes."""
    return sum(each.stat().st_size for each in files(server)) == size


@pytest.fixture
async def ada(server: ServerInTest) -> str:
    """The token of a bot."""
    return await server.register("ada")


async def test_an_upload_waits_to_be_examined(server: ServerInTest, ada: str) -> None:
    """Its bytes are there, and what kind it is was found out."""
    made = await upload(server, ada, label=" 1.0 ", bot="ada")
    program = made.program
    assert (made.received, made.already_there) == (len(SOURCE), False)
    assert (program.bot, program.digest, program.size) == ("ada", DIGEST, len(SOURCE))
    assert (program.kind, program.state) == (pb.PROGRAM_KIND_SCRIPT, pb.PROGRAM_STATE_UPLOADED)
    assert (program.label, program.file_name, program.uploader) == ("1.0", "bot.py", "bot ada")
    assert (await server.ask(GET, ada, program_id=program.program_id)).program == program
    depot_of_server = server.parts.depot
    assert depot_of_server is not None
    assert b"".join(depot_of_server.read(DIGEST)) == SOURCE
    assert ("bot ada", "upload", f"program {program.program_id}") in await server.acts()


async def test_a_cut_upload_goes_on_where_it_was(server: ServerInTest, ada: str) -> None:
    """At any byte, and whoever of the bot's people sends the rest."""
    cuts = (1, MAX_CHUNK_BYTES, len(SOURCE) - 1)
    for before, cut in zip((0, *cuts), cuts, strict=False):
        call = Upload(server, ada)
        assert (await call.header()).received == before
        await call.chunks(SOURCE[before:cut])
        await server.until(partial(holds, server, cut))
        call.call.cancel()
        await server.until(lambda: not server.tasks("UploadProgram"))
    last = Upload(server, server.operator_token)
    assert (await last.header(bot="ada")).received == cuts[-1]
    await last.chunks(SOURCE[cuts[-1] :])
    assert (await last.last()).program.digest == DIGEST
    assert [each.name for each in files(server)] == [DIGEST]


async def test_an_upload_from_within_the_process(server: ServerInTest, ada: str) -> None:
    """The pages send it so: they write requests, and read what is answered."""
    channel = server.app.local_calls.channel("192.0.2.1", ada)
    call: Any = HostingServiceStub(channel).UploadProgram()
    header = pb.ProgramHeader(digest=DIGEST, size=len(SOURCE), file_name="bot.py")
    await call.write(pb.UploadProgramRequest(header=header))
    assert (await call.read()).received == 0
    for first in range(0, len(SOURCE), MAX_CHUNK_BYTES):
        chunk = SOURCE[first : first + MAX_CHUNK_BYTES]
        await call.write(pb.UploadProgramRequest(chunk=chunk))
    assert (await call.read()).program.digest == DIGEST
    assert await call.read() is grpc.aio.EOF


async def test_an_upload_that_ends_early_is_told(server: ServerInTest, ada: str) -> None:
    call = Upload(server, ada)
    await call.header()
    await call.chunks(SOURCE[:10])
    await call.call.done_writing()
    ending = await call.ending()
    assert ending.code is Code.INVALID_ARGUMENT
    assert f"after 10 of {len(SOURCE)} bytes" in ending.details


async def test_the_same_program_is_kept_once(server: ServerInTest, ada: str) -> None:
    """The second time nothing has to be sent; another bot has a program of its own."""
    first = (await upload(server, ada)).program
    call = Upload(server, ada)
    again = await call.header(file_name="other.py")
    assert (again.program, again.already_there) == (first, True)
    other = await upload(server, await server.register("grace"))
    assert (other.already_there, other.program.bot) == (False, "grace")
    assert len(files(server)) == 1


async def test_lost_bytes_are_handed_over_again(server: ServerInTest, ada: str) -> None:
    """The program is the one that it was."""
    first = (await upload(server, ada)).program
    files(server)[0].unlink()
    again = await upload(server, ada)
    assert (again.program, again.already_there) == (first, True)
    assert holds(server, len(SOURCE))


async def test_wrong_bytes_are_not_kept(server: ServerInTest, ada: str) -> None:
    """Neither those of another digest nor more than were announced."""
    call = Upload(server, ada)
    await call.header(digest="0" * 64)
    await call.chunks(SOURCE)
    ending = await call.ending()
    assert (ending.code, "digest" in ending.details) == (Code.INVALID_ARGUMENT, True)
    assert files(server) == []
    call = Upload(server, ada)
    await call.header(size=10)
    await call.chunks(SOURCE[:11])
    ending = await call.ending()
    assert (ending.code, "announced" in ending.details) == (Code.INVALID_ARGUMENT, True)
    assert files(server) == []
    assert (await server.ask(LIST)).programs == []


async def test_bytes_of_no_known_kind_are_not_kept(server: ServerInTest, ada: str) -> None:
    """Unless it is said what they are."""
    call = Upload(server, ada)
    await call.header(file_name="bot.rb")
    await call.chunks(SOURCE)
    ending = await call.ending()
    assert ending.code is Code.INVALID_ARGUMENT
    assert ending.details.startswith("kind: ")
    assert "bot.rb" in ending.details
    assert files(server) == []
    made = await upload(server, ada, file_name="bot.rb", kind=pb.PROGRAM_KIND_SCRIPT)
    assert made.program.kind == pb.PROGRAM_KIND_SCRIPT


async def test_a_failed_upload_leaves_the_program_of_another(
    server: ServerInTest, ada: str
) -> None:
    """Which has the same bytes."""
    await upload(server, ada)
    call = Upload(server, await server.register("grace"))
    await call.header(file_name="bot.rb")
    await call.chunks(SOURCE)
    assert (await call.ending()).code is Code.INVALID_ARGUMENT
    assert [each.name for each in files(server)] == [DIGEST]


IMPOSSIBLE_HEADERS: Sequence[tuple[dict[str, Any], str]] = (
    ({"digest": "ABC"}, "digest: it must be SHA-256"),
    ({"size": 0}, "size: 0 bytes"),
    ({"size": 2**40}, "a program has 1 to 10485760 on this server"),
    ({"file_name": "../bot.py"}, "file_name: "),
    ({"file_name": ""}, "file_name: "),
    ({"file_name": "bot\n.py"}, "file_name: "),
    ({"label": "x" * 41}, "label: it is longer than 40 characters"),
    ({"kind": 99}, "kind: "),
)


async def test_a_header_that_can_not_be(server: ServerInTest, ada: str) -> None:
    """It is refused before a byte is sent."""
    for header, words in IMPOSSIBLE_HEADERS:
        ending = await refused(server, ada, **header)
        assert ending.code is Code.INVALID_ARGUMENT, header
        assert words in ending.details


async def test_messages_have_an_order(server: ServerInTest, ada: str) -> None:
    """A header is the first and the only one."""
    header = pb.ProgramHeader(digest=DIGEST, size=len(SOURCE), file_name="bot.py")
    for messages, words in (
        ([{"chunk": b"x"}], "the first message must be a header"),
        ([{"header": header}, {"header": header}], "only chunks are expected"),
    ):
        call = Upload(server, ada)
        for message in messages:
            await call.call.write(pb.UploadProgramRequest(**message))
        ending = await call.ending()
        assert (ending.code, words in ending.details) == (Code.FAILED_PRECONDITION, True)


async def test_chunks_have_a_size(server: ServerInTest, ada: str) -> None:
    """Neither too large nor so small that each of them is work for nothing."""
    call = Upload(server, ada)
    await call.header()
    await call.call.write(pb.UploadProgramRequest(chunk=bytes(MAX_CHUNK_BYTES + 1)))
    ending = await call.ending()
    assert ending.code in {Code.INVALID_ARGUMENT, Code.RESOURCE_EXHAUSTED}
    call = Upload(server, ada)
    await call.header()
    for each in SOURCE[: hosting.SMALL_CHUNKS + len(SOURCE) // hosting.SMALL_CHUNK_BYTES]:
        await call.call.write(pb.UploadProgramRequest(chunk=bytes([each])))
    ending = await call.ending()
    assert (ending.code, "too many small ones" in ending.details) == (Code.INVALID_ARGUMENT, True)


async def test_an_upload_that_stalls_is_ended(
    server: ServerInTest, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has come is kept."""
    call = Upload(server, ada)
    await call.header()
    monkeypatch.setattr(hosting, "STALL_LIMIT", timedelta(milliseconds=1))
    await call.chunks(SOURCE[:10])
    ending = await call.ending()
    assert (ending.code, ending.reason) == (Code.DEADLINE_EXCEEDED, "STALLED")
    monkeypatch.undo()
    assert (await Upload(server, ada).header()).received == 10


async def test_a_bot_has_one_upload_at_a_time(server: ServerInTest, ada: str) -> None:
    """Of the same program or another; who comes back later may go on."""
    await Upload(server, ada).header()
    for source in (SOURCE, b"another"):
        ending = await refused(server, ada, source)
        assert (ending.code, ending.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
        assert "come back in 5 s" in ending.details


async def test_a_full_disk_is_the_operators(
    server: ServerInTest, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who hears of it in the log; the uploader may come back."""
    call = Upload(server, ada)
    await call.header()

    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", write)
    with capture_logs() as logs:
        await call.chunks(SOURCE[:10])
        ending = await call.ending()
    assert (ending.code, ending.reason) == (Code.RESOURCE_EXHAUSTED, "NO_ROOM")
    assert [entry["fix"] for entry in logs if entry["event"] == "no room for programs"]


async def test_an_upload_ends_with_its_token(server: ServerInTest, ada: str) -> None:
    """What a revoked token has begun goes no further."""
    call = Upload(server, ada)
    await call.header()
    await server.ask("TokenService/RevokeToken", token_id="2")
    assert (await call.ending()).code is Code.UNAUTHENTICATED


@pytest.mark.settings(registration="closed")
async def test_a_server_may_host_nothing(server: ServerInTest, ada: str) -> None:
    """Every method says so, and what its operator may do."""
    endings = [await server.refusal(each, ada, program_id="1") for each in (GET, UPDATE, LOG)]
    endings += [await server.refusal(LIST, ada), await refused(server, ada)]
    for ending in endings:
        assert (ending.code, ending.reason) == (Code.FAILED_PRECONDITION, "HOSTING_OFF")
        assert "MEIJIN_HOSTING=true" in ending.details
    assert files(server) == []


# -- who may -------------------------------------------------------------------------


async def test_programs_are_seen_by_those_whose_they_are(server: ServerInTest, ada: str) -> None:
    """By the bot itself, its owner and operators; to others there is none, in the same words."""
    eve, bob = await server.token("owner", "eve"), await server.token("owner", "bob")
    hers = await server.register("hers", owner="eve")
    key = (await upload(server, eve, bot="hers")).program.program_id
    for token in (eve, hers, server.operator_token):
        assert (await server.ask(GET, token, program_id=key)).program.bot == "hers"
        assert [each.bot for each in (await server.ask(LIST, token)).programs] == ["hers"]
    for token in (bob, ada):
        assert (await server.ask(LIST, token)).programs == []
        for method, more in ((GET, {}), (LOG, {}), (UPDATE, {"current": True})):
            end, unknown = [
                await server.refusal(method, token, program_id=each, **more)
                for each in (key, "777")
            ]
            assert (end.code, unknown.code) == (Code.NOT_FOUND, Code.NOT_FOUND)
            assert end.details.replace(key, "777", 1) == unknown.details
        assert (await refused(server, token, bot="hers")).code is Code.NOT_FOUND
        assert (await server.refusal(LIST, token, bot="hers")).code is Code.NOT_FOUND


async def test_an_uploader_names_the_bot(server: ServerInTest) -> None:
    """Unless its token is the bot's."""
    ending = await refused(server, server.operator_token)
    assert (ending.code, ending.details) == (
        Code.INVALID_ARGUMENT,
        "bot: say which one the program is for",
    )


async def test_a_bot_that_may_not_play_uploads_nothing(server: ServerInTest, ada: str) -> None:
    """Disabled, or banned."""
    for state in ("BOT_STATE_DISABLED", "BOT_STATE_BANNED"):
        await server.ask("BotService/UpdateBot", name="ada", state=state, reason="it floods")
        ending = await refused(server, ada)
        assert ending.code is Code.PERMISSION_DENIED
        assert ending.details.endswith("it floods")


@pytest.mark.settings(registration="closed", hosting=True, owner_programs=2, owner_program_bytes=25)
async def test_an_owner_has_quotas(server: ServerInTest) -> None:
    """Over all of its bots; what is retired counts no more."""
    eve = await server.token("owner", "eve")
    for name in ("one", "two"):
        await server.register(name, owner="eve")
    first = (await upload(server, eve, b"x" * 20, bot="one")).program
    ending = await refused(server, eve, b"y" * 6, bot="two")
    assert (ending.code, ending.reason) == (Code.RESOURCE_EXHAUSTED, "QUOTA")
    assert "take 26 of 25 bytes" in ending.details
    await upload(server, eve, b"y" * 5, bot="two")
    ending = await refused(server, eve, b"z", bot="two")
    assert "there are 2 programs of 2" in ending.details
    retired = {"program_id": first.program_id, "state": pb.PROGRAM_STATE_RETIRED}
    await server.ask(UPDATE, eve, **retired)
    await upload(server, eve, b"z", bot="two")


@pytest.mark.settings(registration="closed", hosting=True, owner_programs=2, owner_program_cpu=60)
async def test_what_is_taken_of_a_quota_is_told(server: ServerInTest) -> None:
    """An owner's of all of its bots, and an operator is told of the owner of a bot that it names."""
    eve = await server.token("owner", "eve")
    for name in ("one", "two"):
        await server.register(name, owner="eve")
        await upload(server, eve, b"x" * 20, bot=name)
    now, used = datetime.now(UTC), ProgramUsage(cpu_ms=1500)
    server.database.write(usage.add_usage, ProgramId(1), used, now)
    quota = pb.ProgramQuota(programs=2, most_programs=2, bytes=40, most_bytes=100 * 1024 * 1024)
    quota.cpu.FromMilliseconds(1500)
    quota.most_cpu.FromSeconds(60)
    listed = await server.ask("HostingService/ListPrograms", eve)
    assert (listed.quota, listed.max_program_bytes) == (quota, 10 * 1024 * 1024)
    assert (await server.ask("HostingService/ListPrograms", bot="two")).quota == quota
    assert not (await server.ask("HostingService/ListPrograms")).HasField("quota")
    await server.ask("OwnerService/UpdateOwner", name="eve", program_quota=5, program_cpu_quota=7)
    quota.most_programs = 5
    quota.most_cpu.FromSeconds(7)
    assert (await server.ask("HostingService/ListPrograms", eve)).quota == quota


async def test_a_program_after_the_deadline_is_late(server: ServerInTest) -> None:
    """It is refused, and the attempt counted; what was there before stays."""
    await server.ask("ClassService/CreateClass", name="CS101")
    student = {"handle": "ada", "display_name": "Ada"}
    token = (await server.ask("ClassService/UpdateClass", name="CS101", student=student)).token
    made = await upload(server, token)
    await admit(server)
    await server.ask("ClassService/UpdateClass", name="CS101", deadline_now=True)
    ending = await refused(server, token, b"late")
    assert (ending.code, ending.reason) == (Code.PERMISSION_DENIED, "DEADLINE_PASSED")
    assert '"ada" is late: the deadline of CS101 was' in ending.details
    found = await server.ask("ClassService/GetClass", name="CS101")
    assert found.students[0].late_attempts == 1
    key = made.program.program_id
    ending = await server.refusal(UPDATE, token, program_id=key, current=True)
    assert ending.reason == "DEADLINE_PASSED"
    assert (await upload(server, token)).already_there


CREATE_CLASS, CHANGE_CLASS = "ClassService/CreateClass", "ClassService/UpdateClass"


async def student_of(server: ServerInTest) -> str:
    """The token of Ada's bot, in a class of bots that the arena runs."""
    await server.ask(CREATE_CLASS, name="CS101", hosted=True)
    student = {"handle": "ada", "display_name": "Ada"}
    return str((await server.ask(CHANGE_CLASS, name="CS101", student=student)).token)


async def counted(server: ServerInTest) -> Student:
    """Ada with the version that counts."""
    (student,) = (await server.ask("ClassService/GetClass", name="CS101")).students
    assert isinstance(student, Student)
    return student


async def test_a_program_counts_that_is_admitted_after_the_deadline(server: ServerInTest) -> None:
    """It was uploaded before: it is handed in as of then, by the label that it was given."""
    token = await student_of(server)
    made = await upload(server, token, label="2.0")
    await server.ask(CHANGE_CLASS, name="CS101", deadline_now=True)
    student = await counted(server)
    assert (student.version_id, student.program_state) == ("", pb.PROGRAM_STATE_UPLOADED)
    await admit(server)
    student = await counted(server)
    assert (student.program_id, student.program_state) == (
        made.program.program_id,
        pb.PROGRAM_STATE_ADMITTED,
    )
    assert (student.version, student.submit_time) == ("2.0", made.program.create_time)
    assert student.HasField("doctor_time")


async def test_the_program_that_its_bot_plays_with_counts(server: ServerInTest) -> None:
    """The newest that is admitted, or the one that its owner went back to in time."""
    token = await student_of(server)
    first = (await upload(server, token, label="1")).program
    await admit(server)
    await upload(server, token, b"print()", label="2")
    await admit(server)
    assert (await counted(server)).version == "2"
    await server.ask(UPDATE, token, program_id=first.program_id, current=True)
    assert (await counted(server)).version == "1"


async def test_the_program_that_counts_is_not_retired(server: ServerInTest) -> None:
    """By its owner, once the deadline is over; an operator may, and one in use by nobody goes."""
    token = await student_of(server)
    old = (await upload(server, token, b"print()")).program
    await admit(server)
    program = (await upload(server, token)).program
    await admit(server)
    await server.ask(CHANGE_CLASS, name="CS101", deadline_now=True)
    retired = {"program_id": program.program_id, "state": pb.PROGRAM_STATE_RETIRED}
    assert (await server.refusal(UPDATE, token, **retired)).reason == "DEADLINE_PASSED"
    await server.ask(UPDATE, token, **(retired | {"program_id": old.program_id}))
    await server.ask(UPDATE, **retired)


async def test_a_hosted_class_lets_in_no_bot_that_connects(server: ServerInTest) -> None:
    """Its owner reads what to do instead."""
    token = await student_of(server)
    peer = await server.peer(token)
    await peer.hello()
    end = await peer.closed()
    assert end.reason == "NOT_ALLOWED"
    assert "the arena runs the bots of CS101" in end.details
    assert "meijin bot upload FILE --as ada" in end.details


# -- states --------------------------------------------------------------------------


async def admit(server: ServerInTest) -> str:
    """Have a worker admit the program that waits longest; return its id."""

    def work(connection: Any) -> str:
        now = datetime.now(UTC)
        taken = admissions.take_program(connection, now, now + LEASE)
        assert taken is not None
        assert admissions.admit(connection, taken, (), {"botName": "ada"}, now)
        return str(taken.id)

    return await server.parts.storage.write(work)


async def test_a_bot_is_rolled_back(server: ServerInTest, ada: str) -> None:
    """To a program that was admitted; the listeners hear of it."""
    for source in (b"one", b"two", b"three"):
        await upload(server, ada, source)
    first, second = await admit(server), await admit(server)
    told: list[object] = []
    server.parts.admissions.listeners.append(told.append)
    rolled = (await server.ask(UPDATE, ada, program_id=first, current=True)).program
    assert rolled.current
    assert told == [1]
    listed = (await server.ask(LIST, ada, bot="ada")).programs
    assert [each.current for each in listed] == [False, False, True]
    ending = await server.refusal(UPDATE, ada, program_id="3", current=True)
    assert (ending.code, "is uploaded" in ending.details) == (Code.FAILED_PRECONDITION, True)
    acts = await server.acts()
    assert ("bot ada", "play with", f"program {first}") in acts
    assert not any("play with" in act and f"program {second}" in act for act in acts)


async def test_operators_suspend_and_admit_again(server: ServerInTest, ada: str) -> None:
    """With a reason, which the owner reads; nobody else may."""
    await upload(server, ada)
    key = await admit(server)
    suspended = {"program_id": key, "state": "PROGRAM_STATE_SUSPENDED", "reason": "it mines"}
    assert (await server.refusal(UPDATE, ada, **suspended)).code is Code.PERMISSION_DENIED
    program = (await server.ask(UPDATE, **suspended)).program
    assert (program.state, program.reason) == (pb.PROGRAM_STATE_SUSPENDED, "it mines")
    assert (await server.ask(GET, ada, program_id=key)).program == program
    program = (await server.ask(UPDATE, program_id=key, state="PROGRAM_STATE_ADMITTED")).program
    assert (program.state, program.reason) == (pb.PROGRAM_STATE_ADMITTED, "")
    actions = [action for _, action, _ in await server.acts(key)]
    assert actions == ["upload", "suspend", "admit again"]


async def test_a_retired_program_is_the_bots_no_more(server: ServerInTest, ada: str) -> None:
    await upload(server, ada)
    key = await admit(server)
    retired = {"program_id": key, "state": "PROGRAM_STATE_RETIRED"}
    program = (await server.ask(UPDATE, ada, **retired)).program
    assert (program.state, program.current) == (pb.PROGRAM_STATE_RETIRED, False)
    ending = await server.refusal(UPDATE, ada, **retired)
    assert (ending.code, "is retired, and can't be" in ending.details) == (
        Code.FAILED_PRECONDITION,
        True,
    )


IMPOSSIBLE_UPDATES: Sequence[tuple[dict[str, Any], str]] = (
    ({}, "say what of the program"),
    ({"state": "PROGRAM_STATE_CHECKING"}, "admissions alone"),
    ({"state": "PROGRAM_STATE_SUSPENDED"}, "reason: "),
    ({"state": "PROGRAM_STATE_RETIRED", "current": True}, "current: "),
    ({"state": "PROGRAM_STATE_SUSPENDED", "reason": "x" * 201}, "longer than 200"),
)


async def test_an_update_that_can_not_be(server: ServerInTest, ada: str) -> None:
    """It is refused whatever the program's state is."""
    await upload(server, ada)
    for change, words in IMPOSSIBLE_UPDATES:
        ending = await server.refusal(UPDATE, server.operator_token, program_id="1", **change)
        assert (ending.code, words in ending.details) == (Code.INVALID_ARGUMENT, True)


async def test_an_update_is_all_or_nothing(server: ServerInTest, ada: str) -> None:
    """What was never admitted is not admitted again, and the bot's program stays."""
    await upload(server, ada)
    suspended = {"program_id": "1", "state": "PROGRAM_STATE_SUSPENDED", "reason": "spam"}
    await server.ask(UPDATE, **suspended)
    change = {"program_id": "1", "state": "PROGRAM_STATE_ADMITTED", "current": True}
    ending = await server.refusal(UPDATE, server.operator_token, **change)
    assert (ending.code, "never admitted" in ending.details) == (Code.FAILED_PRECONDITION, True)
    again = {"program_id": "1", "state": "PROGRAM_STATE_UPLOADED"}
    assert (await server.ask(UPDATE, **again)).program.state == pb.PROGRAM_STATE_UPLOADED


# -- admissions ----------------------------------------------------------------------


async def test_an_admission_is_followed(server: ServerInTest, ada: str) -> None:
    """From its place in the queue over its findings to its end, which ends the stream."""
    await upload(server, ada, b"before")
    await upload(server, ada)
    facts = server.facts(WATCH, program_id="2")
    first = await anext(facts)
    assert (first.program.state, first.before) == (pb.PROGRAM_STATE_UPLOADED, 1)
    await admit(server)
    assert (await anext(facts)).before == 0
    write, now = server.parts.storage.write, datetime.now(UTC)
    taken = await write(admissions.take_program, now, now + LEASE)
    assert taken is not None
    assert (await anext(facts)).program.state == pb.PROGRAM_STATE_CHECKING
    found = (Finding("archive", FindingStatus.FAILED, "a link", "leave it out", ("bot.py",)),)
    await write(admissions.set_findings, taken, found, now + LEASE)
    (finding,) = (await anext(facts)).program.findings
    assert finding == pb.Finding(
        step="archive",
        status=pb.FINDING_STATUS_FAILED,
        detail="a link",
        fix="leave it out",
        evidence=["bot.py"],
    )
    await write(admissions.refuse, taken, found, "a link in the archive", now)
    (last,) = [fact async for fact in facts]
    assert (last.program.state, last.program.reason) == (
        pb.PROGRAM_STATE_REFUSED,
        "a link in the archive",
    )


async def test_an_admission_that_has_ended_is_told_once(server: ServerInTest, ada: str) -> None:
    await upload(server, ada)
    key = await admit(server)
    told = [fact.program.state async for fact in server.facts(WATCH, program_id=key)]
    assert told == [pb.PROGRAM_STATE_ADMITTED]


async def test_who_follows_no_more_is_forgotten(server: ServerInTest, ada: str) -> None:
    """Nothing is looked at for watchers that have left."""
    await upload(server, ada)
    watches = [server.watch(WATCH, program_id="1") for _ in range(2)]
    for each in watches:
        await each.read()
    followed = server.parts.admissions._followed
    assert list(followed.values()) == [2]
    for each in watches:
        each.cancel()
    await server.until(lambda: not followed)


async def test_listeners_hear_of_admissions_that_nobody_follows(
    server: ServerInTest, ada: str
) -> None:
    """They have ended in another process."""
    told: list[object] = []
    server.parts.admissions.listeners.append(told.append)
    await upload(server, ada)
    assert told == [1]
    await server.until(lambda: server.parts.admissions._found)
    await admit(server)
    await server.until(lambda: told == [1, 1])


async def test_the_worker_is_told_of_programs(server: ServerInTest, ada: str) -> None:
    """After they are stored; once more where one is to be examined anew."""
    sent: list[object] = []
    server.parts.examinations.send = sent.append  # type: ignore[method-assign,assignment]
    await upload(server, ada)
    await upload(server, ada)
    assert sent == [1]
    key = await admit(server)
    await server.ask(UPDATE, program_id=key, state="PROGRAM_STATE_UPLOADED")
    assert sent == [1, 1]


async def test_a_log_is_read(server: ServerInTest, ada: str) -> None:
    """In lines, by those whose program it is."""
    from meijin.store.programs.usage import append_log
    from meijin.store.schema import ProgramId

    await upload(server, ada)
    found = await server.ask(LOG, ada, program_id="1")
    assert (found.lines, found.cut) == ([], False)
    await server.parts.storage.write(append_log, ProgramId(1), ["one", "", "two"])
    assert (await server.ask(LOG, ada, program_id="1")).lines == ["one", "", "two"]


async def test_a_list_is_without_findings(server: ServerInTest, ada: str) -> None:
    """And newest first, in pages, of one state where it is asked for."""
    for source in (b"one", b"two", b"three"):
        await upload(server, ada, source)
    await admit(server)
    page = await server.ask(LIST, ada, page_size=2)
    assert [each.program_id for each in page.programs] == ["3", "2"]
    page = await server.ask(LIST, ada, page_size=2, page_token=page.next_page_token)
    assert [each.program_id for each in page.programs] == ["1"]
    found = await server.ask(LIST, ada, state="PROGRAM_STATE_ADMITTED")
    assert [each.program_id for each in found.programs] == ["1"]
