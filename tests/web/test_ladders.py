"""The pages of ladders: tables, ratings over days, and who is the stronger of any two."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from urllib.parse import quote

import pytest
from sqlalchemy import Update, update
from tests.store.league import NOON, League
from tests.web.browsing import Browsing
from tests.web.conftest import OpenSite

from meijin.game import Result
from meijin.ladder.refresh import refresh
from meijin.store import Database
from meijin.store.schema import Bot, BotVersion
from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.gateway import Services, Visitor
from meijin.web.pages.ladders.top import read_top, top_view
from meijin.web.static import StaticFiles
from meijin.web.templating import environment

OpenLadder = Callable[[], AbstractAsyncContextManager[Browsing]]

NAME = "freestyle-15x15-bullet"
PATH = f"/ladders/{NAME}"
HOSTILE = "<script>alert(1)</script>\u202e=1+1"
BOTS = ("ada", "bob", "cleo", "dora")


def play(database: Database) -> None:
    """Three days of games among four bots, whose first has a new version; two runs."""
    league = League(database, bots=len(BOTS), name=NAME)
    for bot_id, name in zip(league.bots, BOTS, strict=True):
        change(database, update(Bot).where(Bot.id == bot_id).values(name=name))
    for day in range(2):
        league.finish_random(20, seed=day, day=day)
    refresh(database, league.ladder_id, lambda: NOON + timedelta(days=1, hours=1))
    version = league.renew(0, HOSTILE)
    league.finish(*[(0, other, Result.BLACK_WINS) for other in (1, 2, 3) * 3], day=2)
    league.finish((0, 1, Result.WHITE_WINS), day=2, forfeit=True)
    newest = update(BotVersion).where(BotVersion.id == version)
    change(database, newest.values(hardware=HOSTILE, nodes_per_second=1_500_000))
    refresh(database, league.ladder_id, lambda: NOON + timedelta(days=3))


def change(database: Database, statement: Update) -> None:
    """Change rows."""
    database.write(lambda connection: connection.execute(statement))


@pytest.fixture
def open_ladder(open_site: OpenSite) -> OpenLadder:
    """Opens a site with a ladder that has games."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Browsing]:
        async with open_site() as site:
            await asyncio.to_thread(play, site.server.database)
            yield site.browse()

    return opened


def lines_of(page: str) -> list[str]:
    """The bots of a table's lines, from the top."""
    body = page.partition('class="standings')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r'name="bots" value="([^"]*)"', body)


async def test_a_table_tells_how_it_was_made(open_ladder: OpenLadder) -> None:
    """Every bot once with its interval; the run, and the line that computes it again."""
    async with open_ladder() as browsing:
        page = (await browsing.get(PATH)).text
        assert sorted(lines_of(page)) == sorted(BOTS)
        assert page.count('<svg class="interval"') == len(BOTS)
        assert f"meijin ladder verify {NAME} --run 2" in page
        assert re.search(r"<code>[0-9a-f]{64}</code>", page)
        listed = (await browsing.get("/ladders")).text
        assert f'href="{PATH}"' in listed
        assert 'datetime="2026-01-04T12:00:00Z"' in listed


async def test_lines_are_chosen_and_ordered_by_the_address(open_ladder: OpenLadder) -> None:
    """Without any script: each heading is a link, each filter a field of a form."""
    async with open_ladder() as browsing:
        by_name = (await browsing.get(f"{PATH}?sort=bot&order=descending")).text
        assert lines_of(by_name) == ["dora", "cleo", "bob", "ada"]
        assert 'aria-sort="descending"' in by_name
        assert 'href="/ladders/freestyle-15x15-bullet?sort=bot&amp;order=ascending"' in by_name
        assert lines_of((await browsing.get(f"{PATH}?q=LE")).text) == ["cleo"]
        assert lines_of((await browsing.get(f"{PATH}?min_speed=1000000")).text) == ["ada"]
        assert lines_of((await browsing.get(f"{PATH}?only=faults")).text) == ["ada"]
        every = (await browsing.get(f"{PATH}?versions=1&q=ada")).text
        assert lines_of(every) == ["ada", "ada"]
        none = (await browsing.get(f"{PATH}?q=nobody")).text
        assert "No line fits" in none


async def test_what_a_table_can_not_show_is_refused(open_site: OpenSite) -> None:
    """With the reason, on a page."""
    refused = ("sort=x", "order=up", "only=x", "min_speed=-1", "page=0", "run=x", f"q={'a' * 201}")
    async with open_site() as site:
        await asyncio.to_thread(League, site.server.database, bots=0, name=NAME)
        for query in refused:
            assert (await site.browse().get(f"{PATH}?{query}")).status == 400, query
        assert (await site.browse().get(f"{PATH}?run=99")).status == 404


async def test_a_ladder_before_its_first_run(open_site: OpenSite) -> None:
    """Every page says that there is nothing yet, or why."""
    async with open_site() as site:
        browsing = site.browse()
        assert "There is no ladder yet" in (await browsing.get("/ladders")).text
        await asyncio.to_thread(League, site.server.database, bots=2, name=NAME)
        assert "No ratings yet" in (await browsing.get(PATH)).text
        assert "There is no run yet" in (await browsing.get(f"{PATH}/runs")).text
        assert "These bots have no rating yet" in (await browsing.get(f"{PATH}/history")).text
        assert (await browsing.get(f"{PATH}/matrix")).status == 400
        assert (await browsing.get("/ladders/renju-15x15-blitz")).status == 404


async def test_an_earlier_run_is_shown_as_one(open_ladder: OpenLadder) -> None:
    """The list of runs leads to it."""
    async with open_ladder() as browsing:
        assert f'href="{PATH}?run=1"' in (await browsing.get(f"{PATH}/runs")).text
        page = (await browsing.get(f"{PATH}?run=1")).text
        assert "This is run 1, not the published one" in page
        assert f"meijin ladder verify {NAME} --run 1" in page


async def test_texts_of_others_are_only_texts(open_ladder: OpenLadder) -> None:
    """On pages, in the data of charts, and in files that spreadsheets open."""
    async with open_ladder() as browsing:
        for path in (f"{PATH}?versions=1", f"{PATH}/history?bots=ada", f"{PATH}/matrix?versions=1"):
            page = (await browsing.get(path)).text
            assert "alert(1)" in page
            assert "<script>alert" not in page
            assert "\u202e" not in page
        asked = quote(HOSTILE)
        assert (
            "<script>alert" not in (await browsing.get(f"{PATH}?q={asked}&hardware={asked}")).text
        )


async def test_a_table_as_a_file(open_ladder: OpenLadder) -> None:
    """CSV and JSON have the lines that the page has, in its order."""
    async with open_ladder() as browsing:
        answer = await browsing.get(f"{PATH}.csv?sort=bot&order=descending")
        assert answer.headers["content-type"].startswith("text/csv")
        assert f'filename="{NAME}.csv"' in answer.headers["content-disposition"]
        read = list(csv.DictReader(io.StringIO(answer.text)))
        assert [row["bot"] for row in read] == ["dora", "cleo", "bob", "ada"]
        told = json.loads((await browsing.get(f"{PATH}.json?q=ada")).text)
        assert [row["bot"] for row in told["standings"]] == ["ada"]
        assert told["run"]["runId"] == "2"


async def test_history_of_chosen_bots(open_ladder: OpenLadder) -> None:
    """A curve for each version up to the published run, as a chart, a table and files."""
    async with open_ladder() as browsing:
        page = (await browsing.get(f"{PATH}/history?bots=bob,cleo&bots=ada")).text
        data = page.partition('id="history">')[2].partition("</script>")[0]
        chart = json.loads(data)
        labels = [series["label"] for series in chart["series"]]
        assert labels[:2] == ["bob", "cleo"]
        assert [label.partition(" ")[0] for label in labels[2:]] == ["ada", "ada"]
        assert len(chart["x"]) == 4
        assert chart["series"][0]["low"][0] < chart["series"][0]["values"][0]
        assert "<details>" in page
        answer = await browsing.get(f"{PATH}/history.csv?bots=bob")
        days = [row["day"] for row in csv.DictReader(io.StringIO(answer.text))]
        assert days == ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
        told = json.loads((await browsing.get(f"{PATH}/history.json?bots=bob")).text)
        assert [each["bot"] for each in told["bots"]] == ["bob"]
        names = ",".join(f"bot-{number}" for number in range(13))
        assert (await browsing.get(f"{PATH}/history?bots={names}")).status == 400


async def test_matrix_leads_to_games_of_two(open_ladder: OpenLadder) -> None:
    """Each cell is a link to what the two scored."""
    async with open_ladder() as browsing:
        page = (await browsing.get(f"{PATH}/matrix")).text
        assert page.count("head-to-head?bot=") == len(BOTS) * (len(BOTS) - 1)
        few = (await browsing.get(f"{PATH}/matrix.csv?bots=ada&bots=bob")).text
        read = list(csv.reader(io.StringIO(few)))
        assert sorted(read[0][1:]) == ["ada", "bob"]
        assert float(read[1][2]) + float(read[2][1]) == pytest.approx(1)
        met = (await browsing.get(f"{PATH}/head-to-head?bot=ada&opponent=bob")).text
        assert "and stronger with a chance of" in met
        assert "3-0-1" in met
        assert (await browsing.get(f"{PATH}/head-to-head?bot=ada")).status == 400
        assert (await browsing.get(f"{PATH}/diagnosis")).status == 200


async def test_the_best_of_the_busiest_ladder(open_site: OpenSite) -> None:
    """The front page's box is of the ladder with most games that has a run."""
    async with open_site() as site:
        await asyncio.to_thread(play, site.server.database)
        await asyncio.to_thread(League, site.server.database, bots=2, name="renju-15x15-blitz")
        services = Services(site.shell.gateway.channel(Visitor("127.0.0.1")))
        listed = await services.ladders.ListLadders(pb.ListLaddersRequest())
        table = await read_top(services, listed.ladders)
    assert table is not None
    source = '{% import "parts.html" as parts %}{% include "ladders/_top.html" %}'
    page = environment(StaticFiles()).from_string(source).render(top=top_view(table))
    assert re.findall(r'href="/bots/([^"]*)"', page) == [row.bot for row in table.standings]
    assert sorted(row.bot for row in table.standings) == sorted(BOTS)
    assert "The best of freestyle 15x15, bullet" in page
