from dataclasses import replace

from tests.web.replay.test_replay_page import RECORD

from meijin.cli.classes.choices import ChoiceTable, canonical_choice
from meijin.cli.classes.report import OwnGame
from meijin.game import GOMOKU, Color
from meijin.game.board.symmetry import symmetries
from meijin.game.records.record import parse_position


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
