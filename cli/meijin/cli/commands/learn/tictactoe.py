"""`meijin learn tictactoe`: play against a search that never loses, or watch two of them."""

from random import Random
from typing import Annotated

import typer

from meijin.bots.reference.tictactoe import Player
from meijin.cli.connection import JsonOption
from meijin.cli.errors import CommandError
from meijin.cli.output import PlainConsole, console, print_json
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
    screen = PlainConsole(stderr=True, quiet=watch) if as_json else console
    board = Board(TIC_TAC_TOE)
    player = Player(Random(seed))  # noqa: S311 - no secret hangs on it
    while not board.is_over:
        if watch or board.side_to_move is Color.WHITE:
            cell = player.choose(board)
        else:
            screen.print(*_drawing(board), sep="\n")
            cell = _ask(board, screen)
        who = board.side_to_move.symbol
        board.play(cell)
        screen.print(f"{who} plays {cell + 1}")
        if watch:
            screen.print(*_drawing(board), sep="\n")
    if not watch:
        screen.print(*_drawing(board), sep="\n")
    if as_json:
        print_json(_record(board))
        return
    console.print(_verdict(board))


def _ask(board: Board, screen: PlainConsole) -> int:
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
        screen.print(f'"{text}" is no free cell; type one of {free}')


def _drawing(board: Board) -> list[str]:
    """The board with the numbers of its free cells, and an empty line."""
    stones = str(board).replace("\n", "")
    symbols = [str(n) if stone == "." else stone for n, stone in enumerate(stones, start=1)]
    rows = [" ".join(symbols[at : at + 3]) for at in range(0, len(symbols), 3)]
    return [*rows, ""]


def _verdict(board: Board) -> str:
    return "a draw" if board.winner is None else f"{board.winner.symbol} wins"


def _record(board: Board) -> dict[str, object]:
    winner = None if board.winner is None else board.winner.symbol
    return {"moves": [cell + 1 for cell in board.moves], "winner": winner}
