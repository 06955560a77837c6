"""What operators manage by forms: tournaments, games, bots, invitations, and the audit log."""

from __future__ import annotations

import re

import pytest
from tests.web.browsing import Browsing
from tests.web.conftest import OpenSite, SiteInTest
from tests.web.test_account import secret_of
from tests.web.test_challenges import signed_in

from meijin.server.settings import Registration
from meijin.testing.desk import Desk
from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE

PAGES = (
    "/manage",
    "/manage/tournaments",
    "/manage/invitations",
    "/manage/audit",
)
FORM = {
    "name": "Friday & Saturday",
    "bots": "ada, bob",
    "format": "round-robin",
    "rounds": "1",
    "rule": "freestyle",
    "size": "5",
    "opening_rule": "free",
    "time": "600",
}


async def operator(site: SiteInTest) -> Browsing:
    """The browser of an operator."""
    return await signed_in(site, site.server.operator_token)


@pytest.mark.parametrize("path", PAGES)
async def test_operators_alone_manage(open_site: OpenSite, path: str) -> None:
    """Others are asked to sign in, or told what it needs; tournaments are listed for all."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        eve = await signed_in(site, await desk.token("owner", "eve"))
        assert (await (await operator(site)).get(path)).status == 200
        if path != "/manage/tournaments":
            assert (await site.browse().get(path)).headers["location"].startswith("/sign-in")
            answer = await eve.get(path)
            assert answer.status == 403
            assert "this needs a token of kind operator, not owner" in answer.text


async def test_a_tournament_is_made_cancelled_and_resumed(open_site: OpenSite) -> None:
    """By forms; one that can't be is shown again with what was filled in."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        for name in ("ada", "bob"):
            await desk.bot(name)
        browsing = await operator(site)
        refused = await browsing.post("/manage/tournaments", **{**FORM, "bots": "ada eve"})
        assert refused.status == 400
        assert "no bot &#34;eve&#34;" in refused.text
        assert "Friday &amp; Saturday" in refused.text
        made = await browsing.post("/manage/tournaments", **FORM, rated="on")
        key = made.headers["location"].rpartition("/")[2]
        page = (await browsing.get("/manage/tournaments")).text
        assert f"/manage/tournaments/{key}/cancel" in page
        for action, state in (("cancel", 3), ("resume", 1)):
            await browsing.post(f"/manage/tournaments/{key}/{action}")
            found = await desk.ask("TournamentService/GetTournament", tournament_id=key)
            assert found.tournament.state == state
        assert not found.tournament.settings.unrated


async def test_a_game_is_voided_and_played_again(open_site: OpenSite) -> None:
    """For a reason, which is told."""
    async with open_site() as site:
        black, white = await site.server.pair()
        await play_moves((black, white), FIVE)
        await black.ended()
        browsing = await operator(site)
        key = black.start.game_id
        assert f'value="{key}"' in (await browsing.get(f"/manage?game={key}")).text
        answer = await browsing.post("/manage/games", game=key, reason="the light was out")
        assert answer.headers["location"] == f"/games/{key}"
        again = await black.started()
        assert again.game_id != key
        assert (await browsing.post("/manage/games", game=key, reason="twice")).status == 400


async def test_bots_are_banned_and_renamed(open_site: OpenSite) -> None:
    """And the log tells of it, with paging and by whom it is about."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        await desk.bot("ada")
        browsing = await operator(site)
        to = await browsing.get("/manage/bots?name=ada")
        assert to.headers["location"] == "/account/bots/ada"
        done = await browsing.post(
            "/manage/bots", name="ada", action="ban", text="<i>it cheats</i>"
        )
        assert "&lt;i&gt;it cheats&lt;/i&gt;" in (await browsing.get(done.headers["location"])).text
        await browsing.post("/manage/bots", name="ada", action="unban")
        done = await browsing.post("/manage/bots", name="ada", action="rename", text="eve")
        assert done.headers["location"] == "/account/bots/eve"
        page = (await browsing.get("/manage/audit?of=ada")).text
        acts = re.findall(r'<th scope="row">([\w ]+) <bdi>bot ada</bdi>', page)
        assert acts == ["rename", "unban", "ban", "register"]
        assert "&lt;i&gt;it cheats" in page


async def test_invitations_are_made_and_revoked(open_site: OpenSite) -> None:
    """The secret is shown once, and makes an owner."""
    async with open_site(registration=Registration.INVITATION) as site:
        desk = Desk(site.server, await site.server.channel())
        browsing = await operator(site)
        made = await browsing.post("/manage/invitations", uses="2", days="3", quota="")
        await desk.ask("OwnerService/Join", invitation=secret_of(made), name="eve")
        page = (await browsing.get("/manage/invitations")).text
        (path,) = re.findall(r"/manage/invitations/\d+/revoke", page)
        assert (await browsing.post(path)).status == 303
        assert "There are none." in (await browsing.get("/manage/invitations")).text
        assert (await browsing.post("/manage/invitations", uses="many")).status == 400
