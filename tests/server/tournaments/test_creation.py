"""Bounds of what a tournament may be; what is refused is tested where it is asked for."""

from datetime import timedelta

from meijin.game import TimeControl
from meijin.server.tournaments.creation import MAX_INCREMENT


def test_the_longest_game_can_be_told() -> None:
    """No clock under a time control that is accepted outgrows the wire's 32 bits."""
    longest = TimeControl.parse(f"604800+{MAX_INCREMENT.total_seconds():g}")
    assert longest.initial is not None
    moves_of_a_side = 22 * 22 // 2
    most = longest.initial + moves_of_a_side * longest.increment
    assert most // timedelta(milliseconds=1) < 2**32
