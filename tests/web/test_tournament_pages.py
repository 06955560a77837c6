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
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest
from tests.web.telling import Told, assert_told, refused

import meijin.web.pages.tournaments.tournament as tournament_page
from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.pages.tournaments import files as game_files

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.peer import Peer


async def resign(peer: Peer) -> None:
    while True:
        await peer.resign((await peer.started()).game)


async def end(site: SiteInTest, **settings: Any) -> str:
    """A tournament of ada and bob that has ended; its id."""
    key = await site.server.tournament("ada", "bob", **settings)
    await site.server.until_finished(key)
    return key


@asynccontextmanager
async def players(site: SiteInTest) -> AsyncIterator[None]:
    """Ada, who plays anything, and bob, who resigns all games."""
    ada, bob = [await site.server.bot(name, max_games=4) for name in ("ada", "bob")]
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(ada.play_out(1_000_000)),
        asyncio.create_task(resign(bob)),
    ]
    yield
    for task in tasks:
        task.cancel()


async def test_every_format_has_its_page(site: SiteInTest, browsing: Browsing) -> None:
    """A crosstable with files of it and of all games, a test, a bracket, and rounds."""
    sprt = pb.Sprt(elo0=0, elo1=100)
    async with players(site):
        cup = await end(site, name="<b>Cup</b>", rounds=2)
        test = await end(site, format=pb.TOURNAMENT_FORMAT_SPRT, sprt=sprt, rounds=0)
        swiss = await end(site, format=pb.TOURNAMENT_FORMAT_SWISS, rounds=1)
        await site.server.bot("cid")
        knockout = await site.server.tournament(
            "ada", "bob", "cid", format=pb.TOURNAMENT_FORMAT_KNOCKOUT, rounds=0
        )
        named = "&lt;b&gt;Cup&lt;/b&gt;"
        of_test = ("H1 accepted: ada is better", "How the ratio moved")
        pages = (
            Told(
                "/tournaments", (named, "Won by <a", "with 2 points", "H1 accepted", "<svg class")
            ),
            Told(
                f"/tournaments/{cup}",
                (named, ">Crosstable<", "2 of 2", "Won by <a"),
                ("<progress",),
            ),
            Told(f"/tournaments/{test}", of_test),
            Told(
                f"/tournaments/{test}",
                ("Pairs of games by their points", "10 pairs on 10 openings."),
            ),
            Told(f"/tournaments/{swiss}", ("Round 1", ">Standings<")),
            Told(f"/tournaments/{knockout}", (">Bracket<", ">Final<")),
            refused(f"/tournaments/{cup}/games.x", "there are: sgf", status=404),
        )
        await assert_told(browsing, pages)
        table = (await browsing.get(f"/tournaments/{cup}/crosstable.csv")).text
        assert list(csv.reader(io.StringIO(table)))[1][:4] == ["1", "ada", "", "2.0"]
        lines = (await browsing.get(f"/tournaments/{cup}/games.jsonl")).text.splitlines()
        assert [json.loads(line)["white"]["name"] for line in lines] == ["ada", "bob"]
        assert (await browsing.get(f"/tournaments/{cup}/games.sgf")).text.count("(;") == 2


async def test_what_is_too_much_is_told(site: SiteInTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large crosstable is to be had as a file, and of many files at once one waits."""
    monkeypatch.setattr(tournament_page, "MAX_COLUMNS", 1)
    monkeypatch.setattr(game_files, "_turns", asyncio.Semaphore(0))
    async with players(site):
        key, browsing = await end(site, rounds=1), site.browse()
        large = Told(f"/tournaments/{key}", ("too large for a page",), (">Crosstable<",))
        await assert_told(browsing, [large])
        answer = await browsing.get(f"/tournaments/{key}/games.sgf")
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
