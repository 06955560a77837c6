"""Pictures of every page in both themes at four widths, for people to look at.

    python -m tests.web.browser.pictures

They are put into ``build/pictures`` with a page that shows all of them.
"""

from __future__ import annotations

import re
import tempfile
from html import escape
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright
from tests.web.addresses import OWN_PAGES, PAGES
from tests.web.browser.chromium import PATIENCE_MS, Watched, launch
from tests.web.browser.conftest import sign_in
from tests.web.browser.stage import Stage, set_stage

FOLDER = Path(__file__).resolve().parents[3] / "build" / "pictures"
SIZES = {1920: 1080, 1440: 900, 1366: 768, 390: 844}
"""Heights of the screen by widths; what lies below is in the picture too."""
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SETTLED_MS = 300
"""Charts are drawn anew when the width changes."""

HEAD = """<!doctype html>
<meta charset="utf-8"><title>Pages of Meijin</title>
<style>
body { font: 1rem system-ui; margin: 1rem; }
div { display: flex; gap: 0.5rem; overflow-x: auto; }
img { height: 20rem; border: 1px solid #888; object-fit: cover; object-position: top; }
</style>
"""


def take(page: Page, name: str) -> str:
    """Take the pictures of a page that is open, and tell the HTML that shows them."""
    shown = []
    for width, height in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(SETTLED_MS)
            file = f"{name}.{width}.{theme}.jpeg"
            page.screenshot(path=FOLDER / file, full_page=True, type="jpeg", quality=80)
            shown.append(f'<a href="{file}"><img src="{file}" alt="{width} {theme}"></a>')
    return f"<div>{''.join(shown)}</div>\n"


def take_all(page: Page, stage: Stage) -> str:
    """Take those of all pages, and tell the HTML that shows them; those of one's own come last."""
    parts = []
    for table in (PAGES, OWN_PAGES):
        if table is OWN_PAGES:
            sign_in(Watched(page, stage.origin), stage.operator_token)
        for form in (form for forms in table.values() for form in forms):
            answer = page.goto(stage.origin + stage.address(form))
            assert answer is not None
            assert answer.ok, f"{form}: {answer.status}"
            name = re.sub(r"[^a-z0-9]+", "-", form.lower()).strip("-") or "home"
            parts.append(f"<h2>{escape(form)}</h2>\n{take(page, name)}")
            print(form, flush=True)
    return "".join(parts)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="meijin-") as folder,
        set_stage(Path(folder)) as stage,
        sync_playwright() as playwright,
        launch(playwright) as browser,
    ):
        page = browser.new_page(reduced_motion="reduce")
        page.set_default_timeout(PATIENCE_MS)
        (FOLDER / "index.html").write_text(HEAD + take_all(page, stage), encoding="utf-8")
    print(f"Look at {FOLDER / 'index.html'}.")


if __name__ == "__main__":
    main()
