"""Atom feeds, as a reader takes them."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from tests.peer import play_moves
from tests.server.webhooks.test_events import publish
from tests.server_in_test import FIVE
from tests.web.browsing import ORIGIN, Answer, Browsing
from tests.web.conftest import SiteInTest

from meijin.web.wording import text

ATOM = "{http://www.w3.org/2005/Atom}"


def texts(answer: Answer, name: str) -> list[str]:
    feed = ET.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}{name}") or "" for entry in feed.findall(f"{ATOM}entry")]


async def test_a_bots_feed(site: SiteInTest) -> None:
    """Its ended games, versions and faults, newest first, with what a feed has to have."""
    black, white = await site.server.pair(unrated=True, rounds=2)
    await play_moves((black, white), FIVE)
    for peer in (black, white):
        await peer.ended()
    name = black.name
    answer = await site.browse().get(f"/bots/{name}.atom")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    titles = texts(answer, "title")
    assert f"{name} {text('labels.black_wins')} {white.name}" in titles
    assert f"New version of {name}" in titles
    feed = ET.fromstring(answer.text)
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {
        "self": f"{ORIGIN}/bots/{name}.atom",
        "alternate": f"{ORIGIN}/bots/{name}",
    }
    updated = texts(answer, "updated")
    assert updated == sorted(updated, reverse=True)
    assert feed.findtext(f"{ATOM}updated") == updated[0]
    ids = texts(answer, "id")
    assert f"{ORIGIN}/games/1" in ids
    assert len(set(ids)) == len(ids)


async def test_what_is_hostile_is_text(site: SiteInTest) -> None:
    """Versions are called as their authors like."""
    await site.server.bot("ada", version="</title><b>&\ufffe]]>")
    answer = await site.browse().get("/bots/ada.atom")
    assert texts(answer, "title") == ["New version of ada: </title><b>&]]>"]


async def test_a_ladders_feed(site: SiteInTest, browsing: Browsing) -> None:
    """A run that was published is an entry, with the address of its table."""
    await site.server.pair()
    path = "/ladders/freestyle-5x5-classical"
    assert texts(await browsing.get(f"{path}.atom?before"), "id") == []
    site.server.database.write(publish)
    answer = await browsing.get(f"{path}.atom")
    assert texts(answer, "id") == [f"{ORIGIN}{path}?run=1"]
    assert texts(answer, "title") == ["Run 1: 1 rated game"]
