"""`meijin learn gomoku`: what pruning saves, and what the order of moves does to it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from meijin.bots.reference import (
    Found,
    alphabeta,
    fewest_leaves,
    minimax,
    shuffled,
)
from meijin.bots.reference.gomoku import MIDGAME, NEAR, GomokuGame, by_promise
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json, table
from meijin.game import Board

MAX_DEPTH = 4
MOST_POSITIONS = 2_000_000
"""Minimax is left out where it would visit more, which takes it a minute or longer."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one search cost."""

    nodes: int
    leaves: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """All searches of one depth."""

    depth: int
    branching: int
    """Moves of the first position."""
    runs: Mapping[str, Run]
    """By the search's name; minimax is missing where it was left out."""

    @property
    def positions(self) -> int:
        """What minimax visits; where it was left out, about that."""
        run = self.runs.get("minimax")
        return self.branching**self.depth if run is None else run.nodes

    @property
    def bound(self) -> int:
        """The leaves that no alpha-beta can do without."""
        return fewest_leaves(self.branching, self.depth)


def gomoku(
    depth: Annotated[
        int,
        typer.Option(help=f"Plies to look ahead at most, 1 to {MAX_DEPTH}."),
    ] = 2,
    near: Annotated[
        bool, typer.Option("--near", help=f"Only cells at most {NEAR} from a stone, not all.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare minimax and alpha-beta on one position of Gomoku, depth by depth.

    Alpha-beta tries the cells in scan order, in random order, and in the order of the runs of
    stones through them. Of n positions that minimax visits, n^(1/2) is the ideal and n^(3/4)
    about what a random order needs; the bound is the leaves that the perfect order visits.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise CommandError(f"depth {depth} is out of range; give --depth 1 to {MAX_DEPTH}")
    board = Board.from_moves(MIDGAME)
    game = GomokuGame(board, reach=NEAR if near else None)
    with Console(stderr=True).status("searching ..."):
        rows = [_row(game, plies) for plies in range(1, depth + 1)]
    if as_json:
        print_json({"near": near, "depths": [_record(row) for row in rows]})
        return
    console.print(_positions_table(rows))
    console.print()
    console.print(_seconds_table(rows))


def _row(game: GomokuGame, depth: int) -> Row:
    branching = len(game.moves())
    chosen = {
        name: search
        for name, search in SEARCHES.items()
        if name != "minimax" or branching**depth <= MOST_POSITIONS
    }
    return Row(depth, branching, {name: _timed(run, game, depth) for name, run in chosen.items()})


def _timed(search: Callable[[GomokuGame, int], Found[int]], game: GomokuGame, depth: int) -> Run:
    start = time.perf_counter()
    found = search(game, depth)
    return Run(found.nodes, found.leaves, time.perf_counter() - start)


def _scan(game: GomokuGame, depth: int) -> Found[int]:
    return alphabeta(game, depth)


def _random(game: GomokuGame, depth: int) -> Found[int]:
    return alphabeta(game, depth, order=shuffled(Random(1)))  # noqa: S311 - no secret


def _ordered(game: GomokuGame, depth: int) -> Found[int]:
    return alphabeta(game, depth, order=by_promise(game.board))


SEARCHES: Mapping[str, Callable[[GomokuGame, int], Found[int]]] = MappingProxyType(
    {"minimax": minimax, "scan": _scan, "random": _random, "ordered": _ordered}
)
"""What is compared: minimax, and alpha-beta in three orders."""


def _positions_table(rows: list[Row]) -> Table:
    made = table(
        "Positions visited",
        ("plies", *SEARCHES, "n^(1/2)", "n^(3/4)", "bound"),
        text_columns=0,
    )
    for row in rows:
        runs = (row.runs.get(name) for name in SEARCHES)
        visited = (f"(~{row.positions:,})" if run is None else f"{run.nodes:,}" for run in runs)
        marks = (row.positions**0.5, row.positions**0.75, row.bound)
        made.add_row(str(row.depth), *visited, *(f"{mark:,.0f}" for mark in marks))
    return made


def _seconds_table(rows: list[Row]) -> Table:
    made = table("Seconds", ("plies", *SEARCHES), text_columns=0)
    for row in rows:
        runs = (row.runs.get(name) for name in SEARCHES)
        made.add_row(
            str(row.depth), *("-" if run is None else f"{run.seconds:.3f}" for run in runs)
        )
    return made


def _record(row: Row) -> dict[str, object]:
    runs = {
        name: {"nodes": run.nodes, "leaves": run.leaves, "seconds": round(run.seconds, 6)}
        for name, run in row.runs.items()
    }
    return {
        "depth": row.depth,
        "branching": row.branching,
        "searches": runs,
        "square_root": round(row.positions**0.5, 1),
        "three_quarters": round(row.positions**0.75, 1),
        "bound": row.bound,
    }
