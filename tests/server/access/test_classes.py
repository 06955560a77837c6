"""Classes: students' bots, and a deadline from which on each stays the version that it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import grpc
import pytest

from meijin.testing.desk import Desk
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire.contract import PROTOCOL_VERSION

Code = grpc.StatusCode
MAKE, CHANGE, SHOW = "ClassService/CreateClass", "ClassService/UpdateClass", "ClassService/GetClass"
HOUR = timedelta(hours=1)


async def add(desk: Desk, handle: str, display_name: str = "", **more: str) -> str:
    """A new student's token."""
    name = display_name or handle
    student = {"handle": handle, "display_name": name, **more}
    made = await desk.ask(CHANGE, name="CS101", student=student)
    token: str = made.token
    return token


async def only_student(desk: Desk) -> pb.Student:
    """The class's one student."""
    (student,) = (await desk.ask(SHOW, name="CS101")).students
    assert isinstance(student, pb.Student)
    return student


async def refusal(desk: Desk, token: str, version: str) -> tuple[Code, str, str]:
    """How the stream of a bot ends that says hello as some version."""
    peer = await desk.server.peer(token)
    capabilities = play_pb.Capabilities(min_board_size=3, max_board_size=22, max_games=1)
    engine = play_pb.Engine(version=version)
    hello = play_pb.Hello(
        protocol_version=PROTOCOL_VERSION, engine=engine, capabilities=capabilities
    )
    await peer.write(hello=hello)
    end = await peer.closed()
    return end.code, end.reason, end.details


async def test_a_student_has_a_bot_with_a_name_in_any_script(desk: Desk) -> None:
    """The handle is the bot's name; the token lets it play, and the log keeps who was added."""
    await desk.ask(MAKE, name="CS101")
    token = await add(desk, "student-01", "  名人\u200d  本因坊 ", student_id="4711")
    await desk.server.bot("student-01", token=token, version="1")
    student = await only_student(desk)
    assert (student.handle, student.display_name) == ("student-01", "名人 本因坊")
    assert (student.student_id, student.version, student.connected) == ("4711", "1", True)
    assert student.seen_time.ToDatetime(UTC) > datetime.now(UTC) - HOUR
    (bot,) = (await desk.ask("BotService/ListBots")).bots
    assert bot.display_name == "名人 本因坊"
    (listed,) = (await desk.ask("ClassService/ListClasses")).classes
    assert (listed.name, listed.students) == ("CS101", 1)
    acts = [(action, subject) for _, action, subject in await desk.acts()]
    assert acts == [("make", "class CS101"), ("register", "bot student-01")]


@pytest.mark.parametrize(
    "name", ["", "\x1b[2J", "a\u202eb", "a\nb", "x" * 61, "a" + "\u0301" * 9, "\u2066a"]
)
async def test_a_name_that_would_disturb_a_screen_is_refused(desk: Desk, name: str) -> None:
    """Control characters, turned directions, towers of marks, and what is too long."""
    await desk.ask(MAKE, name="CS101")
    end = await desk.refusal(
        CHANGE,
        desk.server.operator_token,
        name="CS101",
        student={"handle": "ada", "display_name": name},
    )
    assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert "display_name" in end.details
    assert not (await desk.ask(SHOW, name="CS101")).students


async def test_a_registered_bot_may_have_a_display_name(desk: Desk) -> None:
    """In no class too; it is kept composed."""
    made = await desk.ask("BotService/RegisterBot", name="arger", display_name="A\u0308rger")
    assert made.bot.display_name == "Ärger"


async def test_from_the_deadline_on_the_last_version_counts(desk: Desk) -> None:
    """It may come back; another is refused by name, kept nowhere, and counted."""
    await desk.ask(MAKE, name="CS101")
    token = await add(desk, "ada")
    for version in ("1", "2"):
        await desk.server.bot("ada", token=token, version=version)
    await desk.ask(CHANGE, name="CS101", deadline_now=True)
    for version in ("3", "1"):
        code, reason, details = await refusal(desk, token, version)
        assert (code, reason) == (Code.PERMISSION_DENIED, "DEADLINE_PASSED")
        assert f'version "{version}" of "ada" is late: the deadline of CS101 was' in details
        assert 'version "2" counts' in details
    await desk.server.bot("ada", token=token, version="2")
    student = await only_student(desk)
    assert (student.version, student.late_attempts) == ("2", 2)
    assert student.late_time.ToDatetime(UTC) > datetime.now(UTC) - HOUR
    versions = (await desk.ask("BotService/ListBotVersions", name="ada")).versions
    assert [each.version for each in versions] == ["1", "2"]


async def test_who_came_with_nothing_in_time_is_refused(desk: Desk) -> None:
    """Until the deadline is moved, or lifted."""
    await desk.ask(MAKE, name="CS101")
    token = await add(desk, "ada")
    await desk.ask(CHANGE, name="CS101", deadline_now=True)
    _, reason, details = await refusal(desk, token, "1")
    assert reason == "DEADLINE_PASSED"
    assert "no version of it was there before" in details
    await desk.ask(CHANGE, name="CS101", deadline=datetime.now(UTC) + HOUR)
    await desk.server.bot("ada", token=token, version="1")
    await desk.ask(CHANGE, name="CS101", deadline_now=True)
    await desk.ask(CHANGE, name="CS101", without_deadline=True)
    await desk.server.bot("ada", token=token, version="2")
    assert (await only_student(desk)).version == "2"


async def test_the_doctor_hands_nothing_in(desk: Desk) -> None:
    """A version that was only examined is not the one that counts."""
    await desk.ask(MAKE, name="CS101")
    token = await add(desk, "ada")
    await desk.server.bot("ada", token=token, version="1")
    engine = play_pb.Engine(version="2")
    await desk.ask("BotService/ReportDoctor", token, name="ada", engine=engine, passed=True)
    assert (await only_student(desk)).version == "1"


@pytest.mark.settings(registration="closed")
async def test_what_a_class_is_refused(desk: Desk) -> None:
    """A deadline that is past, a name twice, a handle twice, and a class that there isn't."""
    operator = desk.server.operator_token
    past = datetime.now(UTC) - HOUR
    end = await desk.refusal(MAKE, operator, name="CS101", deadline=past)
    assert (end.code, "is past" in end.details) == (Code.INVALID_ARGUMENT, True)
    await desk.ask(MAKE, name="CS101")
    assert (await desk.refusal(MAKE, operator, name="CS101")).code is Code.ALREADY_EXISTS
    token = await add(desk, "ada")
    again = {"handle": "ada", "display_name": "Ada"}
    end = await desk.refusal(CHANGE, operator, name="CS101", student=again)
    assert end.code is Code.ALREADY_EXISTS
    both = {"deadline_now": True, "without_deadline": True}
    end = await desk.refusal(CHANGE, operator, name="CS101", **both)
    assert (end.code, end.details) == (
        Code.INVALID_ARGUMENT,
        "deadline: give a time, or now, or none",
    )
    end = await desk.refusal(SHOW, operator, name="CS100")
    assert (end.code, end.details) == (
        Code.NOT_FOUND,
        'no class "CS100"; did you mean "CS101"?',
    )
    assert (await desk.refusal(SHOW, token, name="CS101")).code is Code.PERMISSION_DENIED
