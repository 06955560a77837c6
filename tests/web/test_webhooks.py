"""The pages of webhooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from tests.server.webhooks.receivers import Receiver
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest

pytestmark = pytest.mark.settings(webhook_networks="127.0.0.0/8")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().running() as receiver:
        yield receiver


async def test_a_webhook_from_its_making_to_its_end(
    site: SiteInTest, browsing: Browsing, receiver: Receiver
) -> None:
    """By forms alone: the secret is shown once, a test arrives and is sent again."""
    await site.server.bot("ada")
    none = (await browsing.get("/webhooks")).text
    assert "You have no webhook yet" in none
    assert '<option value="ada">ada</option>' in none
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


@pytest.mark.settings
async def test_what_is_refused_is_said_where_it_was_asked(site: SiteInTest) -> None:
    """With what was typed, escaped, so that it can be mended."""
    url = 'http://"><script>alert(1)</script>'
    answer = await site.browse().post("/webhooks", url=url, bot="<b>", event="game.ended")
    assert answer.status == 400
    assert "it must be https" in answer.text
    assert "<script>alert" not in answer.text
    assert "&lt;b&gt;" in answer.text
    assert 'value="game.ended" checked' in answer.text


async def test_a_disabled_webhook_can_be_enabled(site: SiteInTest, browsing: Browsing) -> None:
    await browsing.post("/webhooks", url="http://127.0.0.1:1/")
    reason = text("UPDATE webhook SET disable_reason = 'it is gone'")
    site.server.database.write(lambda to: to.execute(reason))
    page = (await browsing.get("/webhooks/1")).text
    assert "disabled: it is gone" in page
    assert 'action="/webhooks/1/test"' not in page
    assert (await browsing.post("/webhooks/1/test")).status == 400
    assert (await browsing.post("/webhooks/1/enable")).status == 303
    assert "disabled" not in (await browsing.get("/webhooks/1")).text


@pytest.mark.settings(registration="closed")
async def test_webhooks_are_for_those_who_have_signed_in(browsing: Browsing) -> None:
    asked = await browsing.get("/webhooks")
    assert (asked.status, asked.headers["location"]) == (303, "/sign-in?next=%2Fwebhooks")
    assert (await browsing.post("/webhooks", url="https://example.org/")).status == 401
