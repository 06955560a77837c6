"""The page of challenges: made by a form, listed, and taken back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server_in_test import ServerInTest
from tests.web.browsing import Answer, Browsing
from tests.web.conftest import SiteInTest
from tests.web.prepared import browse

from meijin.v1 import bot_service_pb2
from meijin.v1 import challenge_service_pb2 as pb

pytestmark = pytest.mark.settings(registration="closed")

TERMS = {
    "rule": "freestyle",
    "size": "5",
    "opening_rule": "free",
    "time": "600",
    "opponent_time": "",
    "games": "2",
    "colors": "white",
    "start": "empty",
    "moves": "",
}


@pytest.fixture
async def carl(site: SiteInTest, server: ServerInTest) -> Browsing:
    """The second of two owners, each with a bot that is connected."""
    for bot, owner in (("ada", "eve"), ("bob", "carl")):
        await site.server.bot(bot, token=await server.register(bot, owner))
    return await site.signed_in(await server.token("owner", "carl"))


async def challenges(server: ServerInTest) -> list[pb.Challenge]:
    return list((await server.ask("ChallengeService/ListChallenges")).challenges)


async def send(browsing: Browsing, **fields: Any) -> Answer:
    return await browsing.post("/challenges", **{**TERMS, "opponent": "ada", **fields})


async def test_a_challenge_is_made_and_taken_back(
    browsing: Browsing, carl: Browsing, server: ServerInTest
) -> None:
    """With the bot of one's own that is connected, on the terms of the form."""
    page = (await carl.get("/challenges?opponent=ada")).text
    for chosen in ("ada", "bob"):
        assert f'<option value="{chosen}" selected>{chosen}</option>' in page
    made = await send(carl, opponent_time="5/move")
    (challenge,) = await challenges(server)
    assert made.headers["location"] == f"/tournaments/{challenge.challenge_id}"
    assert (challenge.challenger, challenge.settings.games) == ("bob", 2)
    assert challenge.settings.colors == pb.CHALLENGE_COLORS_WHITE
    assert challenge.settings.opponent_time_control.per_move.seconds == 5
    back = f"/challenges/{challenge.challenge_id}/cancel"
    assert back not in (await browsing.get("/challenges")).text
    assert back in (await carl.get("/challenges?show=mine")).text
    assert (await carl.post(back)).status == 303
    assert [each.state for each in await challenges(server)] == [3]
    assert "taken back" in (await carl.get("/challenges")).text


REFUSED: tuple[tuple[dict[str, str], str], ...] = (
    ({"opponent": "nobody"}, "no bot &#34;nobody&#34;"),
    ({"time": "soon"}, "&#34;soon&#34; is no time control"),
    ({"games": "21"}, "games must be a whole number from 1 to 20"),
    ({"rule": "chess"}, "no rule &#34;chess&#34;"),
    ({"size": "2"}, "width"),
    ({"opening_rule": "pie"}, "no opening rule &#34;pie&#34;"),
    ({"start": "position", "moves": "z9"}, "z9"),
    ({"challenger": "ada"}, "you have no bot &#34;ada&#34;"),
)


async def test_a_form_that_is_refused_is_shown_again(carl: Browsing, server: ServerInTest) -> None:
    for fields, words in REFUSED:
        answer = await send(carl, **{"opponent_time": "77", **fields})
        assert (answer.status, words in answer.text) == (400, True), fields
        assert 'value="77"' in answer.text
    assert not await challenges(server)


async def test_a_position_is_set_up(carl: Browsing, server: ServerInTest) -> None:
    await send(carl, start="position", moves="c3 c4")
    (challenge,) = await challenges(server)
    assert list(memoryview(challenge.settings.openings[0]).cast("H")) == [12, 7]


@pytest.mark.parametrize(
    ("bots", "form"), [(49, '<select id="opponent" '), (50, '<input id="opponent" ')]
)
async def test_few_names_are_a_list_and_many_complete_what_is_typed(bots: int, form: str) -> None:
    """Each is named by what people call it, with its own name as the value."""
    found = [
        bot_service_pb2.Bot(
            name=f"bot-{number}", challenges=bot_service_pb2.CHALLENGE_POLICY_ANYONE
        )
        for number in range(bots)
    ]
    browsing = browse(
        ListBots=bot_service_pb2.ListBotsResponse(bots=found),
        ListDisplayNames=bot_service_pb2.ListDisplayNamesResponse(
            version="1", display_names={"bot-7": "W" * 60}
        ),
        ListChallenges=pb.ListChallengesResponse(),
    )
    page = (await browsing.get("/challenges")).text
    assert form in page
    assert f'<option value="bot-7">{"W" * 60}</option>' in page


@pytest.mark.usefixtures("carl")
async def test_nobody_challenges_without_a_token(browsing: Browsing) -> None:
    assert (await send(browsing)).status == 401
    assert "/sign-in?next=/challenges" in (await browsing.get("/challenges")).text


@pytest.mark.settings
async def test_where_all_may_do_everything_anybody_challenges(site: SiteInTest) -> None:
    for name in ("cleo", "dora"):
        await site.server.bot(name)
    made = await send(site.browse(), opponent="cleo", challenger="dora")
    assert made.headers["location"].startswith("/tournaments/")
