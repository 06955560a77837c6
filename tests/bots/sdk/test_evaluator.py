"""Positions outside of games, as a bot is asked for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta

import pytest
from tests.bots.conftest import ScriptedServer, Session

from meijin.bots import (
    RESIGN,
    Analysis,
    Bot,
    Capabilities,
    Choice,
    Position,
    Resignation,
)
from meijin.game import encode_moves

ABLE = Capabilities(evaluates=True)


class SayingBot(Bot):
    """Plays the centre of nothing: each position has an answer of its own."""

    capabilities = ABLE

    def __init__(self) -> None:
        self.seen: list[tuple[str, timedelta, int]] = []

    def choose(self, position: Position) -> int | Choice | Resignation:
        self.seen.append((position.game_id, position.time_left, position.max_nodes))
        match position.board.ply:
            case 0:
                return Choice(7, Analysis(-30, 4, 650, (7, 8)))
            case 1:
                return RESIGN
            case 2:
                return position.board.moves[0]
            case _:
                raise RuntimeError("no idea")


async def ask(session: Session, *cells: Sequence[int], nodes: int = 0) -> None:
    asked = [session.evaluation(number, each, nodes) for number, each in enumerate(cells, 1)]
    await session.send_events(evaluations=asked)


async def test_a_bot_is_asked_what_it_would_choose(server: ScriptedServer) -> None:
    """What it found is sent, or why it has failed; it sees the limits, and no game."""
    bot = SayingBot()
    async with server.playing(bot) as session:
        assert session.hello.capabilities.evaluates
        await ask(session, (), (1,), (1, 2), (1, 2, 3), (1, 1), nodes=700)
        found = await session.receive_evaluations(5)
    assert bot.seen == [("", timedelta(seconds=1), 700)] * 4
    assert [each.evaluation for each in found] == [1, 2, 3, 4, 5]
    first, resigned, occupied, failed, impossible = found
    assert (first.cell, first.analysis.score, first.analysis.nodes) == (7, -30, 650)
    assert first.analysis.pv == encode_moves((7, 8))
    assert first.thinking_us > 0
    assert (resigned.HasField("cell"), resigned.failure) == (False, "")
    assert occupied.failure.startswith("choose returned 1: ")
    assert failed.failure == "RuntimeError: no idea"
    assert impossible.failure.startswith("IllegalMoveError: ")


class Many(Bot):
    """Takes the first cell of each, and notes how many it was asked for."""

    capabilities = ABLE

    def __init__(self) -> None:
        self.calls: list[int] = []

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        self.calls.append(len(positions))
        return [position.legal_cells()[0] for position in positions]


class AsyncMany(Many):
    """Does so on the event loop, where it is asked outside of games."""

    async def evaluate_many(self, positions: Sequence[Position]) -> Sequence[int]:
        return self.choose_many(positions)


@pytest.mark.parametrize("kind", [Many, AsyncMany])
async def test_a_batch_is_searched_in_one_call(server: ScriptedServer, kind: type[Many]) -> None:
    """By `choose_many` or by `evaluate_many`, in a thread or on the event loop."""
    bot = kind()
    async with server.playing(bot) as session:
        await ask(session, (), (0,), (0, 1))
        found = await session.receive_evaluations(3)
    assert bot.calls == [3]
    assert [each.cell for each in found] == [0, 1, 2]


async def test_async_searches_run_side_by_side(server: ScriptedServer) -> None:
    """As many as the bot plays games; a stream that is lost ends them."""
    ended: list[str] = []
    both = asyncio.Barrier(2)

    class Waiting(Bot):
        capabilities = Capabilities(evaluates=True, max_games=2)

        def choose(self, position: Position) -> int:
            raise NotImplementedError

        async def evaluate(self, position: Position) -> int:
            try:
                if position.board.ply < 2:
                    await both.wait()
                    return 5
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            return 6

    async with server.connect(Waiting()):
        session = await server.admitted()
        await ask(session, (), (0,), (0, 1), (0, 1, 2))
        found = await session.receive_evaluations(2)
        assert [each.cell for each in found] == [5, 5]
        session.end()
        session = await server.admitted()
        await ask(session, ())
        again = asyncio.create_task(session.receive_evaluations(1))
        await session.send_events(evaluations=[session.evaluation(9, (0,))])
        assert (await again)[0].cell == 5
    assert ended == ["cancelled", "cancelled"]


async def test_turns_go_first(server: ScriptedServer) -> None:
    """A turn waits for the evaluation that is being searched, and for no other."""
    begun, freed = threading.Semaphore(0), threading.Semaphore(0)
    searched: list[str] = []

    class Slow(Bot):
        capabilities = ABLE

        def choose(self, position: Position) -> int:
            searched.append(position.game_id or f"evaluation at ply {position.board.ply}")
            begun.release()
            freed.acquire()
            return position.legal_cells()[0]

    async with server.playing(Slow()) as session:
        await ask(session, (), (0,))
        await asyncio.to_thread(begun.acquire)
        await session.begin(1)
        await session.send_ping(1)
        await session.receive()  # the pong: the turn has been read
        freed.release(3)
        plays = evaluations = 0
        while plays < 1 or evaluations < 2:
            actions = (await session.receive()).actions
            plays, evaluations = plays + len(actions.plays), evaluations + len(actions.evaluations)
    assert searched == ["evaluation at ply 0", "game-1", "evaluation at ply 1"]
