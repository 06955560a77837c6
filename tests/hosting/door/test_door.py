"""A door's process between a bot that knows a socket alone and a real server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import grpc
from tests.conftest import PATIENCE
from tests.server_in_test import ServerInTest

from meijin.bots import Bot, Client, Position, RandomBot
from meijin.game import Variant
from meijin.hosting.door.lines import (
    Answered,
    Ended,
    Failed,
    Granted,
    Line,
    Listening,
    Opened,
    Plan,
    Started,
    Used,
    Wants,
)
from meijin.hosting.doors import DoorPool, DoorProcess
from meijin.store.access.tokens import add_token, new_secret
from meijin.store.bots import find_bot
from meijin.store.schema import TokenKind
from meijin.v1 import game_pb2
from meijin.v1.play_service_pb2 import Hello, PlayRequest
from meijin.v1.play_service_pb2_grpc import PlayServiceStub

USUAL = Variant()
CPU_US_TOLD = 1234


class Refusing(Bot):
    """Raises at its first turn."""

    def choose(self, position: Position) -> int:  # noqa: ARG002
        raise RuntimeError("no")


class Host:
    """Grants a core at once, and says of each turn that it took the same."""

    def __init__(self, door: DoorProcess) -> None:
        self.door = door
        self.heard: list[Line] = []
        self._lines = door.lines()

    async def hear(self, *kinds: type[Line]) -> Line:
        """Do what the door asks for until it says something of these kinds."""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                self.heard.append(line)
                if isinstance(line, Wants):
                    self.door.tell(Granted(line.number))
                elif isinstance(line, Answered):
                    self.door.tell(Used(line.number, CPU_US_TOLD))
                if isinstance(line, kinds):
                    return line
        raise AssertionError(f"the door has ended: {self.heard}")

    async def serve(self) -> None:
        await self.hear(Failed)


async def ticket(server: ServerInTest, bot: str) -> str:
    """A token of a seat of the bot."""
    secret = new_secret(TokenKind.SEAT.value)
    bot_id = server.database.read(find_bot, bot)
    await server.parts.storage.write(
        add_token, secret, TokenKind.SEAT, datetime.now(UTC), bot_id=bot_id
    )
    return secret


@asynccontextmanager
async def opened(plan: Plan) -> AsyncIterator[Host]:
    """The host of a door that listens."""
    doors = DoorPool(os.environ)
    door = await doors.take(plan)
    try:
        host = Host(door)
        await host.hear(Listening)
        yield host
    finally:
        await door.close()
        await doors.close()


@asynccontextmanager
async def seated(
    server: ServerInTest, folder: Path, name: str, bot: Bot, *, start_ms: int = 30_000
) -> AsyncIterator[tuple[Host, Client]]:
    """A bot that plays through a door, in a thread's stead by a task of its own."""
    await server.register(name)
    socket = folder / f"{name}.sock"
    plan = Plan(
        server=server.address,
        ticket=await ticket(server, name),
        socket=str(socket),
        bot=name,
        digest="d" * 64,
        label="1.4",
        hardware="a core",
        start_ms=start_ms,
    )
    client = Client(bot, server=f"unix:{socket}", token="", name="whoever")
    async with opened(plan) as host:
        playing = asyncio.create_task(client.serve())
        await host.hear(Opened)
        yield host, client
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


@asynccontextmanager
async def opponent(server: ServerInTest) -> AsyncIterator[str]:
    """A bot that is no program; its name."""
    token = await server.register("bob")
    client = Client(RandomBot(), server=server.address, token=token, name="bob")
    playing = asyncio.create_task(client.serve())
    try:
        yield "bob"
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def test_a_program_plays_through_its_door(server: ServerInTest, tmp_path: Path) -> None:
    """As its bot, whatever it calls itself, and its processor time is kept with each move."""
    async with (
        seated(server, tmp_path, "ada", RandomBot()) as (ada, _),
        seated(server, tmp_path, "bob", RandomBot()) as (bob, _),
    ):
        assert await server.connected() == {"ada", "bob"}
        tasks = [asyncio.create_task(each.serve()) for each in (ada, bob)]
        tournament = await server.tournament("ada", "bob", rounds=2, control="60 cpu")
        await server.until_finished(tournament)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    game = await server.game()
    assert game.outcome.ending in {game_pb2.ENDING_FIVE, game_pb2.ENDING_DRAW}
    moves = game.moves[game.opening_plies :]
    assert {move.cpu_time.ToMicroseconds() for move in moves} == {CPU_US_TOLD}
    assert {game.black_version, game.white_version} == {"1.4"}


async def test_time_to_connect_begins_with_the_program(
    server: ServerInTest, tmp_path: Path
) -> None:
    """However long its container takes to come: a millisecond is not over before it is started."""
    async with seated(server, tmp_path, "ada", RandomBot(), start_ms=1):
        assert await server.connected() == {"ada"}


async def test_a_program_that_does_not_connect_is_ended(tmp_path: Path) -> None:
    plan = Plan("127.0.0.1:1", "", str(tmp_path / "bot.sock"), "ada", "d" * 64, start_ms=1)
    async with opened(plan) as host:
        host.door.tell(Started())
        failed = await host.hear(Failed)
    assert failed == Failed("it has not connected in 0.001 s", is_fault=True)


async def test_a_program_that_fails_loses_its_game(server: ServerInTest, tmp_path: Path) -> None:
    async with opponent(server) as bob, seated(server, tmp_path, "ada", Refusing()) as (ada, _):
        task = asyncio.create_task(ada.serve())
        await server.until_finished(await server.tournament("ada", bob, rounds=1, variant=USUAL))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    game = await server.game()
    assert game.outcome.ending == game_pb2.ENDING_CRASH


async def test_a_program_that_has_ended_loses_its_game_by_that_cause(
    server: ServerInTest, tmp_path: Path
) -> None:
    """The host says why, and the fault ledger keeps it."""
    async with opponent(server) as bob, seated(server, tmp_path, "ada", RandomBot()) as (ada, _):
        tournament = await server.tournament("ada", bob, rounds=1, variant=USUAL)
        await ada.hear(Wants)
        ada.door.tell(Ended("memory: more than 256 MiB", is_fault=True))
        await server.until_finished(tournament)
    game = await server.game()
    assert (game.outcome.ending, game.outcome.detail) == (
        game_pb2.ENDING_CRASH,
        "memory: more than 256 MiB",
    )


async def test_a_ticket_that_is_valid_no_more_ends_the_door(
    server: ServerInTest, tmp_path: Path
) -> None:
    """Which is not the program's fault."""
    async with seated(server, tmp_path, "ada", RandomBot()) as (ada, _):
        await server.rotate("ada")
        failed = await ada.hear(Failed)
        assert isinstance(failed, Failed)
        assert not failed.is_fault


async def test_a_program_that_says_what_can_not_be_is_at_fault(
    server: ServerInTest, tmp_path: Path
) -> None:
    """The server's refusal is for its author to mend."""
    await server.register("ada")
    plan = Plan(
        server.address, await ticket(server, "ada"), str(tmp_path / "bot.sock"), "ada", "d" * 64
    )
    hello = Hello(protocol_version=1)
    hello.capabilities.min_board_size, hello.capabilities.max_board_size = 19, 15
    async with opened(plan) as host, grpc.aio.insecure_channel(f"unix:{plan.socket}") as channel:
        call = PlayServiceStub(channel).Play()
        await call.write(PlayRequest(hello=hello))
        failed = await host.hear(Failed)
    assert isinstance(failed, Failed)
    assert failed.is_fault
    assert "19" in failed.cause


async def test_a_program_that_opens_stream_after_stream_is_ended(
    server: ServerInTest, tmp_path: Path
) -> None:
    """Each takes the place of the one before, and is more than a program needs."""
    async with seated(server, tmp_path, "ada", RandomBot()) as (ada, _):
        async with grpc.aio.insecure_channel(f"unix:{tmp_path / 'ada.sock'}") as channel:
            flooding = asyncio.create_task(open_streams(channel, 1000))
            failed = await ada.hear(Failed)
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
        assert isinstance(failed, Failed)
        assert failed.is_fault
        assert "floods its door" in failed.cause


async def open_streams(channel: grpc.aio.Channel, count: int) -> None:
    """Say hello on one stream after the other, and end each."""
    hello = PlayRequest(hello=Hello(protocol_version=1))
    for _ in range(count):
        call = PlayServiceStub(channel).Play(iter([hello]))
        while await call.read() is not grpc.aio.EOF:
            pass
