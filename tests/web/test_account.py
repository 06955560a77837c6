"""The account: an owner's bots and tokens, and secrets that are shown once."""

from __future__ import annotations

import re

import pytest
from tests.server_in_test import ServerInTest
from tests.web.browsing import Answer
from tests.web.conftest import SiteInTest
from tests.web.telling import Told, assert_told

pytestmark = pytest.mark.settings(registration="closed")


def secret_of(answer: Answer) -> str:
    """The secret that a page shows, which nobody is to keep."""
    assert answer.headers["cache-control"] == "no-store"
    (found,) = re.findall(r'<code id="secret">(gmk_\w+_[\w-]+|[\w-]+)</code>', answer.text)
    return str(found)


async def test_nobody_has_an_account_without_a_token(
    site: SiteInTest, server: ServerInTest
) -> None:
    """It is asked for; a session whose token was revoked has ended."""
    asked = await site.browse().get("/account")
    assert asked.headers["location"] == "/sign-in?next=%2Faccount"
    eve = await site.signed_in(await server.token("owner", "eve"))
    (token,) = [
        each for each in (await server.ask("TokenService/ListTokens")).tokens if each.owner == "eve"
    ]
    assert "the owner eve" in (await eve.get("/account")).text
    await server.ask("TokenService/RevokeToken", token_id=token.token_id)
    asked = await eve.get("/account")
    assert asked.headers["location"] == "/sign-in?next=%2Faccount"
    assert (await eve.get("/sign-in?next=%2Faccount")).status == 200


@pytest.mark.settings(registration="invitation")
async def test_an_owner_manages_its_bots(site: SiteInTest, server: ServerInTest) -> None:
    """Registered, with a token that plays; and changed by forms."""
    eve = await site.signed_in(await server.token("owner", "eve"))
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


async def test_bots_of_others_are_not_found(site: SiteInTest, server: ServerInTest) -> None:
    """Nor is anything of them changed."""
    await server.register("ada", "eve")
    carl = await site.signed_in(await server.token("owner", "carl"))
    assert (await carl.get("/account/bots/ada")).status == 404
    assert (await carl.post("/account/bots/ada", action="hide")).status == 404
    assert (await carl.post("/account/bots/ada/token")).status == 404
    assert (await carl.post("/account/bots", name="bob")).status == 400  # it is closed


async def test_tokens_are_made_rotated_and_revoked(site: SiteInTest, server: ServerInTest) -> None:
    await server.register("ada", "eve")
    eve = await site.signed_in(await server.token("owner", "eve"))
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


async def test_players_have_little_to_manage(site: SiteInTest, server: ServerInTest) -> None:
    zoe = (await server.ask("ChallengeService/EnterAsPerson", display_name="Zoë")).token
    for token, words in (
        (await server.register("ada"), "a token of the bot ada"),
        (zoe, "You play here as Zoë"),
    ):
        page = Told("/account", (words,), ("/account/tokens",))
        await assert_told(await site.signed_in(token), [page])
