"""Positions of the search core, and the brute force that it is checked against."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.state import STATE, init, make
from meijin.game import Variant


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
