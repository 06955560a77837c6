"""Games that end early by the bots' own scores, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest

from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

RULES = pb.Adjudication(
    resign=pb.ResignRule(score=100, moves=2), draw=pb.DrawRule(score=0, moves=3, from_ply=2)
)
CELLS = (0, 7, 14, 21, 3, 10, 17, 24)


async def say(peer: Peer, score: int | None) -> None:
    """Make the next move, with a score or without."""
    turn = await peer.turn()
    analysis = {} if score is None else {"analysis": play_pb.Analysis(score=score)}
    await peer.play(turn, CELLS[turn.ply], **analysis)


async def end_of(black: Peer, white: Peer) -> game_pb2.Outcome:
    """The outcome, which both are told."""
    ended = [await peer.ended() for peer in (black, white)]
    assert ended[0].outcome == ended[1].outcome
    return ended[0].outcome


async def test_a_lost_game_is_over_by_its_last_score(start_server: StartServer) -> None:
    """What was said before a restart counts; the record has the scores, and the last move."""
    async with start_server() as server:
        black, white = await server.pair(unrated=True, adjudication=RULES, rounds=2)
        await say(black, -100)
        await say(white, 250)
        await black.turn()  # not before white's move is stored
    async with start_server() as server:
        black, white = [await server.bot(peer.name) for peer in (black, white)]
        await say(black, -300)
        await say(white, 100)
        outcome = await end_of(black, white)
        assert (outcome.ending, outcome.winner, outcome.at_fault) == (
            game_pb2.ENDING_ADJUDICATION,
            game_pb2.COLOR_WHITE,
            game_pb2.PARTY_UNSPECIFIED,
        )
        words = "black said -300 to -100 and white said +100 to +250 in the last 2 moves each"
        assert outcome.detail == words
        request = game_service_pb2.GetGameRequest(game_id="1")
        game = (await (await server.games()).GetGame(request)).game
        assert [move.analysis.score for move in game.moves] == [-100, 250, -300, 100]


async def test_a_level_game_is_drawn(server: ServerInTest) -> None:
    """A move without a score breaks the run."""
    black, white = await server.pair(unrated=True, adjudication=RULES)
    for peer, score in zip((black, white) * 4, (0, 0, 0, None, 0, 0, 0, 0), strict=True):
        await say(peer, score)
    turn = await black.turn()
    assert turn.ply == 8
    for peer, cell, ply in ((black, 1, 8), (white, 2, 9)):
        turn = play_pb.TurnRequested(game=turn.game, ply=ply)
        await peer.play(turn, cell, analysis=play_pb.Analysis(score=0))
        if ply == 8:
            await white.turn()
    outcome = await end_of(black, white)
    assert (outcome.ending, outcome.winner) == (game_pb2.ENDING_ADJUDICATION, 0)


async def test_settings_come_back(server: ServerInTest) -> None:
    """As they were made."""
    for name in ("ada", "bob"):
        await server.bot(name)
    tournament = await server.tournament("ada", "bob", unrated=True, adjudication=RULES)
    request = pb.GetTournamentRequest(tournament_id=tournament)
    found = await (await server.tournaments()).GetTournament(request)
    assert found.tournament.settings.adjudication == RULES


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"adjudication": RULES}, "adjudication: ladders count games that are played to their end"),
        (
            {"adjudication": pb.Adjudication(), "unrated": True},
            "adjudication: an adjudication needs",
        ),
        (
            {"adjudication": pb.Adjudication(resign=pb.ResignRule(score=1)), "unrated": True},
            "adjudication: resign moves 0 is out of range: 1 to 100",
        ),
    ],
)
async def test_what_can_not_be_is_refused(
    server: ServerInTest, settings: dict[str, Any], problem: str
) -> None:
    """For rated games, without a rule, and with one that is none."""
    for name in ("ada", "bob"):
        await server.bot(name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await server.tournament("ada", "bob", **settings)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert str(caught.value.details()).startswith(problem)
