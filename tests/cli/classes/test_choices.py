from dataclasses import replace

import pytest
from tests.web.replay.test_replay_page import RECORD

from meijin.cli.classes.choices import ChoiceTable, Copy, canonical_choice
from meijin.cli.classes.report import OwnGame
from meijin.game import GOMOKU, Color
from meijin.game.board.symmetry import symmetries
from meijin.game.records.record import parse_position
from meijin.ladder.statistics.diagnosis.copied_play import Signal


def test_a_choice_is_the_same_in_every_image_and_order() -> None:
    moves = parse_position("h8i9h9i8a1", GOMOKU)
    stones, move = moves[:4], moves[4]
    found = canonical_choice(stones, move, GOMOKU)
    for image in symmetries(GOMOKU):
        moved = [image[cell] for cell in stones]
        assert canonical_choice(moved, image[move], GOMOKU) == found
    swapped = [stones[2], stones[1], stones[0], stones[3]]
    assert canonical_choice(swapped, move, GOMOKU) == found
    assert canonical_choice(stones, parse_position("b2", GOMOKU)[0], GOMOKU) != found


def test_a_position_that_is_its_own_image_has_one_choice_for_all_alike() -> None:
    middle = parse_position("h8", GOMOKU)
    moves = {
        canonical_choice(middle, parse_position(c, GOMOKU)[0], GOMOKU)[1]
        for c in ("h9", "i8", "h7", "g8")
    }
    assert len(moves) == 1


def test_the_table_has_a_bot_s_own_moves_after_the_opening() -> None:
    table = ChoiceTable()
    table.add(0, [OwnGame(RECORD, Color.BLACK)])
    table.add(1, [OwnGame(replace(RECORD, game_id="9"), Color.BLACK)])
    table.add(2, [OwnGame(RECORD, Color.WHITE)])
    choices = table.choices()
    assert choices.bots.tolist() == [0] * 4 + [1] * 4 + [2] * 3
    assert choices.positions[:4].tolist() == choices.positions[4:8].tolist()
    (move,) = table.moves_of(1, int(choices.positions[0]))
    spot = table.spots[int(choices.positions[0]), 1, move]
    assert (spot.game_id, spot.ply, spot.move) == ("9", 2, "h9")


@pytest.mark.parametrize(("share", "word"), [(0.8, "copied"), (0.6, "alike")])
def test_a_pair_is_named_by_what_it_shares(share: float, word: str) -> None:
    signal = Signal(0, 1, 100, observed=88.0, expected=40.0, share=share, score=9.0, p_value=1e-9)
    pair = Copy("ada", "bob", signal, [])
    assert pair.as_json()["likeness"] == word
    first, _ = pair.lines()
    assert str(first).startswith(f"{word}: ada and bob, the same move in 88 of 100 positions")
