"""Tic-tac-toe against a search that never loses, or two of them.

You are x, move first, and type a cell from 1 (top left) to 9. With the same seed the search makes
the same choices.
"""

import argparse
import sys
from random import Random

from meijin.bots.reference import negamax, shuffled
from meijin.bots.reference.gomoku import StonesGame
from meijin.game import TIC_TAC_TOE, Board, Color

SCORES = {Color.BLACK: 1, Color.WHITE: -1, None: 0}


def choose(board: Board, rng: Random) -> int:
    """One of the best cells: the first in the order searched, which is drawn."""
    game = StonesGame(board, lambda end: SCORES[end.winner])
    return negamax(game, order=shuffled(rng)).move


def ask(board: Board) -> int:
    """The cell that a person types."""
    free = [str(cell + 1) for cell in board.legal_cells()]
    print(drawing(board))
    print("your cell: ", end="", flush=True)
    while (text := sys.stdin.readline()) and text.strip() not in free:
        print(f'"{text.strip()}" is no free cell; type one of {" ".join(free)}')
    if not text:
        sys.exit(f"the input ended before the game; type one of {' '.join(free)}, or add --watch")
    return int(text) - 1


def drawing(board: Board) -> str:
    """The board with the numbers of its free cells."""
    stones = str(board).replace("\n", "")
    symbols = [str(n) if stone == "." else stone for n, stone in enumerate(stones, start=1)]
    return "\n".join(" ".join(symbols[at : at + 3]) for at in range(0, 9, 3)) + "\n"


def main() -> None:
    """Play a game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watch", action="store_true", help="watch two players")
    parser.add_argument("--seed", type=int, help="what chance begins with")
    options = parser.parse_args()
    board, rng = Board(TIC_TAC_TOE), Random(options.seed)
    while not board.is_over:
        side = board.side_to_move
        is_asked = side is Color.BLACK and not options.watch
        cell = ask(board) if is_asked else choose(board, rng)
        board.play(cell)
        print(f"{side.symbol} plays {cell + 1}")
    print(drawing(board))
    print("a draw" if board.winner is None else f"{board.winner.symbol} wins")


if __name__ == "__main__":
    main()
