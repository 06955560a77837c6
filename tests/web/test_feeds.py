"""Atom feeds, as a reader takes them."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from tests.server.webhooks.test_events import publish
from tests.web.browsing import ORIGIN, Answer
from tests.web.conftest import OpenSite

from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE

ATOM = "{http://www.w3.org/2005/Atom}"


def texts(answer: Answer, name: str) -> list[str]:
    """What the entries of a feed say in an element."""
    feed = ET.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}{name}") or "" for entry in feed.findall(f"{ATOM}entry")]


async def test_a_bots_feed(open_site: OpenSite) -> None:
    """Its ended games, versions and faults, newest first, with what a feed has to have."""
    async with open_site() as site:
        black, white = await site.server.pair(unrated=True, rounds=2)
        await play_moves((black, white), FIVE)
        for peer in (black, white):
            await peer.ended()
        name = black.name
        answer = await site.browse().get(f"/bots/{name}.atom")
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
        titles = texts(answer, "title")
        assert f"{name} (black) against {white.name}: {name} wins by five" in titles
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


async def test_a_feed_is_sent_once(open_site: OpenSite) -> None:
    """A reader that has it already is told so."""
    async with open_site() as site:
        await site.server.bot("ada", version="1.0")
        browsing = site.browse()
        first = await browsing.get("/bots/ada.atom")
        assert texts(first, "title") == ["New version of ada: 1.0"]
        again = await browsing.get("/bots/ada.atom", if_none_match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")


async def test_what_is_hostile_is_text(open_site: OpenSite) -> None:
    """Versions are called as their authors like."""
    async with open_site() as site:
        await site.server.bot("ada", version="</title><b>&\ufffe]]>")
        answer = await site.browse().get("/bots/ada.atom")
        assert texts(answer, "title") == ["New version of ada: </title><b>&]]>"]


async def test_a_ladders_feed(open_site: OpenSite) -> None:
    """A run that was published is an entry, with the address of its table."""
    async with open_site() as site:
        await site.server.pair()
        browsing = site.browse()
        path = "/ladders/freestyle-5x5-classical"
        assert texts(await browsing.get(f"{path}.atom?before"), "id") == []
        site.server.database.write(publish)
        answer = await browsing.get(f"{path}.atom")
        assert texts(answer, "id") == [f"{ORIGIN}{path}?run=1"]
        assert texts(answer, "title") == ["Run 1: 1 rated games"]


async def test_nothing_is_fed_of_what_is_not_there(open_site: OpenSite) -> None:
    """An unknown name is no empty feed."""
    async with open_site() as site:
        for path in ("/bots/nobody.atom", "/ladders/nothing.atom"):
            assert (await site.browse().get(path)).status == 404
