"""Traces of searches, and what they show of trees that are worked through by hand."""

from collections.abc import Callable

import pytest

from meijin.bots.reference import Found, Step, Trace, alphabeta, minimax, negamax
from meijin.bots.reference.tree import EXAMPLES, S1, S2, TreeGame, node

S1_TEXT = """\
root min = 2, entered with (-inf, inf)
  B1 max = 2, entered with (-inf, inf)
    A3 min = 2, entered with (-inf, inf)
      leaf = 4
      leaf = 2
    A4 min <= 1, entered with (2, inf), cut off at (2, 1)
      leaf = 1
      leaf: not visited
  B2 max >= 3, entered with (-inf, 2), cut off at (3, 2)
    A5 min = 3, entered with (-inf, 2)
      leaf = 4
      leaf = 3
    A6: not visited"""


@pytest.mark.parametrize("search", [alphabeta, negamax])
def test_text(search: Callable[..., object]) -> None:
    """A line a position, in the maximiser's terms whoever searches."""
    trace: Trace[int] = Trace()
    search(S1.game(), trace=trace)
    assert trace.text(lambda step: S1.tree.at(step.path).name or "leaf") == S1_TEXT
    alphabeta(TreeGame(S2.tree.at((1,))), trace=trace)  # in place of the search before
    assert trace.text().splitlines()[1:] == ["  0 = 2", "  1 = 4", "  2 = 6"]


@pytest.mark.parametrize("search", [alphabeta, negamax])
@pytest.mark.parametrize(
    ("name", "value", "leaves", "pruned"),
    [
        ("s2", 3, {"B": [3, 12, 8], "C": [2, None, None], "D": [14, 5, 2]}, set()),
        (
            "s4",
            7,
            {
                "A1": [3, 6, 5],
                "A2": [2, 8, None],
                "A3": [7, None, None],
                "B1": [5, 4, 1],
                "C1": [3, 7, 6],
                "C2": [4, 8, None],
                "C3": [5, 9, None],
            },
            {"B2", "B3"},
        ),
    ],
)
def test_trees_worked_by_hand(
    search: Callable[..., Found[int]],
    name: str,
    value: float,
    leaves: dict[str, list[float | None]],
    pruned: set[str],
) -> None:
    """What each position's leaves are worth, ``None`` for those not visited; minimax agrees."""
    example = EXAMPLES[name]
    trace: Trace[int] = Trace()
    found, plain = search(example.game(), trace=trace), minimax(example.game())
    steps = {example.tree.at(step.path).name: step for step in trace.root.walk()}
    assert {each: [leaf.value for leaf in steps[each].steps] for each in leaves} == leaves
    assert {each for each, step in steps.items() if each and not step.is_visited} == pruned
    assert found.value == plain.value == value
    assert found.moves == plain.moves[:1]


@pytest.mark.parametrize("search", [alphabeta, negamax])
@pytest.mark.parametrize(("sign", "relation"), [(1, "<="), (-1, ">=")])
def test_equal_is_enough_to_cut_off(
    search: Callable[..., object], sign: int, relation: str
) -> None:
    """A node is left when alpha reaches beta; all that is known of it then is a bound."""
    tree = node("", node("", 3 * sign, 5 * sign), node("", 3 * sign, 9 * sign))
    trace: Trace[int] = Trace()
    search(TreeGame(tree, maximiser_first=sign > 0), trace=trace)
    second = trace.root.steps[1]
    assert (second.is_cut_off, second.relation) == (True, relation)
    assert [leaf.is_visited for leaf in second.steps] == [True, False]
    assert {leaf.maximises for leaf in second.steps} == {sign > 0}


def test_minimax_leaves_nothing_out() -> None:
    """Every position is a step, none is cut off, and their number is what was counted."""
    trace: Trace[int] = Trace()
    found = minimax(S2.game(), trace=trace)
    steps: list[Step[int]] = list(trace.root.walk())
    assert len(steps) == found.nodes
    assert all(step.is_visited and step.is_exact and not step.is_cut_off for step in steps)
    assert [step.move for step in trace.root.steps] == [0, 1, 2]


def test_depth_limit_is_seen() -> None:
    """At the limit a position is evaluated, and its moves are no steps."""
    trace: Trace[int] = Trace()
    alphabeta(S2.game(), 1, trace=trace)
    assert [(step.value, step.steps) for step in trace.root.steps] == [(0, [])] * 3
