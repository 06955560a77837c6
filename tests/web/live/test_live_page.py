"""The page of live boards."""

from __future__ import annotations

import pytest
from tests.web.conftest import OpenSite

from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE
from meijin.web.pages.live import clock_text


async def test_boards_are_there_without_scripts(open_site: OpenSite) -> None:
    """With their players, clocks and stones; by tournament too."""
    async with open_site() as site:
        browsing = site.browse()
        assert "Nothing is being played right now" in (await browsing.get("/live")).text
    async with open_site() as site:
        players = await site.server.pair(name="Friday <cup>")
        await play_moves(players, FIVE[:3])
        await players[1].turn()
        for path in ("/live", "/live?tournament=1"):
            page = (await site.browse().get(path)).text
            assert 'data-game="1"' in page
            assert "5x5, 3 moves" in page
            assert "Friday &lt;cup&gt;" in page
            assert "One game is being played" in page
            assert "10:00" in page
        assert 'data-live="tournament:1"' in page
        assert site.shell.live.is_idle


@pytest.mark.parametrize(
    ("query", "status"), [("tournament=99", 404), ("tournament=x", 400), ("tournament=0", 400)]
)
async def test_a_tournament_that_there_is_none_of(
    open_site: OpenSite, query: str, status: int
) -> None:
    """Is told in words."""
    async with open_site() as site:
        assert (await site.browse().get(f"/live?{query}")).status == status


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0:00.0"),
        (9_999, "0:09.9"),
        (10_000, "0:10"),
        (61_000, "1:01"),
        (3_600_000, "1:00:00"),
        (86_461_000, "24:01:01"),
    ],
)
def test_clocks_are_written(milliseconds: int, text: str) -> None:
    """Minutes and seconds, with tenths when there are few."""
    assert clock_text(milliseconds) == text
