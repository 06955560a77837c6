"""How fast the built-in bots search."""

from __future__ import annotations

import pytest
import search
from plain_search import PlainSearch

from meijin.game import GOMOKU
from meijin.game.openings.opening import openings_for

POSITIONS = openings_for(GOMOKU)[:1]


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a row for each search, with rates above nothing."""
    monkeypatch.setattr(search, "PLAIN_DEPTH", 2)
    made = {row["search"]: row for row in search.rows(POSITIONS, [0.02])}
    assert list(made) == [
        "alphabeta",
        "pure",
        "guided",
        "plain",
        "python",
        "plain / python",
        "reference",
    ]
    for row in made.values():
        assert float(row["per_cpu_second"]) > 0
    assert made["plain"]["depth"] == made["python"]["depth"] == 2


def test_comparison() -> None:
    """The ratio is that of the two rates."""
    compiled, python, ratio = search.comparison(POSITIONS, 1)
    assert float(ratio["per_cpu_second"]) == pytest.approx(
        float(compiled["per_cpu_second"]) / float(python["per_cpu_second"]), abs=0.1
    )


def test_disagreement_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """If plain Python finds another score the comparison is worth nothing."""
    monkeypatch.setattr(PlainSearch, "iterative_deepening", lambda _search, _depth: 12_345)
    with pytest.raises(RuntimeError, match=r"the core finds .*, plain Python 12345 in 0"):
        list(search.comparison(POSITIONS, 1))
