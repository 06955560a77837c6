"""The script of charts, on the page of a ladder's history."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.web.browsing import ORIGIN
from tests.web.pages.test_game_script import Seen
from tests.web.prepared import browse

from meijin.v1 import ladder_service_pb2 as pb

NOON = int(datetime(2026, 11, 27, 12, tzinfo=UTC).timestamp())
HOUR = 3600
SCALE = """async () => {
    const { chartOf } = await import(document.querySelector("script[src*='/charts']").src);
    const { plot } = chartOf(document.querySelector("figure"));
    return [plot.scales.x.min, plot.scales.x.max, plot.data[0]];
}"""


def shown(browser: Browser, *ratings: pb.DayRating) -> list[Any]:
    """The ends of the x axis and the places on it, of a history with these ratings by run."""
    run = pb.RatingRun(run_id="1")
    run.create_time.seconds = NOON
    lines = [pb.Standing(rank=1, bot="ada", elo=1500, margin=50, linked=True)]
    ladder = pb.Ladder(name="freestyle-15x15")
    page = browser.new_page()
    seen = Seen(
        page,
        browse(
            GetStandings=pb.GetStandingsResponse(ladder=ladder, run=run, standings=lines),
            ListRatings=pb.ListRatingsResponse(ratings=ratings),
        ),
    )
    page.on("pageerror", lambda error: seen.problems.append(str(error)))
    page.route("**/*", lambda route: seen.answer(route))  # noqa: PLW0108 - it sets attributes
    page.goto(f"{ORIGIN}/ladders/freestyle-15x15/history")
    page.locator(".chart-frame canvas").wait_for()
    found: list[Any] = page.evaluate(SCALE)
    page.close()
    assert seen.problems == []
    return found


def rating(hours: int) -> pb.DayRating:
    found = pb.DayRating(day="2026-11-27", elo=1500, margin=50)
    found.create_time.seconds = NOON + hours * HOUR
    return found


@pytest.mark.parametrize("hours", [(0,), (2, 0)])
def test_first_days_chart_spans_what_there_is(browser: Browser, hours: tuple[int, ...]) -> None:
    """Half a day around a single run, and otherwise the time between the first and the last."""
    low, high, places = shown(browser, *map(rating, hours))
    assert places == [NOON + each * HOUR for each in reversed(hours)]
    beside = 0 if len(hours) > 1 else 12 * HOUR
    assert (low, high) == (places[0] - beside, places[-1] + beside)
