"""The pages of programs: uploaded by a form, followed, read and managed."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections import Counter
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest
from tests.peer import WAIT_TIMEOUT
from tests.web.browsing import HOST, ORIGIN, Answer, Browsing, scope_of
from tests.web.examined import FAILED, PASSED, Examination
from tests.web.streaming import Stream
from tests.web.telling import Told, assert_told

from meijin.store.programs import usage
from meijin.store.schema import ProgramId, ProgramUsage
from meijin.web.gateway import RemoteGateway
from meijin.web.pages.programs import upload
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.server_in_test import ServerInTest
    from tests.web.conftest import SiteInTest

pytestmark = pytest.mark.settings(registration="closed", hosting=True)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SOURCE = b"print('hello')\n"
BOUNDARY = "boundary"
MEGABYTE = 1024 * 1024
ONE = "/programs/1"


def multipart(content: bytes, file_name: str, fields: dict[str, str]) -> bytes:
    """A form with a file, as browsers send it."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{file_name}"'
    parts.append(f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n")
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


async def send(
    browsing: Browsing, content: bytes = SOURCE, file_name: str = "bot.py", **fields: str
) -> Answer:
    headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}", "origin": ORIGIN}
    body = multipart(content, file_name, {"bot": "ada", **fields})
    return await browsing.send("POST", "/programs", body, headers)


def alert_of(answer: Answer) -> str:
    """Why the form of a page was refused."""
    (found,) = re.findall(r'role="alert" data-refused>(.*?)<', answer.text)
    return str(found)


def cookie_of(browsing: Browsing) -> str:
    return "; ".join(f"{name}={value}" for name, value in browsing.cookies.items())


def examine(server: ServerInTest) -> Examination:
    return Examination(server.database.write)


@pytest.fixture
async def eve(site: SiteInTest, server: ServerInTest) -> Browsing:
    """The owner of a bot, who has signed in."""
    await server.register("ada", "eve")
    return await site.signed_in(await server.token("owner", "eve"))


async def test_an_upload_leads_to_its_program(server: ServerInTest, eve: Browsing) -> None:
    """Whose bytes are the file's, however large; the same again leads to the same."""
    large = b"# large\n" * 300_000
    for content, place in ((SOURCE, "/programs/1"), (large, "/programs/2"), (SOURCE, ONE)):
        made = await send(eve, content, label="<one>")
        assert (made.status, made.headers["location"]) == (303, place)
    listed = (await server.ask("HostingService/ListPrograms")).programs
    assert [each.digest for each in listed] == [
        hashlib.sha256(content).hexdigest() for content in (large, SOURCE)
    ]
    words = ("&lt;one&gt;", 'href="/programs/1"', "waits to be examined", "15 bytes")
    pages = [Told(path, words) for path in ("/programs", "/account", "/account/bots/ada")]
    await assert_told(eve, [*pages, Told("/programs?bot=ada", words)])


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        ({"file_name": ""}, 400, "Choose a file"),
        ({"content": b""}, 400, "size: 0 bytes"),
        ({"file_name": "bot.rb"}, 400, "no program of a known kind"),
        ({"label": "x" * 41}, 400, "longer than 40 characters"),
        ({"bot": "carl"}, 404, "carl"),
    ],
)
async def test_a_refusal_is_said_at_the_form(
    server: ServerInTest, eve: Browsing, form: dict[str, Any], status: int, words: str
) -> None:
    """With what was typed; nothing of it is kept."""
    form = {"label": "mine", **form}
    answer = await send(eve, **form)
    assert answer.status == status
    assert words in alert_of(answer)
    assert f'value="{form["label"]}"' in answer.text
    assert (await server.ask("HostingService/ListPrograms")).programs == []


async def test_a_form_that_can_not_be_read(eve: Browsing) -> None:
    """Such as one with two files: it is said at the form."""
    body = multipart(SOURCE, "bot.py", {}).removesuffix(f"--{BOUNDARY}--\r\n".encode())
    headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}", "origin": ORIGIN}
    answer = await eve.send("POST", "/programs", body + multipart(SOURCE, "b.py", {}), headers)
    assert (answer.status, "Too many files." in alert_of(answer)) == (400, True)


async def test_an_upload_that_is_cut_leaves_nothing(
    site: SiteInTest, eve: Browsing, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a place nor a program, and no operator hears of it."""
    body = multipart(SOURCE, "bot.py", {"bot": "ada"})
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "content-length": str(len(body)),
        "origin": ORIGIN,
        "cookie": cookie_of(eve),
    }
    messages: list[dict[str, Any]] = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": body[:-20], "more_body": True},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop()

    async def send(_: object) -> None:
        """Nobody reads it."""

    await eve.app(scope_of("POST", "/programs", HOST, headers), receive, send)
    assert (messages, caplog.messages) == ([], [])
    assert site.state.uploads == Counter()
    assert (await site.server.ask("HostingService/ListPrograms")).programs == []


async def test_a_file_is_hashed_by_a_thread(eve: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one would hold all others up."""
    digest, threads = upload._digest, []

    def spied(file: BinaryIO) -> str:
        threads.append(threading.current_thread())
        return digest(file)

    monkeypatch.setattr(upload, "_digest", spied)
    assert (await send(eve)).status == 303
    assert [each is threading.main_thread() for each in threads] == [False]


async def test_pages_elsewhere_upload_and_follow(site: SiteInTest) -> None:
    """By a process of their own, over a connection."""
    state = SiteState(RemoteGateway(await site.server.channel()), SiteSettings())
    ada = Browsing(application(state))
    token = await site.server.register("ada")
    assert (await ada.post("/sign-in", token=token, next="/")).status == 303
    refused = await send(ada, label="x" * 41)
    assert (refused.status, "longer than 40" in alert_of(refused)) == (400, True)
    assert (await send(ada, SOURCE * 200_000)).headers["location"] == ONE
    async with followed(ada, f"{ONE}/events") as stream:
        await assert_named(ada, stream)
        examine(site.server).admit(PASSED)
        await assert_named(ada, stream)
    await assert_told(ada, [Told(ONE, (">plays</span>",))])
    state.cache.close()


@pytest.mark.settings(registration="closed", hosting=True, max_program_bytes=5 * MEGABYTE)
async def test_a_large_file_is_refused_unread(eve: Browsing) -> None:
    """By the length that its sender announces."""
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "origin": ORIGIN,
        "content-length": str(10**9),
    }
    answer = await eve.send("POST", "/programs", b"", headers)
    assert (answer.status, "a program may have 5 MB" in alert_of(answer)) == (400, True)


async def test_visitor_sees_what_its_programs_take(eve: Browsing) -> None:
    """Of what they may, where they are listed and where one is uploaded."""
    assert (
        "0 of 20 programs, nothing of 100 MB; 0 s of 8 h 0 min" in (await eve.get("/programs")).text
    )
    await send(eve, SOURCE.ljust(2 * MEGABYTE, b"#"))
    for path in ("/programs", "/account", "/account/bots/ada"):
        assert "1 of 20 programs, 2 MB of 100 MB" in (await eve.get(path)).text


async def test_teacher_sees_what_became_of_each_program(
    site: SiteInTest, server: ServerInTest
) -> None:
    """Of a class whose bots the arena runs."""
    await server.ask("ClassService/CreateClass", name="CS101", hosted=True)
    student = {"handle": "ada", "display_name": "Ada"}
    made = await server.ask("ClassService/UpdateClass", name="CS101", student=student)
    assert (await send(await site.signed_in(made.token))).status == 303
    teacher = await site.signed_in(server.operator_token)
    page = (await teacher.get("/classes/CS101")).text
    assert re.search(r'<a href="/programs/1"><span class="chip.*?waits to be examined', page)


async def test_forms_of_other_pages_upload_nothing(server: ServerInTest, eve: Browsing) -> None:
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "origin": "https://evil.example",
    }
    body = multipart(SOURCE, "bot.py", {"bot": "ada"})
    assert (await eve.send("POST", "/programs", body, headers)).status == 403
    assert (await server.ask("HostingService/ListPrograms")).programs == []


async def test_uploads_at_once_are_bounded(
    site: SiteInTest, eve: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one visitor and of all; who is refused may try again."""
    for limit in ("MAX_OF_VISITOR", "MAX_UPLOADS"):
        with monkeypatch.context() as patched:
            patched.setattr(upload, limit, 0)
            answer = await send(eve)
        assert (answer.status, "Too many programs" in alert_of(answer)) == (429, True)
    assert (await send(eve)).status == 303
    assert site.state.uploads == Counter()


async def test_programs_are_for_those_who_have_signed_in(
    site: SiteInTest, server: ServerInTest
) -> None:
    """And have the bot: others find none of it."""
    await server.register("ada", "eve")
    asked = await site.browse().get("/programs")
    assert (asked.status, asked.headers["location"]) == (303, "/sign-in?next=%2Fprograms")
    assert (await send(site.browse())).status == 401
    eve = await site.signed_in(await server.token("owner", "eve"))
    await send(eve)
    carl = await site.signed_in(await server.token("owner", "carl"))
    pages = (
        Told(ONE, status=404),
        Told(f"{ONE}/events", status=404),
        Told("/programs", ("There is none yet", 'href="/account"'), (ONE,)),
    )
    await assert_told(carl, pages)
    assert (await carl.post(ONE, action="retire")).status == 404


async def test_nothing_is_read_of_who_may_not_upload(site: SiteInTest) -> None:
    """The refusal is there before the file."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        pytest.fail("it was read")

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}", "origin": ORIGIN}
    scope = scope_of("POST", "/programs", HOST, {**headers, "content-length": "1000"})
    await site.app(scope, receive, send)
    assert sent[0]["status"] == 401


async def test_a_bot_uploads_its_own(site: SiteInTest, server: ServerInTest) -> None:
    """As a student has no other token."""
    ada = await site.signed_in(await server.register("ada"))
    assert '<option value="ada" selected>' in (await ada.get("/programs")).text
    assert 'href="/programs"' in (await ada.get("/account")).text
    assert (await send(ada)).status == 303
    assert ONE in (await ada.get("/account")).text


async def test_the_report_is_read(server: ServerInTest, eve: Browsing) -> None:
    """Each finding with how to mend it, its evidence folded; the log, and what was used."""
    await send(eve)
    waiting = Told(ONE, ("It is its turn", f'data-events="{ONE}/events"', "It has not run yet"))
    await assert_told(eve, [waiting])
    reason = "the doctor failed"
    examine(server).refuse(PASSED, FAILED, reason=reason)
    used = ProgramUsage(starts=2, cpu_ms=1500, memory_bytes=1 << 28, limit="memory: 256 MiB")
    server.database.write(usage.append_log, ProgramId(1), ["<b>Traceback"])
    server.database.write(usage.add_usage, ProgramId(1), used, NOON)
    words = (
        ">refused</span>",
        reason,
        ">passed</span>",
        ">failed</span>",
        "no &lt;hello&gt;",
        "connect it",
        "<summary>Evidence",
        "ImportError: x",
        "&lt;b&gt;Traceback",
        "<dd>1.5 s</dd>",
        "<dd>256 MB</dd>",
        "memory: 256 MiB",
    )
    await assert_told(eve, [Told(ONE, words, ("data-events", "http-equiv", "<b>Traceback"))])


async def test_a_bot_is_rolled_back_and_a_program_retired(
    server: ServerInTest, eve: Browsing
) -> None:
    """By buttons of the list and of the program's page; what can't be is said."""
    for number in (1, 2):
        await send(eve, SOURCE * number)
        examine(server).admit()
    use = '<input type="hidden" name="action" value="use">'
    await assert_told(eve, [Told(ONE, (use,)), Told("/programs/2", (">plays</span>",), (use,))])
    done = await eve.post(ONE, action="use")
    assert (done.status, done.headers["location"]) == (303, ONE)
    await assert_told(eve, [Told(ONE, (">plays</span>",), (use,)), Told("/programs/2", (use,))])
    await eve.post(ONE, action="retire")
    await assert_told(eve, [Told(ONE, (">retired</span>",), ("value=",))])
    refused = await eve.post(ONE, action="use")
    assert (refused.status, "is retired" in refused.text) == (400, True)
    assert (await eve.post(ONE, action="eat")).status == 400


async def test_operators_suspend_and_reinstate(
    site: SiteInTest, server: ServerInTest, eve: Browsing
) -> None:
    """With a reason that the owner reads; the owner has no such button."""
    await send(eve)
    examine(server).admit()
    suspend = 'name="action" value="suspend"'
    operator = await site.signed_in(server.operator_token)
    await assert_told(eve, [Told(ONE, (), (suspend,))])
    await assert_told(operator, [Told(ONE, (suspend,)), Told("/programs", (ONE,))])
    assert (await eve.post(ONE, action="suspend", reason="x")).status == 403
    assert (await operator.post(ONE, action="suspend", reason="it mines")).status == 303
    await assert_told(eve, [Told(ONE, (">suspended</span>", "it mines"))])
    assert (await operator.post(ONE, action="reinstate")).status == 303
    await assert_told(eve, [Told(ONE, (">admitted</span>",), ("it mines",))])
    assert (await operator.post(ONE, action="examine")).status == 303
    await assert_told(eve, [Told(ONE, ("waits to be examined",))])


@asynccontextmanager
async def followed(browsing: Browsing, path: str) -> AsyncIterator[Stream]:
    """The events of a page."""
    stream = Stream()
    stream.reads.set()
    scope = scope_of("GET", path, HOST, {"cookie": cookie_of(browsing)})
    answering = asyncio.create_task(browsing.app(scope, stream.receive, stream.send))
    try:
        yield stream
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            await answering
    finally:
        stream.has_left.set()
        answering.cancel()


async def test_an_admission_is_followed_to_its_end(
    site: SiteInTest, server: ServerInTest, eve: Browsing
) -> None:
    """Each event names the page as it is now; the last one ends the stream."""
    await send(eve)
    async with followed(eve, f"{ONE}/events") as stream:
        marks = [await assert_named(eve, stream)]
        examination = examine(server)
        marks.append(await assert_named(eve, stream))
        examination.find(PASSED)
        marks.append(await assert_named(eve, stream))
        examination.admit(PASSED)
        marks.append(await assert_named(eve, stream))
    assert len(set(marks)) == 4
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.frames.empty()
    assert not site.state.admissions._of_hosts


async def assert_named(browsing: Browsing, stream: Stream) -> str:
    """See that the newest event has the mark of the page as it is; return it."""
    mark = (await stream.frame()).decode().removeprefix("data: ").strip()
    assert f'data-mark="{mark}"' in (await browsing.get(ONE)).text
    return mark


async def test_a_browser_that_leaves_follows_no_more(site: SiteInTest, eve: Browsing) -> None:
    """Nor does the server look for it."""
    await send(eve)
    async with followed(eve, f"{ONE}/events") as stream:
        await stream.frame()
        stream.has_left.set()
    await site.server.until(lambda: not site.server.tasks("WatchAdmission"))
    assert not site.state.admissions._of_hosts


@pytest.mark.settings(registration="closed")
async def test_a_server_may_host_nothing(eve: Browsing) -> None:
    """Then other pages say nothing of programs."""
    without = ("Programs", "/programs")
    pages = (
        Told("/account", (), without),
        Told("/account/bots/ada", (), without),
        Told("/programs", ("hosts no programs",), status=400),
    )
    await assert_told(eve, pages)


async def test_a_bots_page_leads_its_owner_to_its_programs(site: SiteInTest, eve: Browsing) -> None:
    """And nobody else."""
    manage = 'href="/account/bots/ada"'
    await assert_told(eve, [Told("/bots/ada", (manage,))])
    await assert_told(site.browse(), [Told("/bots/ada", (), (manage,))])


async def test_a_student_hands_a_program_in(site: SiteInTest, server: ServerInTest) -> None:
    """It is on the page of the class, and after the deadline the form says that it is late."""
    await server.ask("ClassService/CreateClass", name="CS101")
    change, handle = "ClassService/UpdateClass", {"handle": "ada", "display_name": "Ada"}
    ada = await site.signed_in((await server.ask(change, name="CS101", student=handle)).token)
    await assert_told(ada, [Told("/classes/CS101", ("Your programs", 'href="/programs"'))])
    assert (await send(ada)).status == 303
    await assert_told(ada, [Told("/classes/CS101", (ONE, "waits to be examined"))])
    await server.ask(change, name="CS101", deadline_now=True)
    late = await send(ada, SOURCE * 2)
    assert (late.status, "&#34;ada&#34; is late" in alert_of(late)) == (403, True)
