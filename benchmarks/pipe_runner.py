"""The simplest runner: two engines over pipes, five in a row is judged, nothing is stored.

    python benchmarks/pipe_runner.py ENGINE --games 100 --concurrency 2

Each game at once has a process of its own, with two engines that change colours after each game.
"""

import argparse
import multiprocessing
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack

from meijin.game import Board

SIDE = 15


class Engine:
    """A program of the Gomocup protocol, at the end of a pipe."""

    def __init__(self, stack: ExitStack, command: str) -> None:
        pipe = subprocess.PIPE
        process = subprocess.Popen(shlex.split(command), stdin=pipe, stdout=pipe)
        stack.enter_context(process)  # ends as its input does
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    def ask(self, line: str) -> str:
        """Write a line and read one."""
        self._input.write(line.encode() + b"\n")
        self._input.flush()
        answer = self._output.readline().decode().strip()
        if not answer:
            raise EOFError(f"the engine ended without an answer to {line!r}")
        return answer


def play(black: Engine, white: Engine) -> Board:
    """A freestyle game on 15x15 from the empty board."""
    for engine in (black, white):
        answer = engine.ask(f"START {SIDE}")
        if answer != "OK":
            raise ValueError(f"the engine answered {answer!r} to START {SIDE}, not OK")
    board = Board()
    move, mover, other = black.ask("BEGIN"), black, white
    while True:
        x, y = map(int, move.split(","))
        board.play(y * SIDE + x)
        if board.is_over:
            return board
        mover, other = other, mover
        move = mover.ask(f"TURN {move}")


def play_games(command: str, games: int) -> int:
    """Play with two engines of one's own, and count the moves."""
    with ExitStack() as stack:
        black, white = Engine(stack, command), Engine(stack, command)
        moves = 0
        for _ in range(games):
            moves += play(black, white).ply
            black, white = white, black
        return moves


def main(arguments: Sequence[str] | None = None) -> None:
    """Play all games, and tell how many moves they had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=2)
    options = parser.parse_args(arguments)
    shares = [
        len(range(first, options.games, options.concurrency))
        for first in range(options.concurrency)
    ]
    with multiprocessing.get_context("spawn").Pool(options.concurrency) as pool:
        counts = pool.starmap(play_games, [(options.engine, share) for share in shares], 1)
    print(f"{options.games} games, {sum(counts)} moves")


if __name__ == "__main__":
    main()
