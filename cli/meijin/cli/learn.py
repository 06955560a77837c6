"""`meijin learn`: adversarial search, looked at while it works."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Annotated, NamedTuple

from rich.console import Console
from rich.text import Text
from rich.tree import Tree as Picture

from meijin.bots.reference import Found, Step, Trace, alphabeta, fewest_leaves, minimax, shuffled
from meijin.bots.reference.gomoku import MIDGAME, NEAR, GomokuGame, by_promise
from meijin.bots.reference.tree import EXAMPLES, Tree
from meijin.cli.command import Commands, Output
from meijin.cli.errors import CommandError
from meijin.cli.tables import number, table
from meijin.game import Board

app = Commands()

_RELATIONS = {"=": "=", "<=": "≤", ">=": "≥"}


@app.command()
def tree(name: Annotated[str, f"Which tree: {', '.join(EXAMPLES)}."] = "s1") -> Output:
    """Draw a tree searched by alpha-beta: values, bounds, and in grey what it left out.

    In s1 the minimiser moves first, in s2 and s4 the maximiser.
    """
    if name not in EXAMPLES:
        raise CommandError(f'no tree "{name}"; there are {", ".join(EXAMPLES)}')
    example = EXAMPLES[name]
    trace: Trace[int] = Trace()
    found = alphabeta(example.game(), trace=trace)
    leaves = sum(1 for each in _all(example.tree) if each.is_leaf)
    best = example.tree.at(found.moves).name
    said = f"value {found.value:g} by {best}; {found.leaves} of {leaves} leaves visited"
    value = {
        "name": name,
        "value": found.value,
        "best": best,
        "nodes": found.nodes,
        "leaves": found.leaves,
        "root": _step_record(example.tree, trace.root),
    }
    return Output(value, [_picture(example.tree, trace.root), said])


def _all(tree: Tree) -> list[Tree]:
    return [tree, *(each for branch in tree.branches for each in _all(branch))]


def _picture(tree: Tree, step: Step[int]) -> Picture:
    """The tree from `step` on, its branches from left to right as the tree has them."""
    picture = Picture(_label(tree, step), guide_style="dim")
    steps = {below.move: below for below in step.steps}
    for place, branch in enumerate(tree.branches):
        unvisited = Step((*step.path, place), not step.maximises)
        picture.children.append(_picture(branch, steps.get(place, unvisited)))
    return picture


def _label(tree: Tree, step: Step[int]) -> Text:
    if not step.is_visited:
        return Text(f"{tree.name or f'{tree.value:g}'} not visited", style="bright_black")
    if tree.is_leaf:
        return Text(f"{tree.value:g}")
    relation = _RELATIONS[step.relation]
    text = Text.assemble(
        (tree.name, "bold"),
        f" {'max' if step.maximises else 'min'} {relation} {step.value:g}",
        (f"  alpha {_bound(step.entered.alpha)}, beta {_bound(step.entered.beta)}", "cyan"),
    )
    if step.is_cut_off:
        closed = f"alpha {step.left.alpha:g} ≥ beta {step.left.beta:g}"
        text.append(f"  cut off: {closed}", style="yellow")
    return text


def _bound(value: float) -> str:
    return f"{value:g}".replace("inf", "∞")


def _step_record(tree: Tree, step: Step[int]) -> dict[str, object]:
    """A position; where a bound is infinite, or nothing was visited, there is ``null``."""
    if tree.is_leaf or not step.is_visited:
        return {"name": tree.name, "visited": step.is_visited, "value": step.value}
    return {
        "name": tree.name,
        "visited": True,
        "value": step.value,
        "exact": step.is_exact,
        "side": "max" if step.maximises else "min",
        "alpha": _finite(step.entered.alpha),
        "beta": _finite(step.entered.beta),
        "cut_off": step.is_cut_off,
        "branches": [_step_record(tree.at((each.path[-1],)), each) for each in step.steps],
    }


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


MAX_DEPTH = 4
MOST_POSITIONS = 2_000_000
"""Minimax is left out where it would visit more, which takes it a minute or longer."""


class Run(NamedTuple):
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
        is_known = "minimax" in self.runs
        return self.runs["minimax"].nodes if is_known else self.branching**self.depth

    @property
    def bound(self) -> int:
        """The leaves that no alpha-beta can do without."""
        return fewest_leaves(self.branching, self.depth)

    def visited(self, name: str) -> str:
        return f"{self.runs[name].nodes:,}" if name in self.runs else f"(~{self.positions:,})"

    def seconds(self, name: str) -> str:
        return f"{self.runs[name].seconds:.3f}" if name in self.runs else "-"

    def as_json(self) -> dict[str, object]:
        return {
            "depth": self.depth,
            "branching": self.branching,
            "searches": {
                name: run._asdict() | {"seconds": round(run.seconds, 6)}
                for name, run in self.runs.items()
            },
            "square_root": round(self.positions**0.5, 1),
            "three_quarters": round(self.positions**0.75, 1),
            "bound": self.bound,
        }


@app.command()
def gomoku(
    depth: Annotated[int, f"Plies to look ahead at most, 1 to {MAX_DEPTH}."] = 2,
    near: Annotated[bool, f"Only cells at most {NEAR} from a stone, not all."] = False,
) -> Output:
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
    value = {"near": near, "depths": [row.as_json() for row in rows]}
    visited = (
        number("plies", "depth"),
        *(number(name, partial(Row.visited, name=name)) for name in SEARCHES),
        number("n^(1/2)", lambda row: f"{row.positions**0.5:,.0f}"),
        number("n^(3/4)", lambda row: f"{row.positions**0.75:,.0f}"),
        number("bound", lambda row: f"{row.bound:,.0f}"),
    )
    seconds = (visited[0], *(number(name, partial(Row.seconds, name=name)) for name in SEARCHES))
    tables = (table("Positions visited", visited, rows), table("Seconds", seconds, rows))
    return Output(value, (tables[0], "", tables[1]))


def _row(game: GomokuGame, depth: int) -> Row:
    branching = len(game.moves())
    runs = {}
    for name, search in SEARCHES.items():
        if name != "minimax" or branching**depth <= MOST_POSITIONS:
            start = time.perf_counter()
            found = search(game, depth)
            runs[name] = Run(found.nodes, found.leaves, time.perf_counter() - start)
    return Row(depth, branching, runs)


SEARCHES: Mapping[str, Callable[[GomokuGame, int], Found[int]]] = MappingProxyType(
    {
        "minimax": minimax,
        "scan": alphabeta,
        "random": lambda game, depth: alphabeta(game, depth, order=shuffled(Random(1))),  # noqa: S311 - no secret
        "ordered": lambda game, depth: alphabeta(game, depth, order=by_promise(game.board)),
    }
)
"""What is compared: minimax, and alpha-beta in three orders."""
