"""The pages of webhooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from tests.server.webhooks.receivers import Receiver
from tests.web.browsing import Browsing
from tests.web.conftest import OpenSite, SiteInTest

from meijin.server.settings import Registration
from meijin.testing.desk import Desk

LOOPBACK = {"webhook_networks": "127.0.0.0/8"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that takes everything."""
    with Receiver().running() as receiver:
        yield receiver


async def signed_in(site: SiteInTest, token: str) -> Browsing:
    """One who has signed in."""
    browsing = site.browse()
    assert (await browsing.post("/sign-in", token=token, next="/webhooks")).status == 303
    return browsing


async def test_a_webhook_from_its_making_to_its_end(
    open_site: OpenSite, receiver: Receiver
) -> None:
    """By forms alone: the secret is shown once, a test arrives and is sent again."""
    async with open_site(**LOOPBACK) as site:
        browsing = site.browse()
        assert "You have no webhook yet" in (await browsing.get("/webhooks")).text
        asked = {"url": receiver.url, "format": "standard", "event": "game.ended"}
        made = await browsing.post("/webhooks", **asked)
        found = re.search(r"whsec_[\w+/=]+", made.text)
        assert found is not None
        assert made.headers["cache-control"] == "no-store"
        assert "whsec_" not in (await browsing.get("/webhooks/1")).text
        listed = (await browsing.get("/webhooks")).text
        assert 'href="/webhooks/1"' in listed
        assert "whsec_" not in listed
        sent = await browsing.post("/webhooks/1/test")
        assert (sent.status, sent.headers["location"]) == (303, "/webhooks/1")
        await site.server.until(lambda: not receiver.received.empty())
        first = receiver.next()
        assert first.is_signed_by(found[0])
        await site.server.until(lambda: not site.server.app.webhooks._sending)
        assert "HTTP 204" in (await browsing.get("/webhooks/1")).text
        await browsing.post("/webhooks/1/deliveries/1")
        await site.server.until(lambda: not receiver.received.empty())
        assert receiver.next().headers["webhook-id"] == first.headers["webhook-id"]
        rotated = re.search(r"whsec_[\w+/=]+", (await browsing.post("/webhooks/1/rotate")).text)
        assert rotated is not None
        assert rotated[0] != found[0]
        assert (await browsing.post("/webhooks/1/delete")).headers["location"] == "/webhooks"
        assert (await browsing.get("/webhooks/1")).status == 404


async def test_what_is_refused_is_said_where_it_was_asked(open_site: OpenSite) -> None:
    """With what was typed, escaped, so that it can be mended."""
    async with open_site() as site:
        url = 'http://"><script>alert(1)</script>'
        answer = await site.browse().post("/webhooks", url=url, bot="<b>", event="game.ended")
        assert answer.status == 400
        assert "it must be https" in answer.text
        assert "<script>alert" not in answer.text
        assert "&lt;b&gt;" in answer.text
        assert 'value="game.ended" checked' in answer.text


async def test_a_disabled_webhook_can_be_enabled(open_site: OpenSite) -> None:
    """And is sent no test before."""
    async with open_site(**LOOPBACK) as site:
        browsing = site.browse()
        await browsing.post("/webhooks", url="http://127.0.0.1:1/")
        reason = text("UPDATE webhook SET disable_reason = 'it is gone'")
        site.server.database.write(lambda to: to.execute(reason))
        page = (await browsing.get("/webhooks/1")).text
        assert "disabled: it is gone" in page
        assert 'action="/webhooks/1/test"' not in page
        assert (await browsing.post("/webhooks/1/test")).status == 400
        assert (await browsing.post("/webhooks/1/enable")).status == 303
        assert "disabled" not in (await browsing.get("/webhooks/1")).text


async def test_webhooks_are_for_those_who_have_signed_in(open_site: OpenSite) -> None:
    """An owner sees its own; another's is as unknown as none."""
    async with open_site(registration=Registration.CLOSED) as site:
        asked = await site.browse().get("/webhooks")
        assert (asked.status, asked.headers["location"]) == (303, "/sign-in?next=%2Fwebhooks")
        assert (await site.browse().post("/webhooks", url="https://example.org/")).status == 401
        desk = Desk(site.server, await site.server.channel())
        eve = await signed_in(site, await desk.token("owner", "eve"))
        bob = await signed_in(site, await desk.token("owner", "bob"))
        await eve.post("/webhooks", url="https://93.184.216.34/hers")
        assert "93.184.216.34/hers" in (await eve.get("/webhooks")).text
        assert "93.184.216.34/hers" not in (await bob.get("/webhooks")).text
        for answer in (await bob.get("/webhooks/1"), await bob.post("/webhooks/1/delete")):
            assert answer.status == 404
