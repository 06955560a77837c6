"""Three trees that are worked through by hand, as facts about every search."""

import pytest

from meijin.bots.reference import Found, Game, Step, Trace, alphabeta, minimax, negamax
from meijin.bots.reference.tree import EXAMPLES, S1, S2, S4, Example, Tree, TreeGame, node

SEARCHES = {"max and min": alphabeta, "negamax": negamax}


@pytest.fixture(params=SEARCHES)
def searched(request: pytest.FixtureRequest) -> "Searched":
    """The examples, searched by alpha-beta in each of its two forms."""
    return Searched(request.param)


class Searched:
    """Traces of one form of alpha-beta."""

    def __init__(self, name: str) -> None:
        self._search = SEARCHES[name]

    def __call__(self, example: Example) -> "Steps":
        """Search one."""
        trace: Trace[int] = Trace()
        found = self._search(example.game(), trace=trace)
        return Steps(example.tree, found, trace.root)


class Steps:
    """The steps of a search, by the names of the tree's positions."""

    def __init__(self, tree: Tree, found: Found[int], root: Step[int]) -> None:
        self.found = found
        self._steps = {tree.at(step.path).name: step for step in root.walk()}

    def __getitem__(self, name: str) -> Step[int]:
        return self._steps[name]

    def leaves(self, name: str) -> list[float | None]:
        """The values of the leaves under a position, ``None`` for those not visited."""
        return [step.value for step in self[name].steps]

    def pruned(self) -> set[str]:
        """The positions with names that were not visited."""
        return {name for name, step in self._steps.items() if name and not step.is_visited}


def test_first_tree(searched: Searched) -> None:
    """The minimiser gets 2; A4's second leaf and the whole of A6 are pruned."""
    steps = searched(S1)
    assert steps.found.value == 2
    assert steps.leaves("A3") == [4, 2]
    assert steps.leaves("A4") == [1, None]
    left = steps["A4"].left
    assert (left.alpha, left.beta) == (2, 1)
    first, second = steps.leaves("A5")
    assert first == 4
    assert second is not None
    assert second >= 2
    assert steps.pruned() == {"A6"}
    assert steps["A6"].steps == []


def test_second_tree(searched: Searched) -> None:
    """The maximiser gets 3; C's second and third leaves are pruned, nothing else."""
    steps = searched(S2)
    assert steps.found.value == 3
    assert [steps.leaves(name) for name in "BCD"] == [[3, 12, 8], [2, None, None], [14, 5, 2]]
    assert steps.pruned() == set()
    assert [steps[name].relation for name in "BCD"] == ["=", "<=", "="]


def test_fourth_tree(searched: Searched) -> None:
    """The maximiser gets 7 by C, and visits the leaves that the text names."""
    steps = searched(S4)
    assert (steps.found.value, steps.found.moves) == (7, (2,))
    assert steps["A1"].value == 6
    assert max(filter(None, steps.leaves("A1"))) == 6
    assert steps.leaves("A2") == [2, 8, None]
    assert steps.leaves("A3") == [7, None, None]
    assert steps["A"].value == 6
    assert None not in steps.leaves("B1")
    assert steps["B1"].value == steps["B"].value == 5
    assert steps["B"].relation == "<="
    assert steps.pruned() == {"B2", "B3"}
    assert None not in steps.leaves("C1")
    assert steps["C1"].value == 7
    assert steps.leaves("C2") == [4, 8, None]
    assert steps.leaves("C3")[1:] == [9, None]
    assert steps["C"].value == 7


@pytest.mark.parametrize("name", EXAMPLES)
def test_minimax_agrees(name: str, searched: Searched) -> None:
    """Pruning changes neither the value nor the move."""
    example = EXAMPLES[name]
    plain, pruned = minimax(example.game()), searched(example).found
    assert plain.value == pruned.value
    assert plain.moves[:1] == pruned.moves
    assert plain.leaves > pruned.leaves


def test_walk_is_taken_back() -> None:
    """A game played down and up again stands where it stood."""
    game: Game[int] = TreeGame(node("root", node("left", 1, 2), 3), maximiser_first=False)
    key = game.key
    game.play(0)
    assert game.maximiser_to_move
    assert not game.is_over
    game.play(1)
    assert game.is_over
    assert game.evaluate() == 2
    game.undo()
    game.undo()
    assert game.key == key
    assert list(game.moves()) == [0, 1]
