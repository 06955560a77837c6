"""The pages of ladders: tables, ratings over days, and who is the stronger of any two."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from datetime import timedelta

import pytest
from sqlalchemy import Update, update
from tests.openapi import assert_message
from tests.store.league import NOON, League
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest
from tests.web.telling import Told, assert_told, refused

from meijin.game import Result
from meijin.ladder.refresh import refresh
from meijin.store import Database
from meijin.store.schema import Bot, BotVersion
from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.pages.ladders.table import IntervalBar, IntervalScale

NAME = "freestyle-15x15-bullet"
PATH = f"/ladders/{NAME}"
BOTS = ("ada", "bob", "cleo", "dora")


def play(database: Database) -> None:
    """Three days of games among four bots, whose first has a new version; two runs."""
    league = League(database, bots=len(BOTS), name=NAME)
    for bot_id, name in zip(league.bots, BOTS, strict=True):
        change(database, update(Bot).where(Bot.id == bot_id).values(name=name))
    called = update(Bot).where(Bot.name == "dora").values(display_name="The Countess")
    change(database, called)
    for day, games in enumerate((20, 120)):
        league.finish_random(games, seed=day, day=day)
    refresh(database, league.ladder_id, lambda: NOON + timedelta(days=1, hours=1))
    version = league.renew(0, "2.0")
    league.finish(*[(0, other, Result.BLACK_WINS) for other in (1, 2, 3) * 3], day=2)
    league.finish((0, 1, Result.WHITE_WINS), day=2, forfeit=True)
    newest = update(BotVersion).where(BotVersion.id == version)
    change(database, newest.values(nodes_per_second=1_500_000, is_hosted=True))
    refresh(database, league.ladder_id, lambda: NOON + timedelta(days=3))


def change(database: Database, statement: Update) -> None:
    database.write(lambda connection: connection.execute(statement))


def lines_of(page: str) -> list[str]:
    body = page.partition('class="standings')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r'name="bots" value="([^"]*)"', body)


ORDERED: tuple[tuple[str, list[str]], ...] = (
    (f"{PATH}?sort=bot&order=descending", ["dora", "cleo", "bob", "ada"]),
    (f"{PATH}?q=LE", ["cleo"]),
    (f"{PATH}?q=countess", ["dora"]),
    (f"{PATH}?min_speed=1000000", ["ada"]),
    (f"{PATH}?runner=hosted", ["ada"]),
    (f"{PATH}?runner=remote&sort=bot", ["bob", "cleo", "dora"]),
    (f"{PATH}?only=faults", ["ada"]),
    (f"{PATH}?versions=1&q=ada", ["ada", "ada"]),
    (f"{PATH}?q=nobody", []),
)
"""Lines are chosen and ordered by the address, without any script."""

TOLD = (
    Told("/ladders", (f'href="{PATH}"', 'datetime="2026-01-04T12:00:00Z"')),
    Told(PATH, (f"meijin ladder verify {NAME} --run 2", f"meijin-head rao-kupper-3 {NAME} 2026-")),
    Told(PATH, (f'<a href="{PATH}/calibration">Favourites were told ',)),
    Told(f"{PATH}?sort=bot&order=descending", ('aria-sort="descending"',)),
    Told(
        f"{PATH}?sort=bot&order=descending",
        (f'href="{PATH}?sort=bot&amp;order=ascending"',),
    ),
    Told(f"{PATH}?q=nobody", ("No line fits",)),
    Told(f"{PATH}?runner=hosted", (">hosted</span>", '"hosted" selected>the arena<')),
    Told(f"{PATH}?runner=remote", ("selected>their owners<",), (">hosted</span>",)),
    Told(f"{PATH}/runs", (f'href="{PATH}?run=1"',)),
    Told(f"{PATH}?run=1", ("This is run 1, not the published one",)),
    Told(f"{PATH}?run=1", (f"meijin ladder verify {NAME} --run 1",)),
    Told(f"{PATH}/history?bots=ada", ("ada 2.0", "<details>")),
    Told(f"{PATH}/matrix?versions=1", ("ada 2.0",)),
    Told(
        f"{PATH}/head-to-head?bot=ada&opponent=bob",
        ("and stronger with a chance of", "3\u20130\u20131"),
    ),
    Told(f"{PATH}/head-to-head?bot=ada&opponent=bob", ('"/games?bot=ada&amp;opponent=bob"',)),
    Told(f"{PATH}/diagnosis"),
    Told(f"{PATH}/diagnosis.json", (f'"ladder":"{NAME}"',)),
    Told(f"{PATH}/calibration", ("By 120 games from 2026-01-02 to", 'data-chart="calibration"')),
    Told(f"{PATH}/calibration.csv", ("low,high,games,expected_score,score,",)),
    Told(f"{PATH}/calibration.json", ('"2026-01-02"',)),
    refused(f"{PATH}/head-to-head.json?bot=ada"),
    Told(f"{PATH}/head-to-head", ('<option value="ada">ada</option>',)),
    Told(f"{PATH}/head-to-head?bot=ada", ('<option value="ada" selected>', "</bdi> against")),
    Told(f"{PATH}/head-to-head?bot=ada", (f"{PATH}/head-to-head?bot=ada&amp;opponent=bob",)),
    refused(f"{PATH}/history?bots=" + ",".join(f"bot-{number}" for number in range(13))),
)


async def test_a_ladder_with_games(site: SiteInTest, browsing: Browsing) -> None:
    """Its table with the run, lines by the address, files, history, matrix; the front page's box."""
    await asyncio.to_thread(play, site.server.database)
    await asyncio.to_thread(League, site.server.database, bots=2, name="renju-15x15-blitz")
    await assert_told(browsing, TOLD)
    first_day = Told("/ladders/renju-15x15-blitz/calibration", ("There is nothing yet",))
    await assert_told(browsing, [first_day])
    for path, bots in ORDERED:
        assert lines_of((await browsing.get(path)).text) == bots, path
    page = (await browsing.get(PATH)).text
    assert sorted(lines_of(page)) == sorted(BOTS)
    assert page.count('<svg class="interval"') == len(BOTS)
    assert re.search(r"<code>[0-9a-f]{64}</code>", page)
    await assert_files(browsing)
    await assert_history(browsing)
    await assert_matrix(browsing)
    await assert_top(site)


async def assert_files(browsing: Browsing) -> None:
    """CSV and JSON have the lines that the page has, in its order."""
    answer = await browsing.get(f"{PATH}.csv?sort=bot&order=descending")
    assert answer.headers["content-type"].startswith("text/csv")
    assert f'filename="{NAME}.csv"' in answer.headers["content-disposition"]
    read = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["bot"] for row in read] == ["dora", "cleo", "bob", "ada"]
    told = json.loads((await browsing.get(f"{PATH}.json?q=ada")).text)
    assert [row["bot"] for row in told["standings"]] == ["ada"]
    assert told["run"]["run_id"] == "2"
    assert_message("GetStandingsResponse", told)
    for name, method in (
        ("diagnosis", "GetDiagnosis"),
        ("matrix", "GetMatrix"),
        ("head-to-head", "GetHeadToHead"),
    ):
        found = await browsing.get(f"{PATH}/{name}.json?bot=ada&opponent=bob")
        assert_message(f"{method}Response", json.loads(found.text))


async def assert_history(browsing: Browsing) -> None:
    """A curve for each version up to the published run, as a chart, a table and files."""
    page = (await browsing.get(f"{PATH}/history?bots=bob,cleo&bots=ada")).text
    chart = json.loads(page.partition('id="history">')[2].partition("</script>")[0])
    labels = [series["label"] for series in chart["series"]]
    assert labels[:2] == ["bob", "cleo"]
    assert [label.partition(" ")[0] for label in labels[2:]] == ["ada", "ada"]
    assert len(chart["x"]) == 4
    assert chart["series"][0]["low"][0] < chart["series"][0]["values"][0]
    answer = await browsing.get(f"{PATH}/history.csv?bots=bob")
    days = [row["day"] for row in csv.DictReader(io.StringIO(answer.text))]
    assert days == ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
    told = json.loads((await browsing.get(f"{PATH}/history.json?bots=bob")).text)
    assert [each.pop("bot") for each in told["bots"]] == ["bob"]
    assert_message("ListRatingsResponse", told["bots"][0])


async def assert_matrix(browsing: Browsing) -> None:
    page = (await browsing.get(f"{PATH}/matrix")).text
    assert page.count("head-to-head?bot=") == len(BOTS) * (len(BOTS) - 1)
    few = (await browsing.get(f"{PATH}/matrix.csv?bots=ada&bots=bob")).text
    read = list(csv.reader(io.StringIO(few)))
    assert sorted(read[0][1:]) == ["ada", "bob"]
    assert float(read[1][2]) + float(read[2][1]) == pytest.approx(1)


async def assert_top(site: SiteInTest) -> None:
    """The front page's box is of the ladder with most games that has a run."""
    page = (await site.browse().get("/")).text
    assert "The best of freestyle 15x15, bullet" in page
    box = page.partition("<tbody>")[2].partition("</tbody>")[0]
    table = json.loads((await site.browse().get(f"{PATH}.json")).text)
    found = re.findall(r'href="/bots/([^"]*)"', box)
    assert found == [row["bot"] for row in table["standings"]]
    assert sorted(found) == sorted(BOTS)


async def test_what_a_table_can_not_show_is_refused(site: SiteInTest) -> None:
    wrong = (
        "sort=x",
        "order=up",
        "only=x",
        "runner=x",
        "min_speed=-1",
        "page=0",
        "run=x",
        f"q={'a' * 201}",
    )
    await asyncio.to_thread(League, site.server.database, bots=0, name=NAME)
    for query in wrong:
        assert (await site.browse().get(f"{PATH}?{query}")).status == 400, query
    assert (await site.browse().get(f"{PATH}?run=99")).status == 404


async def test_a_ladder_before_its_first_run(site: SiteInTest, browsing: Browsing) -> None:
    """Every page says that there is nothing yet, or why."""
    assert "There is no ladder yet" in (await browsing.get("/ladders")).text
    await asyncio.to_thread(League, site.server.database, bots=2, name=NAME)
    assert "No ratings yet" in (await browsing.get(PATH)).text
    assert "There is no run yet" in (await browsing.get(f"{PATH}/runs")).text
    assert "These bots have no rating yet" in (await browsing.get(f"{PATH}/history")).text
    assert (await browsing.get(f"{PATH}/matrix")).status == 400
    assert (await browsing.get("/ladders/renju-15x15-blitz")).status == 404


def test_the_bar_of_a_bound_has_one_end() -> None:
    """The other is that of the scale."""
    scale = IntervalScale(1000, 2000)
    row = pb.Standing(elo=1900, margin=500, bound=1600, as_white=pb.Score(wins=9))
    assert scale.bar(row) == IntervalBar(start=120, length=80, elo=180)
    row = pb.Standing(elo=1100, margin=500, bound=1250, as_black=pb.Score(losses=9))
    assert scale.bar(row) == IntervalBar(start=0, length=50, elo=20)
