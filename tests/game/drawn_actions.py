"""Any action that an opening asks for, for properties that hold for all of them."""

import random
from collections.abc import Iterator

from meijin.game import Action, Choose, Color, Declare, GamePosition, Offer, Placement
from meijin.game.position import allows, distinct_cells


def any_action(position: GamePosition, rng: random.Random) -> Action:
    """One of those that the position's task asks for, or a stone."""
    task, legal = position.task, position.board.legal_cells()
    rng.shuffle(legal)
    if task is None:
        return legal[0]
    return rng.choice(list(_answers(position, legal, rng)))


def _answers(position: GamePosition, legal: list[int], rng: random.Random) -> Iterator[Action]:
    task, board = position.task, position.board
    assert task is not None
    if task.may_choose:
        yield Choose(rng.choice(tuple(Color)))
    if task.most_offers:
        yield Declare(rng.randint(1, task.most_offers))
    if task.offers:
        yield Offer(tuple(distinct_cells(board, legal)[: task.offers]))
    if task.stones:
        cells: list[int] = []
        for stone in range(task.stones):
            fits = (c for c in legal if c not in cells and allows(task, stone, c, board.variant))
            cells.append(next(fits))
        yield Placement(tuple(cells))
