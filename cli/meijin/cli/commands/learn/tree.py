"""`meijin learn tree`: a worked tree with what alpha-beta did in it."""

import math
from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree as Picture

from meijin.bots.reference import Found, Step, Trace, alphabeta
from meijin.bots.reference.tree import EXAMPLES, Example, Tree
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json

_RELATIONS = {"=": "=", "<=": "≤", ">=": "≥"}


def tree(
    name: Annotated[str, typer.Option(help=f"Which tree: {', '.join(EXAMPLES)}.")] = "s1",
    as_json: JsonOption = False,
) -> None:
    """Draw a tree searched by alpha-beta: values, bounds, and in grey what it left out.

    In s1 the minimiser moves first, in s2 and s4 the maximiser.
    """
    if name not in EXAMPLES:
        raise CommandError(f'no tree "{name}"; there are {", ".join(EXAMPLES)}')
    example = EXAMPLES[name]
    trace: Trace[int] = Trace()
    found = alphabeta(example.game(), trace=trace)
    if as_json:
        print_json(_record(name, example, found, trace.root))
        return
    console.print(_picture(example.tree, trace.root))
    leaves = sum(1 for each in _all(example.tree) if each.is_leaf)
    best = example.tree.at(found.moves).name
    console.print(f"value {found.value:g} by {best}; {found.leaves} of {leaves} leaves visited")


def _all(tree: Tree) -> list[Tree]:
    return [tree, *(each for branch in tree.branches for each in _all(branch))]


def _picture(tree: Tree, step: Step[int]) -> Picture:
    """The tree from `step` on, its branches from left to right as the tree has them."""
    picture = Picture(_label(tree, step), guide_style="dim")
    steps = {below.move: below for below in step.steps}
    for number, branch in enumerate(tree.branches):
        unvisited = Step((*step.path, number), not step.maximises)
        picture.children.append(_picture(branch, steps.get(number, unvisited)))
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


def _record(name: str, example: Example, found: Found[int], root: Step[int]) -> dict[str, object]:
    return {
        "name": name,
        "value": found.value,
        "best": example.tree.at(found.moves).name,
        "nodes": found.nodes,
        "leaves": found.leaves,
        "root": _step_record(example.tree, root),
    }


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
