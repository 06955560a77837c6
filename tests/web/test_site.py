"""The site as a whole: refusals, sessions, what browsers are told, and the page cache."""

from __future__ import annotations

import pytest
from tests.web.conftest import OpenSite

from meijin.server.settings import Reading, Registration


async def test_front_page_shows_what_there_is(open_site: OpenSite) -> None:
    """Tournaments and games are on it as soon as there are some."""
    async with open_site() as site:
        browsing = site.browse()
        assert "No tournament was made yet" in (await browsing.get("/")).text
    async with open_site() as site:
        await site.server.pair(name="Friday & Saturday")
        page = (await site.browse().get("/")).text
        assert "Friday &amp; Saturday" in page
        assert 'href="/bots/ada"' in page


async def test_page_is_sent_once(open_site: OpenSite) -> None:
    """A browser that has it already is told so."""
    async with open_site() as site:
        browsing = site.browse()
        first = await browsing.get("/", accept_encoding="gzip")
        assert first.headers["content-encoding"] == "gzip"
        again = await browsing.get("/", if_none_match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")


async def test_browsers_load_nothing_else(open_site: OpenSite) -> None:
    """Every answer forbids what is inline, of other hosts, or in a frame."""
    async with open_site() as site:
        for path in ("/", "/nothing", "/static/x/y"):
            headers = (await site.browse().get(path)).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}],
)
async def test_forms_of_others_are_refused(open_site: OpenSite, headers: dict[str, str]) -> None:
    """A form counts only where a page of ours has sent it."""
    async with open_site() as site:
        answer = await site.browse().send("POST", "/sign-out", b"", headers)
        assert answer.status == 403


async def test_other_names_are_refused(open_site: OpenSite) -> None:
    """A page elsewhere whose name leads to this machine reads nothing."""
    async with open_site() as site:
        assert (await site.browse().get("/", host="evil.example")).status == 421


async def test_sign_in(open_site: OpenSite) -> None:
    """A right token opens a session, which signing out ends; a wrong one is told."""
    async with open_site(registration=Registration.CLOSED, reading=Reading.TOKEN) as site:
        browsing = site.browse()
        asked = await browsing.get("/")
        assert (asked.status, asked.headers["location"]) == (303, "/sign-in?next=%2F")
        wrong = await browsing.post("/sign-in", token="mj_wrong", next="/")
        assert wrong.status == 401
        assert "unknown token" in wrong.text
        right = await browsing.post("/sign-in", token=site.server.operator_token, next="/")
        assert (right.status, right.headers["location"]) == (303, "/")
        assert "HttpOnly" in right.headers["set-cookie"]
        assert (await browsing.get("/")).status == 200
        await browsing.post("/sign-out")
        assert (await browsing.get("/")).status == 303


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "/\\evil.example", ""])
async def test_sign_in_leads_to_no_other_host(open_site: OpenSite, to: str) -> None:
    """Whatever page is asked for, it is one of ours."""
    async with open_site() as site:
        answer = await site.browse().post("/sign-in", token=site.server.operator_token, next=to)
        assert answer.headers["location"] == "/account"


async def test_missing_page_says_what_to_do(open_site: OpenSite) -> None:
    """A page that there is none of has the menu."""
    async with open_site() as site:
        answer = await site.browse().get("/no/such/page")
        assert answer.status == 404
        assert "the menu leads" in answer.text


async def test_long_address_is_refused(open_site: OpenSite) -> None:
    """Nobody fills the cache with addresses of any length."""
    async with open_site() as site:
        assert (await site.browse().get("/?" + "a" * 3000)).status == 414
