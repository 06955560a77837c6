"""Orders of moves."""

from random import Random

from meijin.bots.reference import Ordering, ordered_by, scan, shuffled
from meijin.bots.reference.tree import TreeGame, node

GAME = TreeGame(node("", *range(20)))


def test_scan_changes_nothing() -> None:
    """The moves come as the game lists them."""
    assert list(scan(GAME, GAME.moves())) == list(range(20))


def test_shuffled_is_decided_by_its_source() -> None:
    """The same seed gives the same order, and none is lost."""
    orders: list[Ordering[int]] = [shuffled(Random(7)), shuffled(Random(7)), shuffled(Random(8))]
    first, second, other = (list(order(GAME, GAME.moves())) for order in orders)
    assert first == second != other
    assert sorted(first) == sorted(other) == list(range(20))
    assert first != list(range(20))


def test_ordered_puts_the_highest_first() -> None:
    """Equal moves keep their order."""
    order: Ordering[int] = ordered_by(lambda _game, move: move % 3)
    assert list(order(GAME, range(6))) == [2, 5, 1, 4, 0, 3]
