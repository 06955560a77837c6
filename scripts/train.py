"""Train the network of the search core on games of `selfplay.py`.

    python scripts/train.py bots/meijin/bots/core/network.npz games1.npz games2.npz --epochs 10

The value learns a mixture of the search's score and of the game's result; the policy learns the
move that the search chose. Some games are held out: their losses are printed after each epoch. A
million positions take about a minute an epoch on one core.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gradients import (
    CELLS,
    POSITION,
    SUM_SCALE,
    WORK,
    as_record,
    draw_numbers,
    losses,
    visit,
)
from numpy.typing import NDArray

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import number_windows
from meijin.bots.core.network import (
    LAYER_SHIFT,
    POINTS,
    POLICY_POINTS,
    POLICY_SHIFT,
    POOL_SHIFT,
    VALUE_SHIFT,
)
from meijin.game.records.chances import PROVEN_SCORE

RESULT_SHARE = 0.4
"""What the game's result counts for in the aim; the rest is the search's score."""
HELD_OUT = 0.04
BATCH = 1024
RATE = 2e-3
RISE = 0.05
"""The share of the steps in which the rate rises; then it falls as a cosine."""
KEPT, KEPT_SQUARE = 0.9, 0.999
"""What Adam keeps of its averages at each step."""
ROW_SCALE = 2048
"""Rows are kept as whole numbers of 1 / 2048."""
ROW_LIMIT = 3.9
WEIGHT_SCALE = 1 << LAYER_SHIFT
INPUT_SCALE = ROW_SCALE * SUM_SCALE / (1 << POOL_SHIFT)

Floats = NDArray[np.float64]
Rows = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Games:
    """The arrays of a file of `selfplay.py`."""

    moves: NDArray[np.int16]
    scores: NDArray[np.int16]
    ends: NDArray[np.int64]
    openings: NDArray[np.int16]
    settled: NDArray[np.int16]
    results: NDArray[np.float32]

    @classmethod
    def load(cls, path: Path) -> Games:
        """Read a file."""
        with np.load(path) as data:
            return cls(*(data[name] for name in cls.__dataclass_fields__))

    def positions(self) -> tuple[Rows, Floats, Floats]:
        """All positions that a search has scored, their scores and the mover's results."""
        starts = [0, *self.ends[:-1]]
        parts = [self._game(number, int(start)) for number, start in enumerate(starts)]
        boards, scores, results = (np.concatenate(column) for column in zip(*parts, strict=True))
        return boards, scores, results

    def _game(self, number: int, start: int) -> tuple[Rows, Floats, Floats]:
        """The same of one game; a result is -1 where it does not tell."""
        game, opening = slice(start, int(self.ends[number])), int(self.openings[number])
        moves, plies = self.moves[game], np.arange(len(self.moves[game]))
        asked = plies[opening:, None]
        placed = np.where((asked - plies) % 2 == 0, 1, 2) * (plies < asked)
        rows = np.zeros(len(asked), POSITION)
        rows["board"][:, moves] = placed
        rows["move"] = moves[opening:]
        result = float(self.results[number])
        results = np.where(plies % 2 == 0, result, 1 - result)
        results[: int(self.settled[number])] = -1
        return rows, self.scores[game][opening:].astype(float), results[opening:]


def sigmoid(logits: Floats) -> Floats:
    """Chances of logits."""
    chances: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return chances


def cross_entropy(chances: Floats, aims: Floats) -> float:
    """The mean cross entropy."""
    return float(-np.mean(aims * np.log(chances) + (1 - aims) * np.log(1 - chances)))


def fit_scale(scores: Floats, results: Floats) -> float:
    """The points of score that are worth odds of e to 1, by the games' results."""
    known = (results >= 0) & (abs(scores) < PROVEN_SCORE)
    scales = np.geomspace(30, 1500, 50)
    return float(
        min(scales, key=lambda s: cross_entropy(sigmoid(scores[known] / s), results[known]))
    )


def aims(scores: Floats, results: Floats) -> Floats:
    """The chance to win that the value is to give each position."""
    proven = abs(scores) >= PROVEN_SCORE
    chances = np.where(proven, scores > 0, sigmoid(scores / fit_scale(scores, results)))
    mixed = RESULT_SHARE * results + (1 - RESULT_SHARE) * chances
    return np.where((results >= 0) & ~proven, mixed, chances)


def load(paths: list[Path]) -> Rows:
    """Read the positions of all files; each file has a scale of its own."""
    parts = []
    for path in paths:
        rows, scores, results = Games.load(path).positions()
        rows["aim"] = aims(scores, results)
        parts.append(rows)
    return np.concatenate(parts)


class Trainer:
    """Adam (Kingma and Ba, 2015) over the numbers of a network."""

    def __init__(self, seed: int) -> None:
        self._numbers = draw_numbers(seed)
        self.parameters = as_record(self._numbers)
        self._slopes = np.zeros_like(self._numbers)
        self._work = new_record(WORK)
        windows = number_windows()
        self._work.window_rows[:] = windows.rows, windows.exchanged[windows.rows]
        self._mean = np.zeros_like(self._numbers)
        self._square = np.zeros_like(self._mean)
        self._steps = 0

    def learn(self, positions: Rows, chosen: NDArray[np.int64], rate: float) -> None:
        """Take a step by the mean slope of some positions."""
        self._visit(positions, chosen, learn=True)
        slopes = self._slopes / len(chosen)
        self._slopes[:] = 0
        self._steps += 1
        self._mean += (1 - KEPT) * (slopes - self._mean)
        self._square += (1 - KEPT_SQUARE) * (slopes**2 - self._square)
        rate *= math.sqrt(1 - KEPT_SQUARE**self._steps) / (1 - KEPT**self._steps)
        self._numbers -= rate * self._mean / (np.sqrt(self._square) + 1e-8)
        self.parameters.rows[0] = 0
        np.clip(self.parameters.rows, -ROW_LIMIT, ROW_LIMIT, out=self.parameters.rows)

    def losses(self) -> dict[str, float]:
        """The mean losses of the positions learnt since the last call."""
        return losses(self._work)

    def check(self, positions: Rows, chosen: NDArray[np.int64]) -> dict[str, float]:
        """The mean losses of positions without learning from them."""
        losses(self._work)
        self._visit(positions, chosen, learn=False)
        return losses(self._work)

    def _visit(self, positions: Rows, chosen: NDArray[np.int64], *, learn: bool) -> None:
        visit(positions, chosen, self.parameters, as_record(self._slopes), self._work, int(learn))


def rate_at(share: float) -> float:
    """The rate when a share of the steps is done."""
    return RATE * min(1.0, share / RISE) * (1 + math.cos(math.pi * share)) / 2


def train(positions: Rows, epochs: int, seed: int) -> np.record:
    """Fit a network, and print how it goes."""
    trainer, rng = Trainer(seed), np.random.default_rng(seed)
    held_out = np.arange(int(len(positions) * (1 - HELD_OUT)), len(positions))
    learnt = len(positions) - len(held_out)
    steps = epochs * math.ceil(learnt / BATCH)
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(learnt)
        for start in range(0, learnt, BATCH):
            trainer.learn(positions, order[start : start + BATCH], rate_at(step / steps))
            step += 1
        print(f"epoch {epoch + 1}: {shown(trainer.losses())}", end="; ")
        print(f"held out: {shown(trainer.check(positions, held_out))}", flush=True)
    return trainer.parameters


def shown(found: dict[str, float]) -> str:
    """Losses for people."""
    return ", ".join(f"{name} {number:.4f}" for name, number in found.items())


def rounded(
    numbers: NDArray[np.float32], scale: float, kind: type[np.integer]
) -> NDArray[np.int64]:
    """Numbers as whole ones.

    Raises:
        OverflowError: one is too large.
    """
    whole = np.round(numbers.astype(float) * scale)
    if abs(whole).max() > np.iinfo(kind).max:
        raise OverflowError(
            f"{abs(numbers).max():.3g} times {scale:g} does not fit {kind.__name__}"
        )
    return whole.astype(kind)


def whole_numbers(parameters: np.record) -> dict[str, NDArray[np.int64]]:
    """The arrays that `meijin.bots.core.network` computes with."""
    layer = INPUT_SCALE * WEIGHT_SCALE
    policy = POLICY_POINTS * (1 << POLICY_SHIFT) / ROW_SCALE
    last = POINTS * (1 << VALUE_SHIFT) / INPUT_SCALE
    count = len(parameters.first_bias)
    return {
        "rows": rounded(parameters.rows, ROW_SCALE, np.int16),
        "policy": rounded(parameters.policy, policy, np.int16),
        "first": rounded(parameters.first.reshape(count, -1), WEIGHT_SCALE, np.int16),
        "first_bias": rounded(parameters.first_bias, layer, np.int32),
        "second": rounded(parameters.second, WEIGHT_SCALE, np.int16),
        "second_bias": rounded(parameters.second_bias, layer, np.int32),
        "last": rounded(parameters.last, last, np.int32),
        "last_bias": rounded(parameters.last_bias, POINTS * (1 << VALUE_SHIFT), np.int64),
    }


def main() -> None:
    """Train a network and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", type=Path)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    positions = load(options.games)
    print(f"{len(positions)} positions on {CELLS} cells", flush=True)
    parameters = train(positions, options.epochs, options.seed)
    np.savez_compressed(options.network, allow_pickle=False, **whole_numbers(parameters))
    print(f"wrote {options.network}")


if __name__ == "__main__":
    main()
