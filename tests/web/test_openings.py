"""The openings explorer."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.ladder.counted import count_openings
from tests.web.conftest import OpenSite

from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE

SMALL = "variant=freestyle+5x5"


def links(page: str) -> list[str]:
    """Where the page leads to within the explorer."""
    return [each.replace("&amp;", "&") for each in re.findall(r'href="(/openings\?[^"]+)"', page)]


async def test_games_are_explored_by_links(open_site: OpenSite) -> None:
    """From the empty board, which its symmetries make one move, to the end, and back."""
    async with open_site() as site:
        black, white = await site.server.pair(rounds=1)
        await play_moves((black, white), FIVE)
        await white.ended()
        await asyncio.to_thread(count_openings, site.server.database)
        browsing = site.browse()
        first = (await browsing.get(f"/openings?{SMALL}")).text
        assert "Games with this position: 1. Black scored 100.0 %" in first
        for corner in ("a5", "e5", "a1", "e1"):
            assert f"/openings?{SMALL}&moves={corner}" in links(first)
        assert "freestyle 5x5 (games: 1)" in first
        second = (await browsing.get(f"/openings?{SMALL}&moves=e5")).text
        assert "Black has e5. White has no stone." in second
        assert f"/openings?{SMALL}&moves=e5e4" in links(second)
        assert f"/openings?{SMALL}&moves=e5d5" in links(second)
        assert f'rel="prev" href="/openings?{SMALL}"' in second
        last = (await browsing.get(f"/openings?{SMALL}&moves=a5a4b5b4c5c4d5d4e5")).text
        assert "(the game was over)" in last
        assert 'href="/games/' in last
        assert 'href="/bots/ada"' in last
        assert 'explore a5 a4 b5 b4 c5 c4 d5 d4 e5 --variant "freestyle 5x5"' in last


async def test_no_game_is_told(open_site: OpenSite) -> None:
    """Of a variant that nobody has played, by one word or by several."""
    async with open_site() as site:
        for query in (
            "",
            "rule=renju&size=15x15&opening=swap2",
            "variant=caro+9x9",
            "strength=1800-up",
        ):
            answer = await site.browse().get(f"/openings?{query}")
            assert answer.status == 200
            assert "No counted game had this position" in answer.text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("variant=chess", "is no variant"),
        ("variant=99x99", "width 99 is out of range"),
        ("moves=<script>", "no move of the 15x15 board"),
        ("moves=h8h8", "h8"),
        (f"moves={'h8' * 150}", "moves has more than 200 characters"),
        ("moves=a1b1c1d1e1f1g1h1i1j1k1l1m1", "openings are counted to 12"),
        ("strength=strong", "strong"),
        ("rule=renju&size=3x3", "out of range"),
    ],
)
async def test_mistakes_are_told(open_site: OpenSite, query: str, message: str) -> None:
    """In the page's own words, whatever the address holds."""
    async with open_site() as site:
        answer = await site.browse().get(f"/openings?{query}")
        assert answer.status == 400
        assert message in answer.text
        assert "<script>" not in answer.text.replace('<script src="', "")
