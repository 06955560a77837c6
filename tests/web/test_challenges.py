"""The page of challenges: made by a form, listed, and taken back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.web.browsing import Answer, Browsing
from tests.web.conftest import OpenSite, SiteInTest

from meijin.server.settings import Registration
from meijin.testing.desk import Desk
from meijin.v1 import challenge_service_pb2 as pb

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


async def signed_in(site: SiteInTest, token: str) -> Browsing:
    """A browser of who has a token."""
    browsing = site.browse()
    await browsing.post("/sign-in", token=token, next="/account")
    return browsing


async def two_owners(site: SiteInTest) -> tuple[Desk, Browsing]:
    """The bots of two owners, both connected, and the browser of the second."""
    desk = Desk(site.server, await site.server.channel())
    for bot, owner in (("ada", "eve"), ("bob", "carl")):
        await site.server.bot(bot, token=await desk.bot(bot, owner))
    return desk, await signed_in(site, await desk.token("owner", "carl"))


async def challenges(desk: Desk) -> list[pb.Challenge]:
    """All of them."""
    return list((await desk.ask("ChallengeService/ListChallenges")).challenges)


async def send(browsing: Browsing, **fields: Any) -> Answer:
    """Send the form for a challenge of ada."""
    return await browsing.post("/challenges", **{**TERMS, "opponent": "ada", **fields})


async def test_a_challenge_is_made_and_taken_back(open_site: OpenSite) -> None:
    """With the bot of one's own that is connected, on the terms of the form."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk, carl = await two_owners(site)
        page = (await carl.get("/challenges?opponent=ada")).text
        assert '<option value="ada"></option>' in page
        made = await send(carl, opponent_time="5/move")
        (challenge,) = await challenges(desk)
        assert made.headers["location"] == f"/tournaments/{challenge.challenge_id}"
        assert (challenge.challenger, challenge.settings.games) == ("bob", 2)
        assert challenge.settings.colors == pb.CHALLENGE_COLORS_WHITE
        assert challenge.settings.opponent_time_control.per_move.seconds == 5
        back = f"/challenges/{challenge.challenge_id}/cancel"
        assert back not in (await site.browse().get("/challenges")).text
        assert back in (await carl.get("/challenges?show=mine")).text
        assert (await carl.post(back)).status == 303
        assert [each.state for each in await challenges(desk)] == [3]
        assert "taken back" in (await carl.get("/challenges")).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"opponent": "nobody"}, "no bot &#34;nobody&#34;"),
        ({"time": "soon"}, "&#34;soon&#34; is no time control"),
        ({"games": "21"}, "games must be a whole number from 1 to 20"),
        ({"rule": "chess"}, "no rule &#34;chess&#34;"),
        ({"size": "2"}, "width"),
        ({"opening_rule": "pie"}, "no opening rule &#34;pie&#34;"),
        ({"start": "position", "moves": "z9"}, "z9"),
        ({"challenger": "ada"}, "you have no bot &#34;ada&#34;"),
    ],
)
async def test_a_form_that_is_refused_is_shown_again(
    open_site: OpenSite, fields: dict[str, str], words: str
) -> None:
    """With what was filled in, and why it was refused."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk, carl = await two_owners(site)
        answer = await send(carl, **{"opponent_time": "77", **fields})
        assert answer.status == 400
        assert words in answer.text
        assert 'value="77"' in answer.text
        assert not await challenges(desk)


async def test_a_position_is_set_up(open_site: OpenSite) -> None:
    """From the names of its moves."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk, carl = await two_owners(site)
        await send(carl, start="position", moves="c3 c4")
        (challenge,) = await challenges(desk)
        assert list(memoryview(challenge.settings.openings[0]).cast("H")) == [12, 7]


async def test_nobody_challenges_without_a_token(open_site: OpenSite) -> None:
    """But where everybody may do everything."""
    async with open_site(registration=Registration.CLOSED) as site:
        await two_owners(site)
        assert (await send(site.browse())).status == 401
        assert "/sign-in?next=/challenges" in (await site.browse().get("/challenges")).text
    async with open_site() as site:
        for name in ("cleo", "dora"):
            await site.server.bot(name)
        made = await send(site.browse(), opponent="cleo", challenger="dora")
        assert made.headers["location"].startswith("/tournaments/")
