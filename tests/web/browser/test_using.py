"""What people do with the pages, in a browser: they look, follow, sign in and play."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from tests.web.browser.chromium import PATIENCE_MS, PHONE, Watched, watched_page
from tests.web.browser.conftest import sign_in
from tests.web.browser.stage import WIDE
from tests.web.browser.troupe import SINGLE

from meijin.game import Variant
from meijin.game.board.coordinates import cell_name, parse_cell

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page
    from tests.web.browser.stage import Stage

expect.set_options(timeout=PATIENCE_MS)

BOARD = Variant.parse("15x15")


def test_ladder_is_sorted_and_filtered(watched: Watched, stage: Stage) -> None:
    """A heading sorts the lines, a search leaves some out, and the address says so."""
    page = watched.page
    watched.open(stage.address("/ladders/{ladder}"))
    lines = page.locator("#standings tbody tr")
    expect(lines).to_have_count(5)
    names = page.locator("#standings tbody th .bot")
    page.get_by_role("link", name="Bot", exact=True).click()
    expect(page).to_have_url(re.compile("sort="))
    expect(names.first).to_have_text(min(names.all_inner_texts()))
    page.get_by_role("searchbox").fill("mallory")
    expect(lines).to_have_count(1)
    expect(page).to_have_url(re.compile("q=mallory"))
    watched.page.reload()
    expect(lines).to_have_count(1)


def test_live_game_goes_on_by_itself(watched: Watched, stage: Stage) -> None:
    """Stones come without anybody's doing."""
    watched.open(f"/games/{running_game(watched, stage)}")
    page = watched.page
    slider = page.locator("[data-slider]")
    before = int(slider.get_attribute("max") or 0)
    expect(slider).not_to_have_attribute("max", str(before))
    stones = page.locator(".board-box svg circle")
    assert stones.count() >= before


def test_live_boards_move(watched: Watched, stage: Stage) -> None:
    """So do the small boards of a tournament."""
    watched.open(stage.address("/live?tournament={live}"))
    board = watched.page.locator(".live-board svg").first
    expect(board).to_be_visible()
    before = board.inner_html()
    expect(board).not_to_have_js_property("innerHTML", before)


def test_crosstable_fills_in(watched: Watched, stage: Stage) -> None:
    """A tournament's page has results as its games end, up to the last, though nobody loads it."""
    settings = {
        "settings": {
            "bots": ["ada", "slow-one"],
            "variant": {"width": 5, "height": 5, "line": 5},
            "time_control": {"initial_seconds": 60},
            "unrated": True,
            "max_games": 1,
        }
    }
    headers = {"authorization": f"Bearer {stage.operator_token}"}
    request, page = watched.page.request, watched.page
    made = request.post(f"{stage.origin}/api/v1/tournaments", data=settings, headers=headers)
    assert made.ok, made.text()
    watched.open(f"/tournaments/{made.json()['tournament']['tournament_id']}")
    page.evaluate("window.isSame = true")
    table = page.get_by_role("region", name="Standings")
    table.focus()
    expect(page.locator(".crosstable tbody tr")).to_have_count(2)
    expect(page.locator(".outcome-line").first).to_contain_text("finished")
    assert page.evaluate("window.isSame")
    expect(table).to_be_focused()


def test_game_is_stepped_through(watched: Watched, stage: Stage) -> None:
    """By keys and by buttons, also on a phone; the address names the ply."""
    page = watched.page
    watched.open(stage.address("/games/{game}?ply=3"))
    position = page.locator("[data-position]")
    expect(position).to_contain_text("3.")
    page.keyboard.press("ArrowRight")
    expect(position).to_contain_text("4.")
    expect(page).to_have_url(re.compile("ply=4"))
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.locator("[data-step=back]").click()
    expect(position).to_contain_text("3.")
    page.locator("[data-step=first]").click()
    expect(page.locator("[data-slider]")).to_have_js_property("value", "0")
    page.locator("[data-step=last]").click()
    last = page.locator("[data-slider]").get_attribute("max") or ""
    expect(page.locator("[data-slider]")).to_have_js_property("value", last)


def test_operator_signs_in_and_makes_a_challenge(watched: Watched, stage: Stage) -> None:
    """A page that needs a token asks for one, and goes on; the challenge is in the list."""
    page = watched.page
    watched.open("/account")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.get_by_label("Token").fill(stage.operator_token)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/account"))
    watched.open("/challenges")
    page.get_by_label("Opponent").first.select_option("ada")
    page.locator("#challenger").select_option("bea")
    page.locator("form.form").get_by_role("button").first.click()
    expect(page).to_have_url(re.compile("/tournaments/"))
    watched.open("/challenges")
    made = page.locator("table tbody tr").first
    expect(made).to_contain_text("ada")
    expect(made).to_contain_text("bea")
    watched.open("/")
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_person_wins_by_keyboard_alone(watched: Watched, stage: Stage) -> None:
    """From the list of bots to the last stone, and the next game; each cell is told in words."""
    page = watched.page
    watched.open("/play?bot=ada")
    press(page, page.get_by_role("button", name="Play against ada", exact=True))
    board, stones = page.locator("svg.board"), page.locator(".board .stone")
    expect(board).to_be_visible()
    game_id, at = page.url.rpartition("/")[2], BOARD.cells // 2
    while True:
        wait_for_turn(watched)
        if page.locator("[data-rematch]").is_visible():
            break
        cell = best_cell(moves(watched, stage, game_id))
        reach(page, board)
        (row, column), (own_row, own_column) = divmod(cell, BOARD.width), divmod(at, BOARD.width)
        for key, times in (
            ("ArrowDown", row - own_row),
            ("ArrowUp", own_row - row),
            ("ArrowRight", column - own_column),
            ("ArrowLeft", own_column - column),
        ):
            for _ in range(times):
                page.keyboard.press(key)
        if cell != at:
            words = page.locator(".table-board [aria-live]")
            expect(words).to_have_text(f"{cell_name(cell, BOARD)}, empty")
        before, at = stones.count(), cell
        page.keyboard.press("Enter")
        expect(stones).not_to_have_count(before)
    expect(page.get_by_role("status").first).to_have_text("You have won. A winning line.")
    press(page, page.locator("[data-rematch] button"))
    expect(page).not_to_have_url(re.compile(f"/{game_id}$"))
    press(page, page.locator("[data-resign] summary"))
    press(page, page.locator("[data-resign] button"))
    expect(page.get_by_role("status").first).to_have_text("You have lost. By resignation.")


def test_person_plays_a_swap2_opening(watched: Watched, stage: Stage) -> None:
    """Three stones, two more of the opponent's, and the side that one likes."""
    page = watched.page
    begin(watched, "swap2")
    prompt = page.locator("[data-prompt]")
    expect(prompt).to_contain_text("Place 3 stones")
    for name, words in (("h8", "2 more: white, black."), ("i9", "1 more: black."), ("g7", "Send")):
        click(page, parse_cell(name, BOARD), BOARD)
        expect(prompt).to_contain_text(words)
    page.get_by_role("button", name="Send 3 stones").click()
    expect(page.locator("[data-choices]")).to_be_visible()
    page.get_by_role("button", name="Take white").click()
    wait_for_turn(watched)
    assert len(moves(watched, stage, page.url.rpartition("/")[2])) == 5
    resign(watched)


def test_second_tap_places_a_stone(browser: Browser, stage: Stage) -> None:
    """The prompt says so after the first, beside the one button that does the same."""
    with watched_page(browser, stage.origin, PHONE, has_touch=True) as watched:
        page = watched.page
        begin(watched, "free")
        wait_for_turn(watched)
        board, prompt = page.locator("svg.playable"), page.locator("[data-prompt]")
        expect(board).to_be_visible()
        assert top(board) < top(prompt) < PHONE[1]
        board.tap()
        expect(prompt).to_have_text("A second tap on h8 places the stone.")
        expect(page.locator(".board .stone.choice.black")).to_have_count(1)
        expect(page.locator("[data-picked] button:visible")).to_have_text(["Place h8"])
        expect(page.locator("[data-undo]")).to_be_hidden()
        board.tap()
        expect(page.locator("[data-undo] button")).to_have_text("Take back h8")
        expect(page.locator(".board .stone.choice")).to_have_count(0)
        page.locator("[data-undo] button").tap()
        expect(page.locator("[data-undo]")).to_be_hidden()
        resign(watched)


@pytest.mark.parametrize("size", [(1366, 768), (1440, 900)])
def test_board_and_controls_fit_a_laptop(
    browser: Browser, stage: Stage, size: tuple[int, int]
) -> None:
    """Nothing of them is below the fold, and the board fills its box."""
    with watched_page(browser, stage.origin, size) as watched:
        begin(watched, "free")
        wait_for_turn(watched)
        page = watched.page
        expect(page.locator("svg.playable")).to_be_visible()
        for part in ("svg.playable", "[data-prompt]", "[data-ask-hint]", "[data-resign]"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size[1], part
            if part == "svg.playable":
                assert abs(box["width"] - box["height"]) < 1
                assert box["height"] > size[1] * 0.8
        resign(watched)


def top(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def test_position_is_analysed(watched: Watched, stage: Stage) -> None:
    """From a game's ply stones are put by clicks; a bot is asked, and its line is on the board."""
    page = watched.page
    watched.open(stage.address("/analysis?game={game}&ply=2"))
    free = page.locator("#analysis").evaluate(
        "({ dataset }) => [...Array(49).keys()].findLast("
        "(cell) => !dataset.line.split(' ').slice(0, 2).includes(String(cell)))"
    )
    click(page, free, Variant.parse("7x7"))
    expect(page).to_have_url(re.compile("ply=3"))
    page.get_by_role("button", name="What would it play?").click()
    expect(page.locator("#found")).to_contain_text("would play")
    expect(page.locator(".board .stone.pv")).not_to_have_count(0)
    page.get_by_label("One move back").click()
    expect(page.locator("#found")).to_be_empty()
    expect(page.locator(".board .stone")).to_have_count(2)
    page.get_by_role("link", name="Play on from here").click()
    expect(page.locator("main")).to_contain_text("At ply 2.")
    page.get_by_role("button", name="Play against ada", exact=True).click()
    expect(page.locator(".board .stone")).to_have_count(2)
    resign(watched)


def click(page: Page, cell: int, variant: Variant) -> None:
    """Click a cell of the board."""
    box = page.locator("svg.playable").bounding_box()
    assert box is not None
    gap = box["width"] / (variant.width - 1 + 2 * 28 / 24)
    row, column = divmod(cell, variant.width)
    edge = gap * 28 / 24
    page.mouse.click(box["x"] + edge + column * gap, box["y"] + edge + row * gap)


def test_people_queue_for_a_bot(watched: Watched, browser: Browser, stage: Stage) -> None:
    """Each sees its place, moves up when one before it leaves, and is led to its game."""
    others = [watched_page(browser, stage.origin) for _ in range(2)]
    with others[0] as second, others[1] as third:
        begin(watched, "free", SINGLE)
        expect(watched.page.locator("#table")).to_be_visible()
        for waiting, words in ((second, "You are next"), (third, "You are number 2 in the queue")):
            begin(waiting, "free", SINGLE)
            expect(waiting.page.locator("#queue")).to_contain_text(words)
            expect(waiting.page.get_by_role("button", name="Play ada")).to_be_visible()
        second.page.get_by_role("button", name="Leave the queue").click()
        expect(third.page.locator("#queue")).to_contain_text("You are next")
        resign(watched)
        expect(third.page.locator("#table")).to_be_visible()
        resign(third)


def test_class_page_in_both_roles(watched: Watched, browser: Browser, stage: Stage) -> None:
    """A teacher sees all, with a traceback a click away, and a student itself alone."""
    path, page = stage.address("/classes/{school_class}"), watched.page
    sign_in(watched, stage.operator_token)
    watched.open("/classes")
    page.get_by_role("link", name=stage.places["school_class"]).click()
    roster = page.get_by_role("table", name="Students").locator("tbody tr")
    expect(roster).to_have_count(2)
    expect(page.get_by_text("RuntimeError").first).to_be_visible()
    page.locator("summary").first.click()
    expect(page.locator("details pre").first).to_contain_text("in choose")
    page.clock.install()
    page.get_by_role("link", name="For a projector").click()
    expect(page.locator(".class-projector tbody tr")).to_have_count(1)
    expect(page.get_by_role("navigation")).to_have_count(0)
    page.locator(".class-projector").evaluate("each => each.classList.add('old')")
    page.clock.run_for(11_000)
    expect(page.locator(".class-projector.old")).to_have_count(0)
    expect(page.locator(".class-projector tbody tr")).to_have_count(1)
    with watched_page(browser, stage.origin) as student:
        sign_in(student, stage.student_token)
        student.open("/classes")
        expect(student.page).to_have_url(re.compile(f"{path}$"))
        expect(student.page.get_by_role("table", name="Students").locator("tr")).to_have_count(2)
        expect(student.page.get_by_text("RuntimeError").first).to_be_visible()
        expect(student.page.get_by_text(WIDE)).to_have_count(0)


def running_game(watched: Watched, stage: Stage) -> str:
    query = f"tournament_id={stage.places['live']}&state=running"
    found = asked(watched, stage, f"/api/v1/games?{query}")
    return str(found["games"][0]["game_id"])


def asked(watched: Watched, stage: Stage, path: str) -> dict[str, Any]:
    """What the API answers now: with a token, since it keeps other answers for a moment."""
    token = {"authorization": f"Bearer {stage.operator_token}"}
    found: dict[str, Any] = watched.page.request.get(watched.origin + path, headers=token).json()
    return found


def moves(watched: Watched, stage: Stage, game_id: str) -> list[int]:
    game = asked(watched, stage, f"/api/v1/games/{game_id}")["game"]
    return [parse_cell(move["cell"], BOARD) for move in game["moves"]]


def begin(watched: Watched, opening: str, opponent: str = "ada") -> None:
    """Ask a bot for a game, with black."""
    page = watched.page
    watched.open(f"/play?bot={opponent}&opening_rule={opening}")
    page.get_by_role("button", name=f"Play against {opponent}", exact=True).click()
    expect(page.locator("#table, #queue")).to_be_visible()


def wait_for_turn(watched: Watched) -> None:
    """Wait until a stone is asked for, or the game is over."""
    ready = watched.page.locator("[data-typing]:visible, [data-rematch]:visible")
    expect(ready.first).to_be_visible()


def resign(watched: Watched) -> None:
    """Give a game up, which is asked once more."""
    page = watched.page
    page.locator("[data-resign] summary").click()
    page.locator("[data-resign] button").click()
    expect(page.locator("[data-rematch]")).to_be_visible()


def reach(page: Page, target: Locator) -> None:
    """Go to a part of the page by the tab key."""
    for _ in range(60):
        if target.evaluate("(each) => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the tab key does not lead to {target}")


def press(page: Page, target: Locator) -> None:
    """Press a button by keys."""
    expect(target).to_be_visible()
    reach(page, target)
    page.keyboard.press("Enter")


def best_cell(cells: list[int]) -> int:
    """A cell of the row that lacks the fewest stones; who plays has placed the first."""
    own, other = set(cells[0::2]), set(cells[1::2])
    rows = (
        [BOARD.width * y + x + step for step in range(5)]
        for y in range(BOARD.height)
        for x in range(BOARD.width - 4)
    )
    free = [row for row in rows if not other & set(row)]
    row = max(free, key=lambda row: len(own & set(row)))
    return next(cell for cell in row if cell not in own)
