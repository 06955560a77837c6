"""What codes are worth, read from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.shapes import code_shapes, code_threats

FILE = "weights.json"


@dataclass(frozen=True, slots=True)
class Weights:
    """Values of codes; both arrays have 65,536 rows and two columns."""

    values: NDArray[np.int32]
    """Of an empty cell: to the side to move by its own code, and by the opponent's code."""
    orders: NDArray[np.int32]
    """Of a move: for what it makes, and for what it takes from the opponent."""


@cache
def load_weights() -> Weights:
    """Read the weights of this package, whose note tells how they were made.

    Each column of the file has one number per line shape, which count for all four
    directions, and one per threat, which counts once.
    """
    text = resources.files("meijin.bots.core").joinpath(FILE).read_text(encoding="utf-8")
    columns = json.loads(text)
    return Weights(
        values=_expand(columns["own_value"], columns["other_value"]),
        orders=_expand(columns["own_order"], columns["other_order"]),
    )


def _expand(*columns: dict[str, list[int]]) -> NDArray[np.int32]:
    shapes, threats = code_shapes(), code_threats()
    expanded = []
    for column in columns:
        by_shape = np.zeros(16, np.int32)
        by_shape[: len(column["shapes"])] = column["shapes"]
        by_threat = np.array(column["threats"], np.int32)
        expanded.append(by_shape[shapes].sum(axis=1) + by_threat[threats])
    return np.stack(expanded, axis=1).astype(np.int32)
