"""What a first visit to pages costs: requests, bytes, and the time until there is something to see.

    python benchmarks/first_visit.py URL [PATH ...] [--repeat 7] [--json]

URL is that of a server's pages, such as http://127.0.0.1:7465. Each visit is made by Chromium in a
profile of its own, which has nothing cached, and lasts as long as anything but a stream is loaded.

requests                streams among them
kilobytes               as they came, compressed and with their heads; without streams
first_paint_ms          until the first text or picture is painted
board_ms                until the frame after the first with a board in it, where a page has one

Times are medians of --repeat visits, from the moment the page is asked for.
"""

import shutil
import statistics

from playwright.sync_api import Browser, sync_playwright
from report import Row, parser_of, report

PATHS = ("/", "/ladders", "/live", "/games", "/bots", "/tournaments", "/openings", "/play")
SETTLED_MS = 500

WATCH = """
(function look() {
  const board = document.querySelector("svg.board .lines");
  if (!board?.getBoundingClientRect().width) return requestAnimationFrame(look);
  requestAnimationFrame(() => { window.boardAt = performance.now(); });
})();
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def visit(browser: Browser, address: str) -> tuple[int, int, float, float | None]:
    """The requests, the bytes, and the milliseconds to the first paint and to the first board."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    asked: list[str] = []
    loaded: list[int] = []
    network.on("Network.requestWillBeSent", lambda sent: asked.append(sent["requestId"]))
    network.on("Network.loadingFinished", lambda done: loaded.append(done["encodedDataLength"]))
    page.add_init_script(WATCH)
    page.goto(address, wait_until="load")
    page.wait_for_timeout(SETTLED_MS)
    painted, board = page.evaluate(PAINTED), page.evaluate("window.boardAt")
    context.close()
    return len(asked), sum(loaded), painted, board


def row(browser: Browser, url: str, path: str, repeat: int) -> Row:
    visits = [visit(browser, url + path) for _ in range(repeat)]
    requests, sizes, paints, boards = zip(*visits, strict=True)
    seen = [board for board in boards if board is not None]
    return {
        "page": path,
        "requests": round(statistics.median(requests)),
        "kilobytes": round(statistics.median(sizes) / 1000, 1),
        "first_paint_ms": round(statistics.median(paints)),
        "board_ms": round(statistics.median(seen)) if seen else "",
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("url")
    parser.add_argument("paths", nargs="*", default=PATHS)
    parser.add_argument("--repeat", type=int, default=7)
    asked = parser.parse_args()
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        rows = [row(browser, asked.url, path, asked.repeat) for path in asked.paths]
    report("First visits", rows, as_json=asked.json)


if __name__ == "__main__":
    main()
