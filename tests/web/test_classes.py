"""The page of a class: what its teacher sees, what a student does, and that others see nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.server_in_test import ServerInTest
from tests.web.conftest import SiteInTest

from meijin.v1 import play_service_pb2 as pb

pytestmark = pytest.mark.settings(registration="closed")

UPDATE = "ClassService/UpdateClass"
STUDENTS = {"ada": "Ada Lovelace", "bob": "Bob <b>", "carl": "名人"}


@pytest.fixture
async def tokens(server: ServerInTest) -> dict[str, str]:
    """A class of three, of whom two have handed in: Bob's bot fails, and Ada's wins."""
    later = datetime.now(UTC) + timedelta(days=9)
    await server.ask("ClassService/CreateClass", name="CS101")
    await server.ask(UPDATE, name="CS101", deadline=later, deadline_offset_minutes=60)
    tokens = {}
    for handle, display_name in STUDENTS.items():
        student = {"handle": handle, "display_name": display_name}
        tokens[handle] = (await server.ask(UPDATE, name="CS101", student=student)).token
    ada = await server.bot("ada", token=tokens["ada"])
    bob = await server.bot("bob", token=tokens["bob"])
    await server.tournament("ada", "bob", rounds=1)
    started = await bob.started()
    message = "KeyError: 17 (bob.py, line 3)"
    failure = pb.Failure(game=started.game, message=message, traceback="in <bob.py>, line 3")
    await bob.write(actions=pb.Actions(failures=[failure]))
    await ada.ended()
    return tokens


@pytest.mark.usefixtures("tokens")
async def test_teacher_sees_all_of_a_class(site: SiteInTest) -> None:
    """Who has handed in, who failed and why, and the links."""
    made = await site.server.ask(UPDATE, name="CS101", people=9)
    teacher = await site.signed_in(site.server.operator_token)
    assert '<a href="/classes/CS101">' in (await teacher.get("/classes")).text
    page = (await teacher.get("/classes/CS101")).text
    assert "UTC+01:00" in page
    assert "2 of 3 handed in" in page
    assert page.count("nothing yet") == 1
    for words in ("Ada Lovelace", "Bob &lt;b&gt;", "名人", "KeyError: 17", "in &lt;bob.py&gt;"):
        assert words in page
    assert f"/play?class={made.school_class.play_key}" in page
    assert "/classes/CS101?projector=1" in page


async def test_student_sees_its_own_alone(site: SiteInTest, tokens: dict[str, str]) -> None:
    """Nobody else's name or fault stands there, and no other class is shown."""
    student = await site.signed_in(tokens["ada"])
    led = await student.get("/classes")
    assert led.headers["location"] == "/classes/CS101"
    for path in ("/classes/CS101", "/classes/CS101?projector=1"):
        page = (await student.get(path)).text
        assert "Ada Lovelace" in page or "projector" in path
        for words in ("Bob", "名人", "KeyError", "of 3 handed in", "For a projector"):
            assert words not in page, (path, words)
    failing = await site.signed_in(tokens["bob"])
    assert "KeyError: 17" in (await failing.get("/classes/CS101")).text
    assert (await failing.get("/classes/CS102")).status == 404


@pytest.mark.usefixtures("tokens")
async def test_others_see_no_class(site: SiteInTest) -> None:
    """Nobody without a token, no owner, and no bot of another class."""
    owner = await site.signed_in(await site.server.token("owner", "eve"))
    other = await site.signed_in(await site.server.register("eve-bot", "eve"))
    for path in ("/classes", "/classes/CS101", "/classes/CS101?projector=1"):
        asked = await site.browse().get(path)
        assert asked.headers["location"].startswith("/sign-in"), path
        assert (await owner.get(path)).status == 403, path
    assert (await other.get("/classes/CS101")).status == 404
    assert "CS101" not in (await other.get("/classes")).text


@pytest.mark.usefixtures("tokens")
async def test_projector_shows_the_ladder_alone(site: SiteInTest) -> None:
    """By display names, renewed by itself, with no menu, and with nobody's faults."""
    teacher = await site.signed_in(site.server.operator_token)
    page = (await teacher.get("/classes/CS101?projector=1")).text
    assert 'http-equiv="refresh"' in page
    assert "<nav" not in page
    assert "KeyError" not in page
    assert "2 of 3 handed in" in page
