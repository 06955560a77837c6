"""`meijin learn tictactoe`: play against a search that never loses, or watch two of them."""

from random import Random
from typing import Annotated

import typer
from rich.console import Console

from meijin.bots.reference.tictactoe import Player
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json
from meijin.game import TIC_TAC_TOE, Board, Color

SeedOption = Annotated[
    int | None, typer.Option(help="What chance begins with; the same seed, the same choices.")
]


def tictactoe(
    watch: Annotated[
        bool, typer.Option("--watch", help="Watch two players instead of being one.")
    ] = False,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play tic-tac-toe against a search that never loses.

    You are x, move first, and type a cell from 1 (top left) to 9. The other side looks at every
    line to its end, and draws one of the best moves.
    """
    screen = Console(stderr=True, quiet=watch, highlight=False) if as_json else console
    board = Board(TIC_TAC_TOE)
    player = Player(Random(seed))  # noqa: S311 - no secret hangs on it
    while not board.is_over:
        if watch or board.side_to_move is Color.WHITE:
            cell = player.choose(board)
        else:
            screen.print(_drawing(board), markup=False)
            cell = _ask(board, screen)
        who = board.side_to_move.symbol
        board.play(cell)
        screen.print(f"{who} plays {cell + 1}", markup=False)
        if watch:
            screen.print(_drawing(board), markup=False)
    if not watch:
        screen.print(_drawing(board), markup=False)
    if as_json:
        print_json(_record(board))
        return
    console.print(_verdict(board))


def _ask(board: Board, screen: Console) -> int:
    """The cell that the person in front of the screen chooses.

    Raises:
        CommandError: nobody is there.
    """
    free = " ".join(str(cell + 1) for cell in board.legal_cells())
    while True:
        try:
            text = screen.input("your cell: ").strip()
        except EOFError:
            screen.print()
            raise CommandError(
                f"the input ended before the game; type one of {free}, or add --watch"
            ) from None
        if text in free.split():
            return int(text) - 1
        screen.print(f'"{text}" is no free cell; type one of {free}', markup=False)


def _drawing(board: Board) -> str:
    """The board with the numbers of its free cells."""
    stones = str(board).replace("\n", "")
    symbols = [str(n) if stone == "." else stone for n, stone in enumerate(stones, start=1)]
    rows = (symbols[at : at + 3] for at in range(0, len(symbols), 3))
    return "\n".join(" ".join(row) for row in rows) + "\n"


def _verdict(board: Board) -> str:
    return "a draw" if board.winner is None else f"{board.winner.symbol} wins"


def _record(board: Board) -> dict[str, object]:
    winner = None if board.winner is None else board.winner.symbol
    return {"moves": [cell + 1 for cell in board.moves], "winner": winner}
