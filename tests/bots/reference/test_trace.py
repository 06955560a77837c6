"""Traces of searches."""

from collections.abc import Callable

import pytest

from meijin.bots.reference import Trace, Window, alphabeta, minimax, negamax
from meijin.bots.reference.tree import S1, S2, TreeGame, node

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


def test_text_names_moves() -> None:
    """Without names a line begins with its move."""
    trace: Trace[int] = Trace()
    alphabeta(TreeGame(S2.tree.at((1,))), trace=trace)
    lines = trace.text().splitlines()
    assert lines[1:] == ["  0 = 2", "  1 = 4", "  2 = 6"]


@pytest.mark.parametrize("search", [alphabeta, negamax])
@pytest.mark.parametrize("maximiser_first", [True, False])
def test_equal_is_enough_to_cut_off(
    search: Callable[..., object],
    maximiser_first: bool,  # noqa: FBT001
) -> None:
    """A node is left when alpha reaches beta; all that is known of it then is a bound."""
    sign = 1 if maximiser_first else -1
    tree = node("", node("", 3 * sign, 5 * sign), node("", 3 * sign, 9 * sign))
    trace: Trace[int] = Trace()
    search(TreeGame(tree, maximiser_first=maximiser_first), trace=trace)
    second = trace.root.steps[1]
    assert second.is_cut_off
    assert second.relation == ("<=" if maximiser_first else ">=")
    assert [leaf.is_visited for leaf in second.steps] == [True, False]
    assert {leaf.maximises for leaf in second.steps} == {maximiser_first}


def test_minimax_leaves_nothing_out() -> None:
    """Every position is a step, none is cut off, and their number is what was counted."""
    trace: Trace[int] = Trace()
    found = minimax(S2.game(), trace=trace)
    steps = list(trace.root.walk())
    assert len(steps) == found.nodes
    assert all(step.is_visited and step.is_exact and not step.is_cut_off for step in steps)
    assert {step.depth for step in steps} == {0, 1, 2}
    assert [step.move for step in trace.root.steps] == [0, 1, 2]


def test_depth_limit_is_seen() -> None:
    """At the limit a position is evaluated, and its moves are no steps."""
    trace: Trace[int] = Trace()
    alphabeta(S2.game(), 1, trace=trace)
    assert [step.value for step in trace.root.steps] == [0, 0, 0]
    assert all(not step.steps for step in trace.root.steps)


def test_trace_can_be_used_again() -> None:
    """The newest search replaces the one before."""
    trace: Trace[int] = Trace()
    alphabeta(S1.game(), trace=trace)
    alphabeta(S2.game(), trace=trace)
    assert trace.root.value == 3


def test_window_closes() -> None:
    """A node is left as soon as alpha reaches beta."""
    window = Window(1, 5)
    assert not window.is_closed
    assert window.narrowed(5, maximises=True).is_closed
    assert window.narrowed(0, maximises=True) == window
    assert window.narrowed(1, maximises=False).is_closed
    assert str(window) == "(1, 5)"
