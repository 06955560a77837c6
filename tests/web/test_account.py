"""The account: an owner's bots and tokens, and secrets that are shown once."""

from __future__ import annotations

import re

import pytest
from tests.web.browsing import Answer
from tests.web.conftest import OpenSite
from tests.web.test_challenges import signed_in

from meijin.server.settings import Registration
from meijin.testing.desk import Desk


def secret_of(answer: Answer) -> str:
    """The secret that a page shows, which nobody is to keep."""
    assert answer.headers["cache-control"] == "no-store"
    (found,) = re.findall(r'<code id="secret">(gmk_\w+_[\w-]+|[\w-]+)</code>', answer.text)
    return str(found)


async def test_nobody_has_an_account_without_a_token(open_site: OpenSite) -> None:
    """It is asked for; a session whose token was revoked has ended."""
    async with open_site(registration=Registration.CLOSED) as site:
        asked = await site.browse().get("/account")
        assert asked.headers["location"] == "/sign-in?next=%2Faccount"
        desk = Desk(site.server, await site.server.channel())
        eve = await signed_in(site, await desk.token("owner", "eve"))
        (token,) = [
            each
            for each in (await desk.ask("TokenService/ListTokens")).tokens
            if each.owner == "eve"
        ]
        assert "the owner eve" in (await eve.get("/account")).text
        await desk.ask("TokenService/RevokeToken", token_id=token.token_id)
        asked = await eve.get("/account")
        assert asked.headers["location"] == "/sign-in?next=%2Faccount"
        assert (await eve.get("/sign-in?next=%2Faccount")).status == 200


async def test_an_owner_manages_its_bots(open_site: OpenSite) -> None:
    """Registered, with a token that plays; and changed by forms."""
    async with open_site(registration=Registration.INVITATION) as site:
        desk = Desk(site.server, await site.server.channel())
        eve = await signed_in(site, await desk.token("owner", "eve"))
        made = await eve.post("/account/bots", name="ada", display_name="<b>Łada</b>")
        peer = await site.server.bot("ada", token=secret_of(made))
        page = (await eve.get("/account")).text
        assert "&lt;b&gt;Łada&lt;/b&gt;" in page
        assert 'href="/account/bots/ada"' in page
        own = "/account/bots/ada"
        for fields, words in (
            ({"action": "challenges", "challenges": "anyone"}, '<option value="anyone" selected>'),
            ({"action": "hide"}, "Show in lists"),
            ({"action": "unhide"}, "Leave out of lists"),
            ({"action": "disable", "reason": "it sleeps"}, "it sleeps"),
            ({"action": "enable"}, "Now: active."),
        ):
            assert (await eve.post(own, **fields)).status == 303
            assert words in (await eve.get(own)).text
        await peer.closed()
        token = secret_of(await eve.post(f"{own}/token"))
        await site.server.bot("ada", token=token)
        assert (await eve.post(own, action="eat")).status == 400


async def test_bots_of_others_are_not_found(open_site: OpenSite) -> None:
    """Nor is anything of them changed."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        await desk.bot("ada", "eve")
        carl = await signed_in(site, await desk.token("owner", "carl"))
        assert (await carl.get("/account/bots/ada")).status == 404
        assert (await carl.post("/account/bots/ada", action="hide")).status == 404
        assert (await carl.post("/account/bots/ada/token")).status == 404
        assert (await carl.post("/account/bots", name="bob")).status == 400  # it is closed


async def test_tokens_are_made_rotated_and_revoked(open_site: OpenSite) -> None:
    """The session goes on where its own is rotated."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        await desk.bot("ada", "eve")
        eve = await signed_in(site, await desk.token("owner", "eve"))
        made = await eve.post("/account/tokens", kind="bot", name="ada", label="spare", days="3")
        await site.server.bot("ada", token=secret_of(made))
        page = (await eve.get("/account")).text
        assert "spare" in page
        keys = re.findall(r"/account/tokens/(\d+)/rotate", page)
        for key in keys:
            secret_of(await eve.post(f"/account/tokens/{key}/rotate"))
            assert (await eve.get("/account")).status == 200
        (key, *_) = re.findall(r"/account/tokens/(\d+)/revoke", (await eve.get("/account")).text)
        await eve.post(f"/account/tokens/{key}/revoke")
        assert f"/tokens/{key}/" not in (await eve.get("/account")).text
        assert (await eve.post("/account/tokens", kind="bot", days="-1")).status == 400
        assert (await eve.post("/account/tokens", kind="king")).status == 400


@pytest.mark.parametrize(
    ("kind", "words"), [("bot", "a token of the bot ada"), ("person", "You play here as ~zo")]
)
async def test_players_have_little_to_manage(open_site: OpenSite, kind: str, words: str) -> None:
    """They see who they are."""
    async with open_site(registration=Registration.CLOSED) as site:
        desk = Desk(site.server, await site.server.channel())
        entered = await desk.ask("ChallengeService/EnterAsPerson", display_name="Zoë")
        token = await desk.bot("ada") if kind == "bot" else entered.token
        page = (await (await signed_in(site, token)).get("/account")).text
        assert words in page
        assert "/account/tokens" not in page
