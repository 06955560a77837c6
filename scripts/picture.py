"""Draws the picture of the README: a finished game and the ladder that it counts for.

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

from meijin.game import GOMOKU, Board
from meijin.game.board.coordinates import parse_cell
from meijin.local.server import local_server

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
RUN = "run.json"
LEVELS = {f"alphabeta-{level}": ("alphabeta", f"-olevel={level}") for level in (7, 5, 3, 1)}
BOTS: Mapping[str, tuple[str, ...]] = {**LEVELS, "random": ("random",)}
TERMS = ("--time=60+1", "--rounds=8", "--seed=7", "--name=Picture", "--json")

POLL = 0.5
"""Seconds between two questions."""

CELL, MARGIN = 24, 28
BOARD = 2 * MARGIN + (GOMOKU.width - 1) * CELL
LEFT, ROW, BARS = BOARD + 24, 46, 210
WIDTH, HEIGHT = 800, BOARD
STONE = 10.5


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one picture."""

    page: str
    text: str
    faint: str
    board: str
    grid: str
    bar: str
    ring: str


PALETTES = {
    "light": Palette("#ffffff", "#1f2328", "#656d76", "#e8c98f", "#8a6a34", "#0969da", "#cf222e"),
    "dark": Palette("#0d1117", "#e6edf3", "#8d96a0", "#b8955a", "#5c4520", "#4493f8", "#ff7b72"),
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


def winning_five(cells: tuple[int, ...]) -> list[int]:
    """The line of the last stone that has won; empty if there is none."""
    board, width = Board.from_moves(cells), GOMOKU.width
    row, column = divmod(cells[-1], width)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = [
            (row + down * step, column + right * step)
            for step in range(-GOMOKU.line, GOMOKU.line + 1)
        ]
        run: list[int] = []
        for y, x in line:
            is_on = 0 <= y < GOMOKU.height and 0 <= x < width
            is_own = is_on and board.stone(y * width + x) is board.stone(cells[-1])
            run = [*run, y * width + x] if is_own else []
            if len(run) == GOMOKU.line and cells[-1] in run:
                return run
    return []


def draw(run: Run, palette: Palette) -> str:
    """The picture as SVG."""
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}" role="img" '
                'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">'
            ),
            (
                f"<title>Game {run.game}, {escape(run.black)} against {escape(run.white)}, and the "
                "ladder with 95 % intervals</title>"
            ),
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{palette.page}"/>',
            *_board(run, palette),
            *_ladder(run, palette),
            "</svg>\n",
        )
    )


def _board(run: Run, palette: Palette) -> Iterator[str]:
    """The board with its numbered stones, the winning five ringed."""
    yield f'<rect width="{BOARD}" height="{BOARD}" rx="6" fill="{palette.board}"/>'
    end = BOARD - MARGIN
    for place in range(GOMOKU.width):
        at = MARGIN + place * CELL
        ends = f'stroke="{palette.grid}"'
        yield f'<path d="M{at} {MARGIN}V{end}M{MARGIN} {at}H{end}" {ends}/>'
    five = winning_five(run.cells)
    for number, cell in enumerate(run.cells, start=1):
        row, column = divmod(cell, GOMOKU.width)
        x, y = MARGIN + column * CELL, MARGIN + row * CELL
        fill, ink = ("#111111", "#f5f5f5") if number % 2 else ("#fafafa", "#222222")
        ring = f' stroke="{palette.ring}" stroke-width="3"' if cell in five else ""
        yield f'<circle cx="{x}" cy="{y}" r="{STONE}" fill="{fill}"{ring}/>'
        yield (
            f'<text x="{x}" y="{y + 3.5}" font-size="10" text-anchor="middle" '
            f'fill="{ink}">{number}</text>'
        )


def _ladder(run: Run, palette: Palette) -> Iterator[str]:
    """The bots with their ratings and intervals, on one scale."""
    low = min(line.elo - line.margin for line in run.lines)
    high = max(line.elo + line.margin for line in run.lines)
    scale = BARS / (high - low)
    yield _text(LEFT, 34, run.ladder, palette.text, 15)
    yield _text(LEFT, 54, f"Elo with 95 % intervals, {run.games} games", palette.faint, 12)
    for place, line in enumerate(run.lines):
        y = 92 + place * ROW
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
