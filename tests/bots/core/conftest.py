"""Positions of the search core, and the brute force that it is checked against."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import build_tables
from meijin.bots.core.state import STATE, init, make
from meijin.bots.core.weights import load_weights
from meijin.game import STANDARD, Variant


@cache
def tables_of(variant: Variant) -> np.record:
    """The tables of a variant; building them takes 0.1 s."""
    return build_tables(
        variant.width,
        variant.height,
        exact=variant.rule is STANDARD,
        weights=load_weights(),
    )


class Core:
    """A state and its tables, with nothing switched on."""

    def __init__(self, variant: Variant, cells: Iterable[int] = ()) -> None:
        self.variant = variant
        self.tables = tables_of(variant)
        self.state = new_record(STATE)
        init(self.state, self.tables)
        for cell in cells:
            make(self.state, self.tables, cell)


@pytest.fixture(scope="session")
def core() -> type[Core]:
    """Makes positions for the compiled functions."""
    return Core
