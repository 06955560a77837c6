"""Play games of the search core against itself, to learn from.

    python scripts/selfplay.py games.npz --minutes 5 --processes 2 --nodes 5000 --seed 1

Games begin with a few random stones around the centre, where a short search finds neither side
far ahead; now and then a random move is played, so that the games also visit what good players
avoid. A game ends with a five, or as soon as the search has proven a result. The file holds, for
all games one after the other:

moves    of every ply, a cell
scores   of the search before each move, for the side to move; 0 where none was made
ends     where each game ends in the two above
openings plies of each game that no search chose
settled  the ply after which a game has no random move: before it, its result says little
results  of black: 0, 0.5 or 1
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np

from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import Options, SearchLimits
from meijin.game import GOMOKU, Board, Color
from meijin.game.records.chances import PROVEN_SCORE

SPREAD = 4
"""Openings lie as many cells around the centre."""
STONES = range(2, 9)
"""Of an opening."""
LOPSIDED = 250
"""Openings that a short search calls so one-sided are left out."""
STRAY = 0.04
"""How often a move is random."""
STRAY_REACH = 2
"""Such a move is as near to a stone."""
NOISE = 8


@dataclass(slots=True)
class Record:
    """One game."""

    moves: list[int] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    opening: int = 0
    settled: int = 0
    result: float = 0.5
    """Black's."""


def draw_opening(rng: Random) -> Board:
    """Place a few random stones around the centre."""
    board, width = Board(), GOMOKU.width
    centre = width // 2
    count = rng.choice(STONES)
    while len(board.moves) < count:
        row, column = (centre + rng.randint(-SPREAD, SPREAD) for _ in range(2))
        if board.is_legal(row * width + column):
            board.play(row * width + column)
    return board


def stray(board: Board, rng: Random) -> int:
    """A random cell near a random stone."""
    width = board.variant.width
    while True:
        row, column = divmod(rng.choice(board.moves), width)
        row += rng.randint(-STRAY_REACH, STRAY_REACH)
        column += rng.randint(-STRAY_REACH, STRAY_REACH)
        inside = 0 <= row < board.variant.height and 0 <= column < width
        if inside and board.is_legal(row * width + column):
            return row * width + column


def play(engine: Engine, rng: Random, nodes: int) -> Record | None:
    """Play a game; ``None`` if its opening is too one-sided."""
    board, limits = draw_opening(rng), SearchLimits(nodes=nodes)
    if board.is_over or abs(engine.search_board(board, limits).score) > LOPSIDED:
        return None
    record = Record(opening=len(board.moves), settled=len(board.moves))
    record.scores = [0] * len(board.moves)
    side, score = board.side_to_move, 0
    while not board.is_over:
        side = board.side_to_move
        finding = engine.search_board(board, limits)
        score = finding.score
        record.scores.append(score)
        cell = finding.cell
        if abs(score) < PROVEN_SCORE and rng.random() < STRAY:
            cell = stray(board, rng)
            record.settled = len(board.moves) + 1
        board.play(cell)
        if abs(score) >= PROVEN_SCORE:
            break
    record.moves = list(board.moves)
    if abs(score) >= PROVEN_SCORE:
        record.result = float((score > 0) == (side is Color.BLACK))
    return record


def play_until(end: float, nodes: int, seed: int) -> list[Record]:
    """Play games until an instant of the clock, but one at least; a game begun is finished."""
    rng = Random(seed)
    records: list[Record] = []
    engine = Engine(GOMOKU, Options(table_bits=16, noise=NOISE))
    while not records or time.time() < end:
        record = play(engine, rng, nodes)
        if record is not None:
            records.append(record)
    return records


def generate(minutes: float, processes: int, nodes: int, seed: int) -> Iterator[Record]:
    """Play in several processes."""
    end = time.time() + 60 * minutes
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        seeds = range(seed * processes, (seed + 1) * processes)
        running = [pool.submit(play_until, end, nodes, own) for own in seeds]
        for future in running:
            yield from future.result()


def save(path: Path, records: list[Record]) -> None:
    """Write games as arrays."""
    np.savez_compressed(
        path,
        moves=np.concatenate([np.array(record.moves, np.int16) for record in records]),
        scores=np.concatenate([np.array(record.scores, np.int16) for record in records]),
        ends=np.cumsum([len(record.moves) for record in records]),
        openings=np.array([record.opening for record in records], np.int16),
        settled=np.array([record.settled for record in records], np.int16),
        results=np.array([record.result for record in records], np.float32),
    )


def main() -> None:
    """Play, and save the games."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    Engine(GOMOKU).warm_up()  # or every process would compile
    found = generate(options.minutes, options.processes, options.nodes, options.seed)
    records = list(found)
    save(options.games, records)
    plies = sum(len(record.moves) - record.opening for record in records)
    print(f"{len(records)} games, {plies} plies; wrote {options.games}")


if __name__ == "__main__":
    main()
