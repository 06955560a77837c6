"""Flags on real streams: a verdict waits for a ping's answer, and nobody hears before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from meijin.game import Color
from meijin.server.match.arbiter import flag
from meijin.server.match.arbiter.stalls import NS_PER_SECOND
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame
    from meijin.server.match.live.session import Session

MILLISECOND = NS_PER_SECOND // 1000
CONTROL = "60/move"
LATE = 60_100 * MILLISECOND
"""Beyond the margin, and within what lag may be."""


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flag waits for as long as a test takes, unless it says otherwise."""
    monkeypatch.setattr(flag, "PING_PATIENCE_NS", 60 * NS_PER_SECOND)


async def late_turn(server: ServerInTest, black: Peer) -> tuple[LiveGame, pb.TurnRequested]:
    """Black's first turn, requested a while ago, on a stream that seems to have no lag."""
    turn = await black.turn()
    (game,) = server.running
    session = session_of(server, game)
    await server.until(lambda: session.lag_ns)
    session.lag_ns = 0
    game.arbiter._asked_at_ns -= LATE
    server.parts.games.hasten((game,))
    return game, turn


def session_of(server: ServerInTest, game: LiveGame) -> Session:
    """Black's stream."""
    session = server.player(game.black).session
    assert session is not None
    return session


async def caught_up(peer: Peer) -> None:
    """Read everything that was sent to a bot before now: its own nonsense is refused last."""
    await peer.write(actions=pb.Actions(resigns=[pb.Resign(game=12345)]))
    assert (await peer.notice()).game == 12345


async def test_a_late_move_waits_for_its_verdict(server: ServerInTest) -> None:
    """The opponent sees nothing of it; with the ping's answer the game is lost."""
    black, white = await server.pair(control=CONTROL)
    game, turn = await late_turn(server, black)
    await black.play(turn, 12)
    await server.until(lambda: game.arbiter.is_flag_up)
    await caught_up(white)
    assert white.unread("turns") == white.unread("ended") == 0
    assert game.arbiter.outcome is None
    for peer in (black, white):  # and black answers the ping
        ended = await peer.ended()
        assert ended.outcome.ending == game_pb2.ENDING_TIME
        assert ended.outcome.at_fault == game_pb2.PARTY_BLACK
    evidence = game.arbiter.evidence
    assert evidence["cell"] == 12
    assert evidence["ping_us"] is not None
    assert evidence["round_trips_us"]
    assert evidence["writing_us"] is None


async def test_a_held_move_can_be_in_time(server: ServerInTest) -> None:
    """Its way had become longer: it is played once, with its analysis, and the game goes on."""
    black, white = await server.pair(control=CONTROL)
    game, turn = await late_turn(server, black)
    meter = session_of(server, game)._meter
    await black.play(turn, 12, analysis=pb.Analysis(depth=3))
    await server.until(lambda: game.arbiter.is_flag_up and meter.waiting_ns(0) is not None)
    assert game.analysis is None
    meter._sent_ns -= NS_PER_SECOND
    await black.play(turn, 13)
    assert (await black.notice()).reason == pb.NOTICE_REASON_STALE_PLY  # the ping was before it
    following = await white.turn()
    assert list(memoryview(following.moves).cast("H")) == [12]
    assert game.analysis is not None
    assert game.analysis["0"]["depth"] == 3
    assert game.arbiter.credits[Color.BLACK].lag_ns > 0


async def test_a_move_whose_way_was_long_is_in_time(server: ServerInTest) -> None:
    """A bot that says what it took is not asked for a ping."""
    black, white = await server.pair(control=CONTROL)
    game, turn = await late_turn(server, black)
    await black.play(turn, 12, thinking_us=1_000)
    assert (await white.turn()).ply == 1
    assert game.arbiter.outcome is None
    assert game.arbiter.raw_ns[0] >= LATE
    assert game.arbiter.charged_ns[0] <= 60 * NS_PER_SECOND


async def test_held_pongs_do_not_hold_the_flag(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that answers no ping loses when the patience is over, and the evidence says so."""
    black, white = await server.pair(control=CONTROL)
    game, _ = await late_turn(server, black)
    game.arbiter._asked_at_ns -= LATE
    server.parts.games.hasten((game,))
    meter = session_of(server, game)._meter
    await server.until(lambda: game.arbiter.is_flag_up and meter.waiting_ns(0) is not None)
    monkeypatch.setattr(flag, "PING_PATIENCE_NS", 0)
    assert (await white.ended()).outcome.ending == game_pb2.ENDING_TIME
    evidence = game.arbiter.evidence
    assert (evidence["cell"], evidence["ping_us"]) == (None, None)
    assert evidence["ping_unanswered_us"] is not None


async def test_leaving_on_the_own_turn_is_no_time_to_think(server: ServerInTest) -> None:
    """A bot that drops its stream on its turn and stays away loses in seconds, not by the grace."""
    black, white = await server.pair(control="0.5+0.05")
    await black.turn()
    (game,) = server.running
    black.call.cancel()
    await server.away(black.name)
    game.arbiter._presence._thinking_since_ns -= 5 * NS_PER_SECOND
    server.parts.games.hasten((game,))
    ended = await white.ended()
    assert ended.outcome.ending == game_pb2.ENDING_DISCONNECT
    assert ended.outcome.at_fault == game_pb2.PARTY_BLACK
    assert "on its turn" in ended.outcome.detail
