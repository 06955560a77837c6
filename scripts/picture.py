"""Draws the moving picture of the README: a game, and the ladder that it counts for.

    python scripts/picture.py            draws docs/pictures/run.json, in light and dark
    python scripts/picture.py --play     plays a tournament first, and writes run.json

The bots are `alphabeta` at levels, which are bounded by nodes, and `random`; the same seed makes
the same schedule, openings and colours.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree as ET

from meijin.game import GOMOKU, Board
from meijin.game.board.coordinates import parse_cell
from meijin.game.board.svg import SVG, board_svg, place
from meijin.local.server import local_server

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
RUN = "run.json"
LEVELS = {f"alphabeta-{level}": ("alphabeta", f"-olevel={level}") for level in (7, 5, 3, 1)}
BOTS: Mapping[str, tuple[str, ...]] = {**LEVELS, "random": ("random",)}
TERMS = ("--time=60+1", "--rounds=8", "--seed=7", "--name=Picture", "--json")

POLL = 0.5
"""Seconds between two questions."""

BOARD = 392
"""Pixels of a side of the board."""
LEFT, ROW, BARS = BOARD + 24, 46, 210
WIDTH, HEIGHT = 800, BOARD
MOVE_SECONDS, FIRST_SECONDS = 0.6, 1
"""From one move to the next, and to the first."""
# Browsers don't say to a picture within a page that motion is unwanted: the page asks for `#still`.
STYLE = """<style>
@keyframes come { from { opacity: 0 } }
@media (prefers-reduced-motion: no-preference) {
  #still:not(:target) [style] { animation: come 0.2s both }
}
</style>"""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one picture, which are those of the pages."""

    page: str
    text: str
    faint: str
    bar: str


PALETTES = {
    "light": Palette("#ffffff", "#1f1b16", "#625a4d", "#19568f"),
    "dark": Palette("#0d1117", "#edeae4", "#b5ada0", "#8cc4ff"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One bot of the ladder."""

    bot: str
    elo: int
    margin: int


@dataclass(frozen=True, slots=True)
class Run:
    """What is drawn."""

    ladder: str
    games: int
    lines: tuple[Line, ...]
    """Best first."""
    game: str
    """The game's number."""
    black: str
    white: str
    cells: tuple[int, ...]
    """In the order of play; the last one makes five."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` has written."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines = tuple(Line(**line) for line in kept.pop("lines"))
        return cls(lines=lines, cells=tuple(kept.pop("cells")), **kept)

    def write(self, path: Path) -> None:
        """Keep it."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def draw(run: Run, palette: Palette) -> str:
    """The picture as SVG."""
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}" id="still" role="img" '
                'font-family="Figtree, system-ui, sans-serif">'
            ),
            (
                f"<title>Game {run.game}, {escape(run.black)} against {escape(run.white)}, and the "
                "ladder with 95 % intervals</title>"
            ),
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{palette.page}"/>',
            STYLE,
            _board(run),
            *_ladder(run, palette),
            "</svg>\n",
        )
    )


def _board(run: Run) -> str:
    """The board of the pages, on which the stones come one after another, the last one marked."""
    board = ET.fromstring(board_svg(Board.from_moves(run.cells)))
    plies = {place(cell, GOMOKU): ply for ply, cell in enumerate(run.cells)}
    for element in board.iter():
        match element.get("class"):
            case "black" | "white":
                ply = plies[int(element.attrib["cx"]), int(element.attrib["cy"])]
            case "on-black" | "on-white":
                ply = int(element.text or 0) - 1
            case "win" | "last":
                ply = len(run.cells)
            case _:
                continue
        element.set("style", f"animation-delay:{FIRST_SECONDS + ply * MOVE_SECONDS:.1f}s")
    ET.register_namespace("", SVG)
    return ET.tostring(board, encoding="unicode")


def _ladder(run: Run, palette: Palette) -> Iterator[str]:
    """The bots with their ratings and intervals, on one scale."""
    low = min(line.elo - line.margin for line in run.lines)
    high = max(line.elo + line.margin for line in run.lines)
    scale = BARS / (high - low)
    yield _text(LEFT, 34, run.ladder, palette.text, 15)
    yield _text(LEFT, 54, f"Elo with 95 % intervals, {run.games} games", palette.faint, 12)
    for row, line in enumerate(run.lines):
        y = 92 + row * ROW
        left = LEFT + 130 + (line.elo - line.margin - low) * scale
        middle, right = left + line.margin * scale, left + 2 * line.margin * scale
        yield _text(LEFT, y, line.bot, palette.text, 13)
        yield _text(LEFT, y + 16, f"{line.elo} ± {line.margin}", palette.faint, 12)
        yield (
            f'<path d="M{left:.1f} {y - 4}H{right:.1f}M{left:.1f} {y - 9}v10M{right:.1f} '
            f'{y - 9}v10" stroke="{palette.bar}" stroke-width="2" fill="none"/>'
        )
        yield f'<circle cx="{middle:.1f}" cy="{y - 4}" r="4.5" fill="{palette.bar}"/>'
    told = f"game {run.game}: {run.black} (black) against {run.white},"
    winner = run.black if len(run.cells) % 2 else run.white
    yield _text(LEFT, HEIGHT - 44, told, palette.faint, 12)
    yield _text(
        LEFT, HEIGHT - 26, f"{winner} wins by five, {len(run.cells)} plies", palette.faint, 12
    )


def _text(x: int, y: int, text: str, fill: str, size: int) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}">{escape(text)}</text>'


@contextmanager
def running_bot(name: str, words: tuple[str, ...], address: str, log: Path) -> Iterator[None]:
    """Run a bot on a server."""
    command = (sys.executable, "-m", "meijin", "bot", "run", *words, f"--name={name}")
    with log.open("wb") as file:
        bot = subprocess.Popen([*command, f"--server={address}"], stdout=file, stderr=file)
    try:
        yield
    finally:
        bot.terminate()
        bot.wait()


def play() -> Run:
    """Play the tournament on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="meijin-") as folder, ExitStack() as stack:
        address, _ = stack.enter_context(local_server(Path(folder)))
        for name, words in BOTS.items():
            stack.enter_context(running_bot(name, words, address, Path(folder) / f"{name}.log"))
        while len(ask(address, "bot", "list", "--connected", "--json")["bots"]) < len(BOTS):
            time.sleep(POLL)
        ask(address, "tournament", "run", *BOTS, *TERMS)
        ladder = ask(address, "ladder", "--json")
        while not ladder["ladder"].get("current"):
            time.sleep(POLL)
            ladder = ask(address, "ladder", "--json")
        games = ask(address, "game", "list", "--limit=1000", "--json")["games"]
        number = min(filter(_is_shown, games), key=lambda game: int(game["game_id"]))["game_id"]
        return _run(ladder, ask(address, "game", "show", number, "--json"))


def _is_shown(game: Mapping[str, Any]) -> bool:
    """Whether it is one between the two strongest that ended by five."""
    strongest = set(list(BOTS)[:2])
    is_five: bool = game["outcome"]["ending"] == "five"
    return is_five and {game["black"], game["white"]} == strongest


def _run(ladder: Mapping[str, Any], game: Mapping[str, Any]) -> Run:
    return Run(
        ladder=ladder["ladder"]["name"],
        games=int(ladder["run"]["games"]),
        lines=tuple(
            Line(row["bot"], round(row["elo"]), round(row["margin"])) for row in ladder["standings"]
        ),
        game=game["game_id"],
        black=game["black"],
        white=game["white"],
        cells=tuple(parse_cell(move["cell"], GOMOKU) for move in game["moves"]),
    )


def ask(address: str, *words: str) -> Any:  # noqa: ANN401 - JSON
    """What a command prints as JSON."""
    command = (sys.executable, "-m", "meijin", *words, f"--server={address}")
    env = {key: value for key, value in os.environ.items() if not key.startswith("MEIJIN_")}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Draw both pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", action="store_true", help="play the tournament first")
    if parser.parse_args().play:
        play().write(FOLDER / RUN)
    run = Run.read(FOLDER / RUN)
    for name, palette in PALETTES.items():
        (FOLDER / f"arena-{name}.svg").write_text(draw(run, palette), encoding="utf-8")


if __name__ == "__main__":
    main()
