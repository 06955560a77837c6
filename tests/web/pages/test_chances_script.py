"""The script of chances says what the game's own module does."""

from itertools import product

import pytest
from playwright.sync_api import Browser

from meijin.game.records.chances import ChanceMap, wins_in
from meijin.web.static import FOLDER

SCORES = (0, 1, -250, 28_999, 29_000, -29_000, 29_996, 29_997, -29_997, -29_998, 30_000, 30_001)
MAPS = (ChanceMap(), ChanceMap(scale=37.5, offset=-1.25), ChanceMap(scale=1e6, offset=3))
SCRIPT = """async ([code, asked]) => {
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const { chance, winsIn } = await import(address);
    return asked.map(([scale, offset, score]) => [chance({ scale, offset }, score), winsIn(score)]);
}"""


def test_script_and_module_agree(browser: Browser) -> None:
    """On chances and on the moves to a proven win."""
    asked = [(each.scale, each.offset, score) for each, score in product(MAPS, SCORES)]
    code = (FOLDER / "chances.js").read_text()
    page = browser.new_page()
    told = page.evaluate(SCRIPT, [code, asked])
    page.close()
    for (found, moves), (each, score) in zip(told, product(MAPS, SCORES), strict=True):
        assert found == pytest.approx(each.chance(score))
        assert moves == wins_in(score)
