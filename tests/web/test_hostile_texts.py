"""Hostile texts of others, in every field that the contract has: no page takes them for its own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from tests.web.browsing import Browsing
from tests.web.filled import FORMS, PLACES, filled
from tests.web.prepared import PreparedGateway

from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

HOSTILE = "<script>alert(1)</script>\"'><b onclick=x> \u202eevil\u2066\x07"
FORBIDDEN = ("<script>alert", "<b onclick", "\u202e", "\u2066", "\x07")
ADDRESSES = (
    *FORMS,
    "/webhooks/3",
    "/ladders/{ladder}?q=" + quote(HOSTILE),
    "/games?bot=" + quote(HOSTILE),
)


@pytest.fixture(scope="module")
def app() -> Iterator[Starlette]:
    site = SiteState(
        PreparedGateway(lambda _, read: filled(read(b""), lambda _: HOSTILE)), SiteSettings()
    )
    yield application(site)
    site.cache.close()


@pytest.mark.parametrize("form", ADDRESSES)
async def test_texts_of_others_are_only_texts(app: Starlette, form: str) -> None:
    """Whatever field holds them they are escaped, and turn no text around."""
    browsing = Browsing(app)
    await browsing.post("/sign-in", token="mj_x", next="/")
    found = await browsing.get(form.format_map(PLACES))
    assert found.status in {200, 303}, found.text
    assert [words for words in FORBIDDEN if words in found.text] == []
