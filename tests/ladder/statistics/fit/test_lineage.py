"""Who came from whom, by places and across versions that are not rated."""

import numpy as np

from meijin.ladder.statistics.fit.lineage import Lineage


def rows(lineage: Lineage) -> list[list[int]]:
    found: list[list[int]] = np.column_stack(
        (lineage.child, lineage.parent, lineage.steps)
    ).tolist()
    return found


def test_a_child_is_linked_to_its_nearest_ancestor() -> None:
    """One row a child, sorted; each version between that doesn't play is a step more."""
    found = Lineage.nearest({5: 3, 3: 1, 4: 2}, np.array([1, 2, 3, 4, 5]))
    assert rows(found) == [[3, 1, 1], [4, 2, 1], [5, 3, 1]]
    assert rows(Lineage.nearest({9: 7, 7: 5, 5: 2, 6: 4}, np.array([2, 6, 9]))) == [[9, 2, 3]]


def test_links_to_others_are_left_out_of_places() -> None:
    """Both ends have to be among the players; the order of the rows makes no difference."""
    lineage = Lineage(*np.array([(40, 30, 1), (20, 10, 2), (30, 20, 1), (99, 10, 1)]).T)
    found = lineage.places(np.array([10, 20, 40]))
    assert rows(found) == [[1, 0, 2]]
    assert rows(lineage.places(np.array([10, 20, 30, 40]))) == [[1, 0, 2], [2, 1, 1], [3, 2, 1]]


def test_founders_are_found_over_any_number_of_links() -> None:
    chain = np.arange(6)
    lineage = Lineage(chain[1:], chain[:-1], np.ones(5, dtype=np.int64))
    assert lineage.founders(8).tolist() == [0, 0, 0, 0, 0, 0, 6, 7]
    assert Lineage.none().founders(2).tolist() == [0, 1]


def test_nobody_comes_from_anybody() -> None:
    """An empty lineage has no rows, whoever plays."""
    assert len(Lineage.none()) == len(Lineage.nearest({}, np.array([1, 2]))) == 0
    assert len(Lineage.none().places(np.array([1, 2]))) == 0
