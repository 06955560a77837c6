"""`meijin learn 2048`: watch a search slide tiles."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table

from meijin.bots.reference.slides import SIDE, Grid, Slide, slid
from meijin.bots.reference.twenty48 import (
    Twenty48,
    any_placement,
    depth_for,
    opening_grid,
    placed,
    search,
)
from meijin.cli.commands.learn.tictactoe import SeedOption
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json


@dataclass(frozen=True, slots=True)
class Turn:
    """A slide and the tile that came after it."""

    number: int
    slide: str
    grid: Grid
    depth: int
    """Plies that the search looked ahead."""
    nodes: int
    """Positions that it visited."""


def twenty48(
    seed: SeedOption = None,
    moves: Annotated[
        int | None, typer.Option(help="Stop after so many slides; else at the game's end.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Watch alpha-beta play 2048, as if every new tile were an enemy's.

    It looks 4 plies ahead, 5 once there is a tile of 1024, 6 once there is one of 2048.
    """
    if moves is not None and moves < 1:
        raise CommandError(f"{moves} moves are none to watch; give --moves 1 or more")
    rng = Random(seed)  # noqa: S311 - no secret hangs on it
    start = opening_grid(rng)
    turns = _turns(start, rng, moves)
    last = Turn(0, "", start, 0, 0)
    on_screen = console.is_terminal and not as_json
    with Live(console=console, auto_refresh=False) if on_screen else nullcontext() as live:
        for last in turns:
            if live is not None:
                live.update(Group(_line(last), _picture(last)), refresh=True)
            elif not as_json:
                console.print(_line(last))
    if as_json:
        print_json(_record(last))
        return
    if not on_screen:
        console.print(_picture(last))
    console.print(_verdict(last))


def _turns(grid: Grid, rng: Random, moves: int | None) -> Iterator[Turn]:
    """The game from `grid` on, up to so many slides."""
    number = 0
    while number != moves and not Twenty48(grid).is_over:
        number += 1
        found = search(grid)
        assert isinstance(found.move, Slide)
        after = slid(grid, found.move)
        depth = depth_for(grid)
        grid = placed(after, any_placement(after, rng))
        yield Turn(number, found.move.value, grid, depth, found.nodes)


def _line(turn: Turn) -> str:
    return (
        f"{turn.number}: {turn.slide}, largest {max(turn.grid)}, sum {sum(turn.grid)}; "
        f"{turn.depth} plies, {turn.nodes} positions"
    )


def _picture(turn: Turn) -> Table:
    picture = Table(show_header=False, show_lines=True)
    for _ in range(SIDE):
        picture.add_column(justify="right", min_width=4)
    for at in range(0, len(turn.grid), SIDE):
        picture.add_row(*(str(tile or "") for tile in turn.grid[at : at + SIDE]))
    return picture


def _verdict(turn: Turn) -> str:
    over = "over" if Twenty48(turn.grid).is_over else "stopped"
    return f"{over} after {turn.number} slides; the largest tile is {max(turn.grid)}"


def _record(turn: Turn) -> dict[str, object]:
    rows = [list(turn.grid[at : at + SIDE]) for at in range(0, len(turn.grid), SIDE)]
    return {
        "moves": turn.number,
        "over": Twenty48(turn.grid).is_over,
        "largest": max(turn.grid),
        "sum": sum(turn.grid),
        "grid": rows,
    }
