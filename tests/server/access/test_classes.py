"""Classes: students' bots, and a deadline from which on each stays the version that it is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.server_in_test import ServerInTest

from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import play_service_pb2 as play_pb

MAKE, CHANGE, SHOW = "ClassService/CreateClass", "ClassService/UpdateClass", "ClassService/GetClass"
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
async def _class(server: ServerInTest) -> None:
    await server.ask(MAKE, name="CS101")


async def change(server: ServerInTest, **fields: Any) -> pb.UpdateClassResponse:
    changed = await server.ask(CHANGE, name="CS101", **fields)
    assert isinstance(changed, pb.UpdateClassResponse)
    return changed


async def add(server: ServerInTest, handle: str, display_name: str, **more: str) -> str:
    student = {"handle": handle, "display_name": display_name, **more}
    return (await change(server, student=student)).token


async def only_student(server: ServerInTest) -> pb.Student:
    (student,) = (await server.ask(SHOW, name="CS101")).students
    assert isinstance(student, pb.Student)
    return student


async def lateness(server: ServerInTest, token: str, version: str, digest: str = "") -> str:
    """In which words a bot is refused that says hello as some version."""
    peer = await server.peer(token)
    await peer.hello(engine=play_pb.Engine(version=version, digest=digest))
    end = await peer.closed()
    assert end.reason == "DEADLINE_PASSED"
    return end.details


async def test_a_student_has_a_bot_with_a_name_in_any_script(server: ServerInTest) -> None:
    """The handle is the bot's name; the token lets it play, and the log keeps who was added."""
    token = await add(server, "student-01", "  名人\u200d  本因坊 ", student_id="4711")
    await server.bot("student-01", token=token, version="1")
    student = await only_student(server)
    assert (student.handle, student.display_name) == ("student-01", "名人 本因坊")
    assert (student.student_id, student.version, student.connected) == ("4711", "1", True)
    assert student.seen_time.ToDatetime(UTC) > datetime.now(UTC) - HOUR
    (bot,) = (await server.ask("BotService/ListBots")).bots
    assert bot.display_name == "名人 本因坊"
    (listed,) = (await server.ask("ClassService/ListClasses")).classes
    assert (listed.name, listed.students) == ("CS101", 1)
    acts = [(action, subject) for _, action, subject in await server.acts()]
    assert acts == [("make", "class CS101"), ("register", "bot student-01")]
    # One in no class may have such a name too; it is kept composed.
    made = await server.ask("BotService/RegisterBot", name="arger", display_name="A\u0308rger")
    assert made.bot.display_name == "Ärger"


async def test_from_the_deadline_on_the_last_version_counts(server: ServerInTest) -> None:
    """It may come back; another is refused by name, kept nowhere, and counted.

    What was only examined is handed in by that no more than what came late.
    """
    token = await add(server, "ada", "Ada")
    for version in ("1", "2"):
        await server.bot("ada", token=token, version=version)
    engine = play_pb.Engine(version="4")
    await server.ask("BotService/ReportDoctor", token, name="ada", engine=engine, passed=True)
    await change(server, deadline_now=True)
    for version, what in (("3", "have changed since"), ("1", "this is another version than")):
        words = await lateness(server, token, version)
        assert '"ada" is late: the deadline of CS101 was' in words
        assert what in words
        assert f'(version "{version}"; counted: version "2" of 2' in words
    await server.bot("ada", token=token, version="2")
    student = await only_student(server)
    assert (student.version, student.late_attempts) == ("2", 2)
    assert student.late_time.ToDatetime(UTC) > datetime.now(UTC) - HOUR
    versions = (await server.ask("BotService/ListBotVersions", name="ada")).versions
    assert [each.version for each in versions] == ["1", "2", "4"]


async def test_a_changed_file_is_told_by_its_digest(server: ServerInTest) -> None:
    """Where the label is the same; in the zone in which the deadline was set."""
    token = await add(server, "ada", "Ada")
    peer = await server.peer(token)
    await peer.hello(engine=play_pb.Engine(version="1", digest="cd34" * 16))
    await peer.welcome()
    for minutes, zone in ((90, "UTC+01:30"), (-300, "UTC-05:00"), (None, "UTC")):
        await change(server, deadline_now=True, deadline_offset_minutes=minutes)
        words = await lateness(server, token, "1", "ab12" * 16)
        first, second = re.findall(rf"2\d{{3}}-\d\d-\d\d (\d\d):\d\d {re.escape(zone)}[,)]", words)
        assert first == second or int(first) == (int(second) + 1) % 24
        assert "(digest ab12ab12; counted: digest cd34cd34 of 2" in words
        assert 'version "' not in words


async def test_a_machine_may_change_after_the_deadline(server: ServerInTest) -> None:
    """The version that counts stays the one, and it is shown how it was unlike it; no option may."""
    token = await add(server, "ada", "Ada")
    engine = play_pb.Engine(version="1", digest="d", configuration=["depth=4"])
    for threads in (4, 8, 16):
        peer = await server.peer(token)
        await peer.hello(engine=engine, threads=threads)
        notice = (await peer.welcome()).notice
        if threads == 8:
            await change(server, deadline_now=True)
    told = '"ada" still plays as version "1 #2" with other hardware (16 instead of 8 threads): '
    assert notice == told + "the deadline of its class is over"
    assert (await only_student(server)).version_id == str(2)
    versions = (await server.ask("BotService/ListBotVersions", name="ada")).versions
    assert [each.deviation for each in versions] == ["", "16 instead of 8 threads"]
    peer = await server.peer(token)
    await peer.hello(engine=play_pb.Engine(version="1", digest="d", configuration=["depth=5"]))
    assert (await peer.closed()).reason == "DEADLINE_PASSED"


async def test_who_came_with_nothing_in_time_is_refused(server: ServerInTest) -> None:
    """Until the deadline is moved, or lifted."""
    token = await add(server, "ada", "Ada")
    await change(server, deadline_now=True)
    assert "it was not there before; ask your teacher" in await lateness(server, token, "1")
    await change(server, deadline=datetime.now(UTC) + HOUR)
    await server.bot("ada", token=token, version="1")
    await change(server, deadline_now=True)
    await change(server, without_deadline=True)
    await server.bot("ada", token=token, version="2")
    assert (await only_student(server)).version == "2"


CROWDED = ("", "\x1b[2J", "a\u202eb", "a\nb", "x" * 61, "a" + "\u0301" * 9, "\u2066a")
"""Names of control characters, turned directions, towers of marks, and what is too long."""


@pytest.mark.settings(registration="closed")
async def test_what_a_class_is_refused(server: ServerInTest) -> None:
    """Names that disturb a screen, a deadline that is past, and what is there twice or not."""
    operator, past = server.operator_token, datetime.now(UTC) - HOUR
    student = {"handle": "ada", "display_name": "Ada"}
    token = await add(server, **student)
    refused: tuple[tuple[str, dict[str, Any], str | None, str], ...] = (
        *(
            (CHANGE, {"student": {"handle": "bob", "display_name": name}}, None, "display_name")
            for name in CROWDED
        ),
        (MAKE, {"name": "CS102", "deadline": past}, None, "is past"),
        (MAKE, {}, "NAME_TAKEN", 'a class "CS101" exists; take another name'),
        (CHANGE, {"student": student}, "NAME_TAKEN", 'a bot "ada" exists; take another handle'),
        (
            CHANGE,
            {"deadline_now": True, "without_deadline": True},
            None,
            "deadline: give a time, or now, or none",
        ),
        (CHANGE, {"deadline_now": True, "deadline_offset_minutes": 1440}, None, "a day or more"),
        (SHOW, {"name": "CS100"}, "NOT_FOUND", 'no class "CS100"; did you mean "CS101"?'),
    )
    for method, fields, reason, words in refused:
        end = await server.refusal(method, operator, **{"name": "CS101", **fields})
        assert end.reason == (reason or "INVALID_REQUEST")
        assert words in end.details
    assert (await server.refusal(CHANGE, token, name="CS101")).reason == "NOT_ALLOWED"
    assert (await only_student(server)).handle == "ada"


@pytest.mark.settings(registration="closed")
async def test_students_see_themselves_alone(server: ServerInTest) -> None:
    """Of their own class; what went wrong in a class is for operators, and nothing for others."""
    tokens = {name: await add(server, name, name.title()) for name in ("ada", "bob")}
    await server.ask(MAKE, name="CS102")
    eve = await server.register("eve")
    listed = await server.ask("ClassService/ListClasses", tokens["ada"])
    assert [(each.name, each.students) for each in listed.classes] == [("CS101", 2)]
    shown = await server.ask(SHOW, tokens["ada"], name="CS101")
    assert [each.handle for each in shown.students] == ["ada"]
    assert not (await server.ask("ClassService/ListClasses", eve)).classes
    for token, name in ((tokens["ada"], "CS102"), (tokens["ada"], "CS1"), (eve, "CS101")):
        end = await server.refusal(SHOW, token, name=name)
        assert (end.reason, end.details) == ("NOT_FOUND", f'"{name}" is not your class')
    groups = "FaultService/ListFaultGroups"
    for who, reason in ((tokens["ada"], "NOT_ALLOWED"), (None, "UNKNOWN_TOKEN")):
        assert (await server.refusal(groups, who, class_name="CS101")).reason == reason
    assert not (await server.ask(groups, class_name="CS101")).groups
    for method in (SHOW, "ClassService/ListClasses"):
        assert (await server.refusal(method)).reason == "UNKNOWN_TOKEN"


async def test_when_a_version_was_handed_in(server: ServerInTest) -> None:
    """When it first came, and whether it has passed the doctor."""
    token = await add(server, "ada", "Ada")
    assert not (await only_student(server)).HasField("submit_time")
    await server.bot("ada", token=token, version="1")
    student = await only_student(server)
    assert student.submit_time.ToDatetime(UTC) > datetime.now(UTC) - HOUR
    assert not student.HasField("doctor_time")
    engine = play_pb.Engine(version="1")
    await server.ask("BotService/ReportDoctor", token, name="ada", engine=engine, passed=True)
    assert (await only_student(server)).HasField("doctor_time")


async def test_no_class_is_hosted_where_no_program_is(server: ServerInTest) -> None:
    """The server has hosting switched off."""
    assert (await server.refusal(MAKE, name="CS102", hosted=True)).reason == "HOSTING_OFF"
