"""Scripted bots that play tournaments of a server, and what has become of these."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import select
from tests.peer import Peer
from tests.server_in_test import WATCH, ServerInTest

from meijin.game import encode_moves
from meijin.store import Database
from meijin.store.schema import Game, Pairing
from meijin.v1 import tournament_service_pb2 as pb

OPENINGS = [encode_moves(cells) for cells in itertools.permutations(range(6, 12), 2)]


async def until(server: ServerInTest, key: str, condition: Callable[[pb.Tournament], bool]) -> None:
    """Wait for a game after whose end the tournament is as wanted."""
    async for fact in server.facts(WATCH, tournament_id=key):
        is_over = not fact.HasField("game_started")
        if is_over and condition((await server.report(key)).tournament):
            return


@asynccontextmanager
async def players(
    server: ServerInTest, *names: str, order: Sequence[str] = (), max_games: int = 1
) -> AsyncIterator[None]:
    """Bots that take the first free cell at every turn; in an order each resigns to the earlier."""
    peers = [await server.bot(name, max_games=max_games) for name in names]
    tasks = [asyncio.create_task(_play(peer, order)) for peer in peers]
    yield
    for task in tasks:
        task.cancel()


async def _play(peer: Peer, order: Sequence[str]) -> None:
    if not order:
        await peer.play_out(1_000_000)
    while True:
        game = await peer.started()
        if order.index(game.opponent) < order.index(peer.name):
            await peer.resign(game.game)


def planned_games(url: str) -> Sequence[Any]:
    """Every planned game by its number with what became of it, voids included."""
    columns = (Pairing.number, Pairing.black_id, Pairing.white_id, Pairing.opening, Pairing.reason)
    query = (
        select(*columns, Game.state, Game.at_fault)
        .outerjoin(Game, Game.pairing_id == Pairing.id)
        .order_by(Pairing.number, Game.id)
    )
    with Database(url) as database:
        return database.read(lambda connection: connection.execute(query).all())
