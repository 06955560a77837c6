"""Takes the pictures of the pages that the docs show, of a real run in a real browser.

    python scripts/screenshots.py

Plays the tournament of `picture.py` on a server of its own, and then one that goes on while its
boards are looked at. Needs Chromium.
"""

import io
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from picture import BOTS, FOLDER, POLL, TERMS, ask, running_bot
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from meijin.local.server import addresses, local_server
from meijin.wire.contract import SERVER_LOG_FILE

SIZE = (1200, 760)
PATIENCE_MS = 120_000
COLORS = 256
"""Of a picture: a page has few, and a palette takes half of the bytes."""

LIVE_TERMS = ("--time=2/move", "--rounds=4", "--seed=7", "--name=Live", "--unrated", "--json")


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of a page."""

    name: str
    path: str
    theme: str
    until: str
    """What is there once the page is as it is to be shown: a selector."""


def take(page: Page, url: str, shot: Shot) -> None:
    """Take a picture of a page, with as few colours as it has."""
    page.emulate_media(color_scheme="dark" if shot.theme == "dark" else "light")
    page.goto(url + shot.path)
    page.locator(shot.until).first.wait_for()
    page.wait_for_load_state("load")
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(FOLDER / shot.name, optimize=True)
    print(FOLDER / shot.name)


def wait_for_ladder(address: str) -> str:
    """The ladder's name, once it has all games."""
    while True:
        ladder = ask(address, "ladder", "--json")["ladder"]
        if ladder.get("current"):
            return str(ladder["name"])
        time.sleep(POLL)


def shown_game(address: str) -> str:
    """A game of the two strongest that ended by five, with many moves."""
    strongest = set(list(BOTS)[:2])
    games = ask(address, "game", "list", "--limit=1000", "--json")["games"]
    found = [
        game
        for game in games
        if {game["black"], game["white"]} == strongest and game["outcome"]["ending"] == "five"
    ]
    return str(max(found, key=lambda game: int(game["ply"]))["game_id"])


def main() -> None:
    """Play, and take the pictures."""
    with tempfile.TemporaryDirectory(prefix="meijin-") as name, ExitStack() as stack:
        folder = Path(name)
        address, _ = stack.enter_context(local_server(folder, web="127.0.0.1:0"))
        for bot, words in BOTS.items():
            stack.enter_context(running_bot(bot, words, address, folder / f"{bot}.log"))
        while len(ask(address, "bot", "list", "--connected", "--json")["bots"]) < len(BOTS):
            time.sleep(POLL)
        _, url = addresses(folder / SERVER_LOG_FILE)
        ask(address, "tournament", "run", *BOTS, *TERMS)
        ladder, game = wait_for_ladder(address), shown_game(address)
        live = ask(address, "tournament", "run", "--detach", *BOTS, *LIVE_TERMS)
        tournament: Mapping[str, str] = live.get("tournament", live)
        shots = (
            Shot("ladder.png", f"/ladders/{ladder}", "light", "table"),
            Shot("game.png", f"/games/{game}", "dark", ".board .win"),
            Shot(
                "live.png",
                f"/live?tournament={tournament['tournament_id']}",
                "light",
                ".board .stone >> nth=20",
            ),
            # Once games run, which the one before has waited for.
            Shot("home.png", "/", "light", ".board .stone >> nth=12"),
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
            page.set_default_timeout(PATIENCE_MS)
            for shot in shots:
                take(page, url, shot)


if __name__ == "__main__":
    main()
