"""``python -m tests.game.games``: random games under every rule, judged by the slow judge too."""

import argparse
import random

from tests.game import oracle

from meijin.game import RULES, Board, Color, Variant

REACH = 3
"""Random moves are this near to the centre, so that lines come about."""


def play_and_judge(variant: Variant, seed: int) -> Board:
    """Play a random game, holding each move and each win against the slow judge.

    Raises:
        AssertionError: the judges differ.
    """
    rng = random.Random(seed)
    width, height = variant.width, variant.height
    cells = [
        cell
        for cell in range(variant.cells)
        if abs(cell % width - width // 2) <= REACH and abs(cell // width - height // 2) <= REACH
    ]
    rng.shuffle(cells)
    board = Board(variant)
    for cell in cells:
        mover, before = board.side_to_move, oracle.Position.of(board)
        is_allowed = oracle.allows(before, (cell % width, cell // width), mover, variant)
        assert board.is_legal(cell) is is_allowed, f"{variant}, seed {seed}, cell {cell}\n{board}"
        if not is_allowed:
            continue
        board.play(cell)
        won = oracle.has_won(oracle.Position.of(board), mover, variant)
        assert (board.winner is mover) is won, f"{variant}, seed {seed}, cell {cell}\n{board}"
        if board.is_over:
            break
    return board


def main() -> None:
    """Play games of every rule on boards of every size in turn, and count how they ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.game.games", description=__doc__)
    parser.add_argument("--games", type=int, default=10_000, help="under each rule")
    parser.add_argument("--seed", type=int, default=1, help="of the first game")
    options = parser.parse_args()
    for rule in RULES.values():
        wins = dict.fromkeys((*Color, None), 0)
        for number in range(options.games):
            size = 5 + number % 18
            wins[play_and_judge(Variant(rule, size, size), options.seed + number).winner] += 1
        black, white, none = wins.values()
        print(f"{rule.name}: {options.games} games, won by black {black}, white {white}; {none}")


if __name__ == "__main__":
    main()
