"""The page of the server's status."""

from __future__ import annotations

from tests.web.conftest import OpenSite


async def test_what_goes_on(open_site: OpenSite) -> None:
    """Bots, games, ladders and what does not answer."""
    async with open_site() as site:
        black, _white = await site.server.pair(rounds=1)
        await black.resign((await black.turn()).game)
        await black.ended()
        page = (await site.browse().get("/status")).text
        assert "All is well." in page
        assert '<a href="/bots?connected=1">2</a>' in page
        assert "freestyle-5x5" in page
        assert "none yet" in page
        assert "does not answer" in page  # the queue: the test's server has none


async def test_about_to_stop(open_site: OpenSite) -> None:
    """It is said."""
    async with open_site() as site:
        site.server.parts.lobby.drain()
        page = (await site.browse().get("/status")).text
        assert "about to stop" in page
        assert "All is well" not in page
