"""What operators manage by forms: tournaments, games, bots, invitations, and the audit log."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest
from tests.web.browsing import ORIGIN, Browsing
from tests.web.conftest import SiteInTest
from tests.web.telling import Told, assert_told
from tests.web.test_account import secret_of

from meijin.v1 import admin_service_pb2 as pb
from meijin.web.pages.manage.audit import changes, host_of

pytestmark = pytest.mark.settings(registration="closed")

PAGES = ("/manage", "/manage/invitations", "/manage/audit")
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
    return await site.signed_in(site.server.operator_token)


async def test_operators_alone_manage(site: SiteInTest, server: ServerInTest) -> None:
    """Others are asked to sign in, or told what it needs; tournaments are listed for all."""
    eve = await site.signed_in(await server.token("owner", "eve"))
    needs = "this needs a token of kind operator, not owner"
    await assert_told(await operator(site), map(Told, (*PAGES, "/manage/tournaments")))
    await assert_told(
        eve, [Told(path, (needs, "another token"), ("--token",), 403) for path in PAGES]
    )
    for path in PAGES:
        asked = await site.browse().get(path)
        assert asked.headers["location"].startswith("/sign-in"), path


@pytest.mark.settings(registration="invitation")
async def test_acts_stand_where_they_are_done(site: SiteInTest, server: ServerInTest) -> None:
    """On the page of a game, of a tournament and of a bot, for operators alone."""
    names = ("ada", "bob")
    peers = [await server.bot(name, token=await server.register(name)) for name in names]
    browsing = await operator(site)
    await browsing.post("/manage/tournaments", **FORM)
    for peer in peers:
        await peer.started()
    acts = {
        "/games/1": 'action="/manage/games"',
        "/tournaments/1": 'action="/manage/tournaments/1/cancel"',
        "/bots/ada": 'href="/account/bots/ada"',
    }
    eve = await site.signed_in(await server.token("owner", "eve"))
    for path, act in acts.items():
        assert act in (await browsing.get(path)).text, path
        assert act not in (await eve.get(path)).text, path


async def test_a_tournament_is_made_cancelled_and_resumed(
    site: SiteInTest, server: ServerInTest
) -> None:
    """By forms; one that can't be is shown again with what was filled in."""
    for name in ("ada", "bob"):
        await server.register(name)
    browsing = await operator(site)
    wrong = await browsing.post("/manage/tournaments", **{**FORM, "bots": "ada eve"})
    assert wrong.status == 400
    assert "no bot &#34;eve&#34;" in wrong.text
    assert "Friday &amp; Saturday" in wrong.text
    assert '<input type="checkbox" name="bots" value="ada" checked>' in wrong.text
    assert '<input type="checkbox" name="bots" value="bob">' in wrong.text
    assert ">eve</textarea>" in wrong.text
    ticked = [*{**FORM, "bots": "ada", "rated": "on"}.items(), ("bots", "bob"), ("bots", "")]
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN}
    body = urlencode(ticked).encode()
    made = await browsing.send("POST", "/manage/tournaments", body, headers)
    key = made.headers["location"].rpartition("/")[2]
    page = (await browsing.get("/manage/tournaments")).text
    assert f"/manage/tournaments/{key}/cancel" in page
    for action, state in (("cancel", 3), ("resume", 1)):
        await browsing.post(f"/manage/tournaments/{key}/{action}")
        found = await server.report(key)
        assert found.tournament.state == state
    assert not found.tournament.settings.unrated


@pytest.mark.settings
async def test_a_game_is_voided_and_played_again(site: SiteInTest) -> None:
    black, white = await site.server.pair()
    await play_moves((black, white), FIVE)
    await black.ended()
    browsing = await operator(site)
    key = black.start.game_id
    assert f'value="{key}"' in (await browsing.get(f"/manage?game={key}")).text
    assert "void-game" not in (await browsing.get(f"/games/{key}")).text
    answer = await browsing.post("/manage/games", game=key, reason="the light was out")
    assert answer.headers["location"] == f"/games/{key}"
    assert "void-game" in (await browsing.get(f"/games/{key}")).text
    again = await black.started()
    assert again.game_id != key
    assert (await browsing.post("/manage/games", game=key, reason="twice")).status == 400


async def test_bots_are_banned_and_renamed(site: SiteInTest, server: ServerInTest) -> None:
    """And the log tells of it, with paging and by whom it is about."""
    await server.register("ada")
    browsing = await operator(site)
    to = await browsing.get("/manage/bots?name=ada")
    assert to.headers["location"] == "/account/bots/ada"
    assert 'value="ban"' in (await browsing.get("/account/bots/ada")).text
    done = await browsing.post("/manage/bots", name="ada", action="ban", text="<i>it cheats</i>")
    page = (await browsing.get(done.headers["location"])).text
    assert "&lt;i&gt;it cheats&lt;/i&gt;" in page
    assert ('value="unban"' in page, 'value="ban"' in page) == (True, False)
    await browsing.post("/manage/bots", name="ada", action="unban")
    done = await browsing.post("/manage/bots", name="ada", action="rename", text="eve")
    assert done.headers["location"] == "/account/bots/eve"
    page = (await browsing.get("/manage/audit?of=ada")).text
    acts = re.findall(
        r'<th scope="row" class="lead">([\w ]+) <bdi[^>]*>(?:<span>)?bot ada(?:</span>)?</bdi>',
        page,
    )
    assert acts == ["rename", "unban", "ban", "register"]
    assert "&lt;i&gt;it cheats" in page
    assert "ipv4:" not in page
    assert "<b>name</b> <bdi>ada</bdi> → <bdi>eve</bdi>" in page


def test_act_tells_what_has_changed() -> None:
    """Field by field, also of objects in it; whole numbers are whole, and what is new has no past."""
    act = pb.Act()
    act.before.update({"name": "ada", "games": 2000, "limits": {"a": 1, "b": 2.5}})
    act.after.update({"name": "ada", "games": 2001, "limits": {"a": 1}, "note": "", "tags": ["x"]})
    assert changes(act) == [
        ("games", "2000", "2001"),
        ("limits.b", "2.5", ""),
        ("tags", "", '["x"]'),
    ]
    assert changes(pb.Act()) == []


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:127.0.0.1:0", "127.0.0.1"),
        ("ipv6:%5B::1%5D:50051", "::1"),
        ("ipv6:[::1]:0", "::1"),
        ("unix:/run/a.sock", "unix:/run/a.sock"),
        ("", ""),
    ],
)
def test_peer_is_told_by_its_host(peer: str, host: str) -> None:
    assert host_of(peer) == host


@pytest.mark.settings(registration="invitation")
async def test_invitations_are_made_and_revoked(site: SiteInTest, server: ServerInTest) -> None:
    """The secret is shown once, and makes an owner."""
    browsing = await operator(site)
    made = await browsing.post("/manage/invitations", uses="2", days="3", quota="")
    await server.ask("OwnerService/Join", invitation=secret_of(made), name="eve")
    page = (await browsing.get("/manage/invitations")).text
    (path,) = re.findall(r"/manage/invitations/\d+/revoke", page)
    assert (await browsing.post(path)).status == 303
    assert "There are none." in (await browsing.get("/manage/invitations")).text
    assert (await browsing.post("/manage/invitations", uses="many")).status == 400
