"""Flags over real sessions and games, on a fake clock: a verdict waits for a ping's answer."""

from __future__ import annotations

import pytest
from tests.server.match.hall import MS, Hall

from meijin.game import Ending, Outcome, Party, Seat

LATE = 1100 * MS
"""Of a move that has a second: beyond the margin, and within what lag may be."""


@pytest.mark.parametrize("way_ms", [20, 200], ids=["as long as it was", "longer"])
async def test_a_late_move_waits_for_its_verdict(way_ms: int) -> None:
    """With the ping's answer the game is lost; or the move is played once, with its analysis."""
    hall = Hall(2, "1/move")
    game, bot, is_in_time = hall.play(0, 1), hall.bots[0], way_ms > 100
    hall.pass_time(LATE)
    bot.pong_after_ns = way_ms * MS
    hall.say(bot, (game.number, 0, 12, {"depth": 3}, 0))
    assert game.arbiter.is_flag_up
    hall.say(bot, (game.number, 0, 13, None, 0))
    assert bot.session.refused == 1
    hall.pass_time((way_ms - 10) * MS)
    assert (game.arbiter.outcome, game.arbiter.board.ply, game.analysis) == (None, 0, None)
    hall.pass_time(20 * MS)
    if is_in_time:
        assert list(game.arbiter.board.moves) == [12]
        assert game.analysis == {"0": {"depth": 3}}
        assert game.arbiter.credits[Seat.FIRST].lag_ns > 0
        return
    outcome, evidence = game.arbiter.outcome, game.arbiter.evidence
    assert isinstance(outcome, Outcome)
    assert (outcome.ending, outcome.at_fault) == (Ending.TIME, Party.BLACK)
    assert evidence["cell"] == 12
    assert evidence["ping_us"] == way_ms * 1000
    assert evidence["round_trips_us"]
    assert evidence["writing_us"] is None
