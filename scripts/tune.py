"""Fit the weights of the search core to its own games.

    python scripts/tune.py generate games.npz --games 2000 --nodes 2500 --seed 1
    python scripts/tune.py fit games.npz weights.json

`generate` plays games against itself from random openings, and keeps how often each shape and
threat occurs in each quiet position, for the side to move and for the other. `fit` finds the
weights of these counts by logistic regression.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core import weights
from meijin.bots.core.engine import Engine, Limits, Options
from meijin.bots.core.evaluate import PROVEN
from meijin.bots.core.shapes import SHAPES, THREATS, TWO_FOURS, code_shapes, code_threats
from meijin.game import GOMOKU, Board

SPREAD = 4
"""Openings lie as many cells around the centre."""
LOPSIDED = 150
"""Openings that a short search calls so one-sided are left out."""
RESULT_SHARE = 0.55
"""What the game's result counts for in the target; the rest is the search's score."""
STEPS = 4000
RATE = 0.02
DECAY = 1e-4
RARE = 0.002
"""What occurs in a smaller share of the positions keeps its weight."""

Numbers = NDArray[np.float64]


def features(engine: Engine) -> Numbers:
    """Count shapes and threats of the empty cells: the mover's, then the other side's."""
    state, cells = engine.state, engine.variant.cells
    empty = np.flatnonzero(state.stones[:cells] == 0)
    parts = []
    for color in (state.side, 1 - state.side):
        codes = state.codes[color, empty]
        parts.append(np.bincount(code_shapes()[codes].ravel(), minlength=SHAPES))
        parts.append(np.bincount(code_threats()[codes], minlength=THREATS))
    return np.concatenate(parts).astype(np.float64)


def play(engine: Engine, rng: Random, nodes: int) -> list[tuple[Numbers, int, float]]:
    """Play a game and return its quiet positions: features, score and the mover's result."""
    board = Board()
    for _ in range(rng.randrange(3, 8)):
        row, column = (7 + rng.randint(-SPREAD, SPREAD) for _ in range(2))
        if board.is_legal(row * 15 + column):
            board.play(row * 15 + column)
    kept = []
    finding = engine.search_board(board, Limits(nodes=nodes))
    if abs(finding.score) > LOPSIDED:
        return []
    while not board.is_over:
        finding = engine.search_board(board, Limits(nodes=nodes))
        if abs(finding.score) >= PROVEN:
            break
        state = engine.state
        if not state.counts[:, TWO_FOURS:].any():
            kept.append((features(engine), finding.score, board.side_to_move))
        board.play(finding.cell)
    winner = board.winner
    if not board.is_over:
        winner = board.side_to_move if finding.score > 0 else board.side_to_move.other
    return [
        (found, score, 0.5 if winner is None else float(winner is side))
        for found, score, side in kept
    ]


def generate(path: Path, games: int, nodes: int, seed: int) -> None:
    """Play games and save their positions."""
    rng, engine = Random(seed), Engine(GOMOKU, Options(table_bits=16, noise=5))
    rows: list[tuple[Numbers, int, float]] = []
    played = 0
    while played < games:
        found = play(engine, rng, nodes)
        rows.extend(found)
        played += bool(found)
    counts, scores, results = zip(*rows, strict=True)
    np.savez_compressed(path, counts=np.array(counts), scores=scores, results=results)
    print(f"{played} games, {len(rows)} positions")


def sigmoid(values: Numbers) -> Numbers:
    """The chance to win, by the score in units of the scale."""
    chances: Numbers = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
    return chances


def loss(chances: Numbers, target: Numbers) -> float:
    """The cross entropy."""
    return float(-np.mean(target * np.log(chances) + (1 - target) * np.log(1 - chances)))


def fit(path: Path, output: Path) -> None:
    """Fit the weights to saved positions, beginning with those in use, and write them."""
    data = np.load(path)
    counts, results = data["counts"], data["results"].astype(float)
    start = _flat(_columns())
    scale = min(
        np.geomspace(20, 2000, 60), key=lambda s: loss(sigmoid(counts @ start / s), results)
    )
    target = RESULT_SHARE * results + (1 - RESULT_SHARE) * sigmoid(data["scores"] / scale)
    held_out = np.arange(len(counts)) % 10 == 9
    fitted = _adam(counts[~held_out], target[~held_out], start / scale)
    for name, flat in (("before", start / scale), ("after", fitted)):
        print(name, round(loss(sigmoid(counts[held_out] @ flat), target[held_out]), 4))
    columns = _columns()
    for number, name in enumerate(("own_value", "other_value")):
        flat = np.round(fitted * scale).astype(int).reshape(2, -1)[number]
        columns[name] = {"shapes": flat[:SHAPES].tolist(), "threats": flat[SHAPES:].tolist()}
    output.write_text(json.dumps(columns, indent=2) + "\n")
    print(f"scale {scale:.0f}; wrote {output}")


def _columns() -> dict[str, dict[str, list[int]]]:
    folder = Path(weights.__file__).parent
    columns: dict[str, dict[str, list[int]]] = json.loads((folder / weights.FILE).read_text())
    return columns


def _flat(columns: dict[str, dict[str, list[int]]]) -> Numbers:
    parts = [
        columns[name][kind]
        for name in ("own_value", "other_value")
        for kind in ("shapes", "threats")
    ]
    return np.concatenate(parts).astype(np.float64)


def _adam(counts: Numbers, target: Numbers, start: Numbers) -> Numbers:
    """Minimise the cross entropy by Adam, with features of equal spread."""
    spread = counts.std(axis=0) + 1e-9
    seen = (counts > 0).mean(axis=0) > RARE
    inputs = counts / spread
    values = start * spread * seen
    first, second = np.zeros_like(values), np.zeros_like(values)
    for step in range(1, STEPS + 1):
        slope = inputs.T @ (sigmoid(inputs @ values) - target) / len(target)
        slope = (slope + DECAY * values) * seen
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        values -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return np.where(seen, values / spread, start)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    generator = commands.add_parser("generate")
    generator.add_argument("path", type=Path)
    for name, default in (("games", 2000), ("nodes", 2500), ("seed", 1)):
        generator.add_argument(f"--{name}", type=int, default=default)
    fitter = commands.add_parser("fit")
    fitter.add_argument("path", type=Path)
    fitter.add_argument("output", type=Path)
    options = parser.parse_args()
    if options.command == "fit":
        fit(options.path, options.output)
    else:
        generate(options.path, options.games, options.nodes, options.seed)


if __name__ == "__main__":
    main()
