"""Pages of tournaments: the list, and one with its tables, its bracket or its test."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.web.conftest import OpenSite, SiteInTest

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web import game_files
from meijin.web.pages import tournament as tournament_page
from meijin.web.sprt_charts import elo_chart, llr_chart

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from meijin.testing.peer import Peer


async def resign(peer: Peer) -> None:
    """Resign every game for ever."""
    while True:
        await peer.resign((await peer.started()).game)


@asynccontextmanager
async def played(site: SiteInTest, *bots: str, **settings: Any) -> AsyncIterator[str]:
    """A tournament that has ended, of bots of which the last one resigns all games."""
    peers = [await site.server.bot(name, max_games=4) for name in bots]
    *others, loser = peers
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(peer.play_out(1_000_000)) for peer in others
    ]
    tasks.append(asyncio.create_task(resign(loser)))
    key = await site.server.tournament(*bots, **settings)
    await site.server.until_finished(key)
    yield key
    for task in tasks:
        task.cancel()


async def text_of(site: SiteInTest, path: str, status: int = 200) -> str:
    """A page's text."""
    answer = await site.browse().get(path)
    assert answer.status == status, answer.text
    return answer.text


async def test_round_robin(open_site: OpenSite) -> None:
    """The list, the page with its crosstable, and the files."""
    async with (
        open_site() as site,
        played(site, "ada", "bob", name="<b>Cup</b>", rounds=2) as key,
    ):
        assert "&lt;b&gt;Cup&lt;/b&gt;" in await text_of(site, "/tournaments")
        page = await text_of(site, f"/tournaments/{key}")
        assert "&lt;b&gt;Cup&lt;/b&gt;" in page
        assert ">Crosstable<" in page
        assert "2 of 2" in page
        table = await text_of(site, f"/tournaments/{key}/crosstable.csv")
        assert list(csv.reader(io.StringIO(table)))[1][:4] == ["1", "ada", "", "2.0"]
        lines = (await text_of(site, f"/tournaments/{key}/games.jsonl")).splitlines()
        assert [json.loads(line)["white"]["name"] for line in lines] == ["ada", "bob"]
        assert (await text_of(site, f"/tournaments/{key}/games.sgf")).count("(;") == 2
        assert "there are: sgf" in await text_of(site, f"/tournaments/{key}/games.x", status=404)


async def test_unknown_tournament(open_site: OpenSite) -> None:
    """Has no page and no files."""
    async with open_site() as site:
        for path in ("/tournaments/7", "/tournaments/7/games.sgf", "/tournaments/7/crosstable.csv"):
            assert "no tournament 7" in await text_of(site, path, status=404)
        assert "are numbers" in await text_of(site, "/tournaments/x", status=400)


async def test_sequential_test(open_site: OpenSite) -> None:
    """How its ratio moved, between the bounds."""
    sprt = pb.Sprt(elo0=0, elo1=100)
    form = pb.TOURNAMENT_FORMAT_SPRT
    async with (
        open_site() as site,
        played(site, "ada", "bob", format=form, sprt=sprt, rounds=0) as key,
    ):
        page = await text_of(site, f"/tournaments/{key}")
        assert "the second hypothesis is accepted" in page
        assert "How the ratio moved" in page
        assert "How the estimate moved" in page
        assert "Pairs of games by their points" in page


async def test_knockout(open_site: OpenSite) -> None:
    """A bracket whose last round is the final."""
    form = pb.TOURNAMENT_FORMAT_KNOCKOUT
    async with open_site() as site:
        for name in ("ada", "bob", "cid"):
            await site.server.bot(name)
        key = await site.server.tournament("ada", "bob", "cid", format=form, rounds=0)
        page = await text_of(site, f"/tournaments/{key}")
        assert ">Bracket<" in page
        assert ">Final<" in page


async def test_swiss(open_site: OpenSite) -> None:
    """Its rounds, with who met whom."""
    form = pb.TOURNAMENT_FORMAT_SWISS
    async with open_site() as site, played(site, "ada", "bob", format=form, rounds=1) as key:
        page = await text_of(site, f"/tournaments/{key}")
        assert "Round 1" in page
        assert ">Standings<" in page


async def test_large_crosstable_is_a_file(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says where it is."""
    monkeypatch.setattr(tournament_page, "MAX_COLUMNS", 1)
    async with open_site() as site, played(site, "ada", "bob", rounds=1) as key:
        page = await text_of(site, f"/tournaments/{key}")
        assert "too large for a page" in page
        assert ">Crosstable<" not in page


async def test_files_at_once_are_bounded(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is told to come again."""
    monkeypatch.setattr(game_files, "_turns", asyncio.Semaphore(0))
    async with open_site() as site, played(site, "ada", "bob", rounds=1) as key:
        answer = await site.browse().get(f"/tournaments/{key}/games.sgf")
        assert (answer.status, answer.headers["retry-after"]) == (429, "30")


async def test_reader_that_stops_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turn goes to others, and no more games are read for it."""
    monkeypatch.setattr(game_files, "PATIENCE", timedelta(milliseconds=1))
    turns = asyncio.Semaphore(1)
    monkeypatch.setattr(game_files, "_turns", turns)
    read: list[int] = []

    async def parts() -> AsyncIterator[bytes]:
        for number in range(10):
            read.append(number)
            yield b"x"

    async def send(message: Any) -> None:
        if message.get("body"):
            await asyncio.Event().wait()

    await game_files.GameFile(parts()).stream_response(send)
    assert read == [0]
    assert not turns.locked()


def test_chart_of_a_test_without_results() -> None:
    """Has its bounds and nothing else."""
    path = pb.ListTestPointsResponse(lower=-2.9, upper=2.9)
    assert not llr_chart(path).x
    assert [mark.value for mark in llr_chart(path).marks] == [-2.9, 2.9]
    assert not elo_chart(path).x


def test_first_estimates_are_left_out() -> None:
    """They are too wide to see the others beside them."""
    points = [pb.TestPoint(games=games, elo=games) for games in (1, 5, 10, 100)]
    points[2].ClearField("elo")
    assert list(elo_chart(pb.ListTestPointsResponse(points=points)).x) == [100]
    assert list(elo_chart(pb.ListTestPointsResponse(points=points[:2])).x) == [1, 5]
