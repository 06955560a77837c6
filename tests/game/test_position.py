"""Who is to act in a game, and who has which colour."""

from meijin.game import TIC_TAC_TOE, Board, Color, GamePosition, Seat


def test_seats_take_turns() -> None:
    """The first player has black and moves at even plies."""
    position = GamePosition(Board(TIC_TAC_TOE))
    for cell in range(5):
        assert position.seat_to_act is position.turns[cell % 2]
        assert position.color_of(position.seat_to_act) is position.board.side_to_move
        position.board.play(cell)


def test_seats_and_colours_belong_together() -> None:
    """Each seat has the colour whose seat it is."""
    position = GamePosition(Board())
    assert [position.color_of(seat) for seat in Seat] == list(Color)
    assert [position.seat_of(color) for color in Color] == list(Seat)
    assert [seat.other for seat in Seat] == [Seat.SECOND, Seat.FIRST]
