"""Openings, explored over the contract."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.ladder.counted import count_openings

from meijin.game import decode_moves, encode_moves
from meijin.testing.server import FIVE, SMALL, ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import opening_service_pb2 as pb
from meijin.wire import variant_to_proto

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

VARIANT = variant_to_proto(SMALL)


async def explore(
    server: ServerInTest,
    moves: Sequence[int] = (),
    strength: pb.StrengthBand.ValueType = pb.STRENGTH_BAND_UNSPECIFIED,
) -> pb.ExploreResponse:
    """What was played after some moves on the small board."""
    request = pb.ExploreRequest(variant=VARIANT, moves=encode_moves(moves), strength=strength)
    return await (await server.openings()).Explore(request)


async def test_a_position_of_games(
    server: ServerInTest, line: Callable[..., Awaitable[None]]
) -> None:
    """Nothing before the worker has counted; then moves, scores and games."""
    black, white = await server.pair(rounds=1)
    await line((black, white), FIVE)
    await white.ended()
    before = await explore(server)
    assert (before.counted_games, len(before.continuations)) == (0, 0)
    assert not before.results.HasField("black_score")
    await asyncio.to_thread(count_openings, server.database)
    found = await explore(server)
    (continuation,) = found.continuations
    assert (continuation.cell, list(decode_moves(continuation.same_cells))) == (0, [4, 20, 24])
    results = continuation.results
    assert (results.black_wins, results.draws, results.white_wins) == (1, 0, 0)
    assert results.black_score == 1
    assert 0 < results.black_score_low < results.black_score_high <= 1
    assert (found.results, found.counted_games, found.depth) == (results, 1, 12)
    assert [(each.variant, each.games) for each in found.variants] == [(VARIANT, 1)]
    assert [(each.strength, each.results) for each in found.strengths] == [
        (pb.STRENGTH_BAND_UNRATED, results)
    ]
    (game,) = found.games
    assert (game.game_id, game.state) == (continuation.game_id, game_pb2.GAME_STATE_FINISHED)
    last = await explore(server, FIVE)
    assert (last.ended, last.results, len(last.continuations)) == (results, results, 0)
    assert not (await explore(server, strength=pb.STRENGTH_BAND_FROM_1800)).continuations


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"moves": b"1"}, "moves: 1 bytes are no list of moves"),
        ({"moves": encode_moves([0, 0])}, "moves: "),
        ({"moves": encode_moves([25])}, "moves: "),
        ({"moves": encode_moves([*FIVE, 20])}, "moves: "),
        ({"moves": encode_moves(range(13))}, "moves: 13 moves; openings are counted to 12"),
        ({"moves": bytes(1 << 16)}, "moves: 32768 moves; openings are counted to 12"),
        ({"strength": 99}, "strength: there is no 99"),
        ({"variant": game_pb2.Variant(width=99)}, "variant: width 99 is out of range"),
    ],
)
async def test_mistakes(server: ServerInTest, asked: dict[str, Any], message: str) -> None:
    """Each is told with its field."""
    service = await server.openings()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await service.Explore(pb.ExploreRequest(**({"variant": VARIANT} | asked)))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert str(caught.value.details()).startswith(message)
