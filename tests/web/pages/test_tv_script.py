"""The game that is shown large: it gives its place to the next by itself."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Browser, Page, Route, expect
from tests.web.browser.chromium import PATIENCE_MS
from tests.web.browsing import ORIGIN
from tests.web.pages.game_messages import game_message
from tests.web.pages.test_game import CHANCES, RECORD
from tests.web.pages.test_game_script import Seen
from tests.web.prepared import browse

from meijin.v1 import game_service_pb2 as pb
from meijin.v1 import ladder_service_pb2, tournament_service_pb2

expect.set_options(timeout=PATIENCE_MS)

OVER = 'event: over\ndata: {"topic": "game:17"}\n\n'
RUNNING = replace(RECORD, outcome=None, moves=RECORD.moves[:4], times=(), raw_times=(), analysis=())


def show(seen: Seen, key: str) -> None:
    """Have the server tell of one game that runs."""
    game = game_message(replace(RUNNING, game_id=key))
    seen.browsing = browse(
        ListGames=pb.ListGamesResponse(games=[game]),
        GetGame=pb.GetGameResponse(game=game),
        GetChances=CHANCES,
        ListLadders=ladder_service_pb2.ListLaddersResponse(),
        ListTournaments=tournament_service_pb2.ListTournamentsResponse(),
    )


def test_the_next_game_takes_its_place(browser: Browser) -> None:
    """Some seconds after the end; while the server is away the old one stays."""
    page: Page = browser.new_page()
    seen, is_away = Seen(page), False

    def answer(route: Route) -> None:
        if "/events" in route.request.url and "17" in route.request.url:
            route.fulfill(content_type="text/event-stream", body=OVER)
        elif is_away:
            route.fulfill(status=503, body="<p>away</p>")
        else:
            seen.answer(route)

    page.route("**/*", answer)
    page.clock.install()
    show(seen, "17")
    with page.expect_response("**/events?*"):
        page.goto(f"{ORIGIN}/tv")
    shown = page.locator("[data-tv] [data-game]")
    expect(shown).to_have_attribute("data-game", "17")
    is_away = True
    with page.expect_response(f"{ORIGIN}/tv"):
        page.clock.run_for(7000)
    expect(shown).to_have_attribute("data-game", "17")
    is_away = False
    show(seen, "18")
    page.clock.run_for(7000)
    expect(shown).to_have_attribute("data-game", "18")
    expect(shown.locator("svg.board circle.black")).to_have_count(2)
    page.close()
