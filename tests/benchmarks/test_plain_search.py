"""The core's bare alpha-beta in plain Python."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from plain_network import PlainNetwork
from plain_search import PlainSearch
from plain_state import PlainState

from meijin.bots.core.engine import Engine, Limits, Options
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.movegen import add_candidates
from meijin.bots.core.network import policy_score, sync, value
from meijin.bots.core.state import STATE, init, make, undo
from meijin.game import FREESTYLE, GOMOKU, STANDARD, Board, Variant
from meijin.game.openings.opening import openings_for

if TYPE_CHECKING:
    import numpy as np

VARIANTS = [
    Variant(rule, *size)
    for rule in (FREESTYLE, STANDARD)
    for size in ((5, 5), (9, 6), (15, 15), (22, 22))
]


def assert_same(plain: PlainState, state: np.record) -> None:
    """Both hold the same position; codes of occupied cells are stale in both."""
    assert plain.side == state.side
    assert plain.empties == state.empties
    assert plain.occupied == state.occupied.tolist()
    assert plain.counts == state.counts.tolist()
    for cell in range(plain.cells):
        if state.stones[cell] == 0:
            assert [codes[cell] for codes in plain.codes] == state.codes[:, cell].tolist()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_states_agree(variant: Variant) -> None:
    """After any stones made and taken back the position is the core's."""
    rng = Random(variant.cells)
    plain, state, tables = PlainState(variant), new_record(STATE), tables_of(variant)
    init(state, tables)
    assert_same(plain, state)
    for cell in rng.sample(range(variant.cells), variant.cells // 2):
        assert plain.candidates() == state.moves[0, : add_candidates(state, tables, 0)].tolist()
        plain.make(cell)
        make(state, tables, cell)
        assert_same(plain, state)
        if rng.random() < 0.3:
            plain.undo()
            undo(state, tables)
            assert_same(plain, state)


def test_networks_agree() -> None:
    """However stones come and go, plain Python values positions and moves as the core does."""
    rng = Random(1)
    plain, state, tables = PlainState(GOMOKU), new_record(STATE), tables_of(GOMOKU)
    network = PlainNetwork(plain)
    init(state, tables)
    for cell in rng.sample(range(225), 60):
        plain.make(cell)
        make(state, tables, cell)
        if rng.random() < 0.4:
            plain.undo()
            undo(state, tables)
        if rng.random() < 0.5:
            assert network.value() == value(state, tables)
            sync(state, tables)
            network.sync()
            near = plain.candidates()
            found = [network.policy_score(cell) for cell in near]
            assert found == [policy_score(state, tables, cell) for cell in near]


def assert_searches_agree(board: Board, depth: int) -> None:
    """The core and plain Python find the same score in as many positions."""
    found = Engine(board.variant, Options(plain=True)).search_board(board, Limits(depth=depth))
    search = PlainSearch(PlainState(board.variant, board.moves))
    assert (search.iterative_deepening(depth), search.nodes) == (found.score, found.nodes)


@pytest.mark.parametrize("number", range(3))
def test_searches_agree(number: int) -> None:
    """They do so from balanced openings."""
    assert_searches_agree(Board.from_moves(openings_for(GOMOKU)[number]), 2)


@pytest.mark.parametrize("seed", range(8))
def test_searches_agree_to_the_end(seed: int) -> None:
    """They do so on small boards, where fives and full boards are near."""
    rng = Random(seed)
    board = Board(Variant(rng.choice((FREESTYLE, STANDARD)), 6, 5))
    for cell in rng.sample(range(30), 14 + seed):
        board.play(cell)
        if board.winner is not None:
            board.undo()
    assert_searches_agree(board, 5)
