"""Pages of bots: the list, and one with everything that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.web.conftest import OpenSite, SiteInTest

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.web.histories import rating_chart
from meijin.web.labels import capability_labels
from meijin.web.pages import bots as bots_page

if TYPE_CHECKING:
    import pytest

HOSTILE = "Ada <script>gnorts"


async def text_of(site: SiteInTest, path: str, status: int = 200) -> str:
    """A page's text."""
    answer = await site.browse().get(path)
    assert answer.status == status, answer.text
    return answer.text


async def play_one(site: SiteInTest, **settings: Any) -> None:
    """Have ada lose a game to bob by her own fault."""
    black, white = await site.server.pair(rounds=1, **settings)
    await black.fail((await black.turn()).game, "ValueError: <odd>")
    await white.ended()


async def test_list_is_searched_and_paged(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name or display name, those that are there; names of others are shown as they are."""
    monkeypatch.setattr(bots_page, "SHOWN", 2)
    async with open_site() as site:
        service = await site.server.bots()
        assert "No such bot" in await text_of(site, "/bots")
        for name, called in (("ada", HOSTILE), ("bob", ""), ("eve", "")):
            await service.RegisterBot(pb.RegisterBotRequest(name=name, display_name=called))
    async with open_site() as site:
        page = await text_of(site, "/bots")
        assert "Ada &lt;script&gt;gnorts" in page
        assert "page=bob" in page
        rest = await text_of(site, "/bots?page=bob")
        assert 'href="/bots/eve"' in rest
        assert 'href="/bots/ada"' not in rest
        found = await text_of(site, "/bots?search=GNORTS")
        assert 'href="/bots/ada"' in found
        assert 'href="/bots/bob"' not in found
        assert "No such bot" in await text_of(site, "/bots?connected=1")
        assert "60 characters" in await text_of(site, "/bots?search=" + "a" * 61, status=400)


async def test_page_of_a_bot(open_site: OpenSite) -> None:
    """Its results, its faults with their evidence, and its games."""
    async with open_site() as site:
        await play_one(site)
        page = await text_of(site, "/bots/ada")
        for part in ("Versions", "Most met", "By opening", "By ending", "Last games"):
            assert f">{part}<" in page
        assert "crash" in page
        assert "ValueError: &lt;odd&gt;" in page
        assert "All 1 games with a result are counted" in page
        assert 'href="/games/1"' in page
        assert "Rules: " in page


async def test_page_of_no_bot(open_site: OpenSite) -> None:
    """Says so."""
    async with open_site() as site:
        assert "no bot &#34;nobody&#34;" in await text_of(site, "/bots/nobody", status=404)


async def test_head_to_head(open_site: OpenSite) -> None:
    """With another that is named; a wrong name is told on the page."""
    async with open_site() as site:
        await play_one(site)
        assert "These versions" in await text_of(site, "/bots/ada?against=bob")
        page = await text_of(site, "/bots/ada?against=nobody")
        assert "no bot &#34;nobody&#34;" in page
        assert "These versions" not in page


async def test_page_is_kept_while_nothing_happens(open_site: OpenSite) -> None:
    """A bot that is there was seen just now, which changes nothing that is shown."""
    async with open_site() as site:
        await site.server.bot("ada")
        browsing = site.browse()
        first = (await browsing.get("/bots")).headers["etag"]
        site.shell.cache._pages.clear()
        assert (await browsing.get("/bots")).headers["etag"] == first


def test_history_has_a_line_for_each_version() -> None:
    """Over the days of all of them."""
    ratings = [
        pb_day("2026-01-03", "2.0", 1600.04),
        pb_day("2026-01-02", "2.0", 1590),
        pb_day("2026-01-02", "", 1500),
        pb_day("2026-01-01", "", 1490),
    ]
    chart = rating_chart(ratings, "freestyle")
    assert [int(x) % 86400 for x in chart.x] == [0, 0, 0]
    assert list(chart.x) == sorted(chart.x)
    newer, older = chart.series
    assert (newer.label, list(newer.values)) == ("2.0", [None, 1590, 1600])
    assert newer.high is not None
    assert list(newer.high) == [None, 1600, 1610]
    assert (older.label, list(older.values)) == ("no label", [1490, 1500, None])


def pb_day(day: str, version: str, elo: float) -> ladder_pb.DayRating:
    """A rating at the end of a day."""
    return ladder_pb.DayRating(day=day, version=version, elo=elo, margin=10)


def test_capabilities_of_a_later_release() -> None:
    """What this one does not know is said, and no failure."""
    assert capability_labels(pb.Bot().capabilities)[0] == "Rules: freestyle"
    later = pb.Bot().capabilities
    later.min_board_size, later.max_board_size = 20, 10
    assert capability_labels(later)
