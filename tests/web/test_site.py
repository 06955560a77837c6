"""The site as a whole: refusals, sessions, what browsers are told, and the page cache."""

from __future__ import annotations

import pytest
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest


async def test_page_is_sent_once(browsing: Browsing) -> None:
    """A browser that has it already is told so."""
    first = await browsing.get("/", accept_encoding="gzip")
    assert first.headers["content-encoding"] == "gzip"
    again = await browsing.get("/", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


async def test_browsers_load_nothing_else(site: SiteInTest) -> None:
    """Every answer forbids what is inline, of other hosts, or in a frame."""
    for path in ("/", "/nothing", "/static/x/y"):
        headers = (await site.browse().get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


async def test_programs_find_what_they_ask_for(browsing: Browsing) -> None:
    """An icon that fits into a packet, and what a crawler may read; they are kept for a day."""
    icon = await browsing.get("/favicon.ico")
    assert (icon.status, icon.body[:4], len(icon.body) < 1200) == (200, b"\0\0\1\0", True)
    robots = await browsing.get("/robots.txt")
    assert robots.headers["content-type"] == "text/plain; charset=utf-8"
    assert robots.headers["cache-control"] == "public, max-age=86400"
    assert "Disallow: /api/\n" in robots.text


async def test_forms_of_others_are_refused(site: SiteInTest) -> None:
    """A form counts only where a page of ours has sent it."""
    others: tuple[dict[str, str], ...] = (
        {},
        {"origin": "http://evil.example"},
        {"sec_fetch_site": "cross-site"},
    )
    for headers in others:
        assert (await site.browse().send("POST", "/sign-out", b"", headers)).status == 403


async def test_other_names_are_refused(site: SiteInTest) -> None:
    """A page elsewhere whose name leads to this machine reads nothing."""
    assert (await site.browse().get("/", host="evil.example")).status == 421


@pytest.mark.settings(registration="closed", reading="token")
async def test_sign_in(site: SiteInTest, browsing: Browsing) -> None:
    """A right token opens a session, which signing out ends; a wrong one is told."""
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


async def test_sign_in_leads_to_no_other_host(site: SiteInTest) -> None:
    """Whatever page is asked for, it is one of ours."""
    for to in ("https://evil.example", "//evil.example", "/\\evil.example", ""):
        token = site.server.operator_token
        answer = await site.browse().post("/sign-in", token=token, next=to)
        assert answer.headers["location"] == "/account", to
