"""A server that does what a test tells it to, and bots to connect to it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Self

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from tests.conftest import PATIENCE

from meijin.bots import Bot, Choice, Client, Position
from meijin.bots.sdk.client import Backoff
from meijin.bots.sdk.runner import ignore_idle_wakeups
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.searcher import SearchThreads, searcher_for
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.turn import Turn
from meijin.game import GOMOKU, Board, Color, Task, TimeControl, Variant, encode_moves, parse_cell
from meijin.v1 import game_pb2, play_service_pb2
from meijin.v1.play_service_pb2_grpc import (
    PlayServiceServicer,
    add_PlayServiceServicer_to_server,
)

_PLACE = re.compile(r" \([^ ]+\.py, line [0-9]+\)$")
"""Where a bot has failed: a line of a test."""


class Session:
    """One stream of a bot, seen from the server; the test says what the server sends."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._requests: asyncio.Queue[play_service_pb2.PlayRequest | None] = asyncio.Queue()
        self._end: asyncio.Future[tuple[grpc.StatusCode, str] | None] = (
            asyncio.get_running_loop().create_future()
        )
        self._heard = asyncio.Event()
        self.metadata = dict(context.invocation_metadata())

    async def serve(self) -> None:
        """Read requests until the test or the bot ends the stream.

        It ends no earlier than the hello is read: gRPC's client may lose the status of a call
        that ends while it writes.
        """
        reader = asyncio.create_task(self._read())
        try:
            await asyncio.wait((reader, self._end), return_when=asyncio.FIRST_COMPLETED)
            if self._end.done() and (ending := self._end.result()):
                await self._heard.wait()
                await self._context.abort(*ending)
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while (request := await self._context.read()) is not grpc.aio.EOF:
                self._requests.put_nowait(request)
                self._heard.set()
        finally:
            self._heard.set()
            self._requests.put_nowait(None)

    async def receive(self) -> play_service_pb2.PlayRequest:
        request = await self._requests.get()
        assert request is not None, "the bot has ended the stream"
        return request

    async def receive_plays(self, count: int = 1) -> list[play_service_pb2.Play]:
        """Wait until the bot has sent `count` moves, in however many messages."""
        return await self._receive("plays", count)

    async def receive_evaluations(self, count: int = 1) -> list[play_service_pb2.Evaluation]:
        """Wait until the bot has evaluated `count` positions."""
        return await self._receive("evaluations", count)

    async def _receive(self, field: str, count: int) -> list[Any]:
        found: list[Any] = []
        while len(found) < count:
            found += getattr((await self.receive()).actions, field)
        return found

    async def receive_end(self) -> None:
        """Wait for the bot to end the stream, with nothing more to say."""
        request = await self._requests.get()
        assert request is None, f"the bot has sent {request}"

    async def welcome(
        self, session_id: str = "session-1", *, running_games: int = 0, notice: str = ""
    ) -> None:
        self.hello = (await self.receive()).hello
        await self.send(
            welcome=play_service_pb2.Welcome(
                session_id=session_id,
                bot_name=self.hello.bot_name,
                grace_ms=30_000,
                running_games=running_games,
                notice=notice,
            )
        )

    async def send_events(self, **events: Sequence[Any]) -> None:
        """Send lists of events, by their names in the message."""
        await self.send(events=play_service_pb2.Events(**events))

    async def send_ping(self, sequence: int) -> None:
        await self.send(ping=play_service_pb2.Ping(sequence=sequence))

    @staticmethod
    def started(
        number: int, cells: Sequence[int] = (), **fields: Any
    ) -> play_service_pb2.GameStarted:
        """Build the beginning of ``game-NUMBER``: the bot is black, and has a minute."""
        defaults: dict[str, Any] = {
            "game_id": f"game-{number}",
            "color": game_pb2.COLOR_BLACK,
            "opponent": "rival",
            "time_control": game_pb2.TimeControl(initial=Duration(seconds=60)),
        }
        return play_service_pb2.GameStarted(
            game=number, moves=encode_moves(cells), **(defaults | fields)
        )

    @staticmethod
    def turn(number: int, cells: Sequence[int] = ()) -> play_service_pb2.TurnRequested:
        """Build the request for a move after `cells`, with a minute on both clocks."""
        return play_service_pb2.TurnRequested(
            game=number,
            ply=len(cells),
            moves=encode_moves(cells),
            own_clock_ms=60_000,
            opponent_clock_ms=60_000,
        )

    @staticmethod
    def evaluation(
        number: int, cells: Sequence[int] = (), nodes: int = 0
    ) -> play_service_pb2.EvaluationRequested:
        """Build a question about the position after `cells`, with a second for it."""
        moves = encode_moves(cells)
        return play_service_pb2.EvaluationRequested(
            evaluation=number, moves=moves, time_ms=1000, nodes=nodes
        )

    @staticmethod
    def ended(number: int) -> play_service_pb2.GameEnded:
        """Build the end of a game, which white won by five."""
        outcome = game_pb2.Outcome(winner=game_pb2.COLOR_WHITE, ending=game_pb2.ENDING_FIVE)
        return play_service_pb2.GameEnded(game=number, outcome=outcome)

    async def begin(self, *numbers: int) -> None:
        """Start games ``game-NUMBER`` with the bot to move."""
        await self.send_events(
            started=[self.started(number) for number in numbers],
            turns=[self.turn(number) for number in numbers],
        )

    def end(self, code: grpc.StatusCode | None = None, details: str = "") -> None:
        """End the stream, with an error if there is a code."""
        self._end.set_result(None if code is None else (code, details))

    async def send(self, **fact: Any) -> None:
        await self._context.write(play_service_pb2.PlayResponse(**fact))


class ScriptedServer(PlayServiceServicer):
    """Hands each stream to the test."""

    def __init__(self) -> None:
        self._sessions: asyncio.Queue[Session] = asyncio.Queue()
        self._server: grpc.aio.Server | None = None
        self._port = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        add_PlayServiceServicer_to_server(self, self._server)
        self._port = self._server.add_insecure_port(self.address)
        await self._server.start()

    async def stop(self) -> None:
        assert self._server is not None
        await self._server.stop(None)

    async def Play(self, request_iterator: Any, context: Any) -> None:  # type: ignore[override]  # noqa: ARG002, N802
        session = Session(context)
        self._sessions.put_nowait(session)
        await session.serve()

    async def session(self) -> Session:
        return await self._sessions.get()

    async def admitted(self, session_id: str = "session-1", **said: Any) -> Session:
        """Wait for a bot to open a stream, and let it in."""
        session = await self.session()
        await session.welcome(session_id, **said)
        return session

    @asynccontextmanager
    async def connect(self, bot: Bot, **options: Any) -> AsyncIterator[Client]:
        """Run a bot against this server, until the block ends."""
        options.setdefault("server", self.address)
        options.setdefault("backoff", quick_backoff())
        client = Client(bot, **options)
        task = asyncio.create_task(client.serve())
        try:
            yield client
        finally:
            client.stop()
            await task

    @asynccontextmanager
    async def playing(self, bot: Bot, **options: Any) -> AsyncIterator[Session]:
        async with self.connect(bot, **options):
            yield await self.admitted()


def cells(names: str, variant: Variant = GOMOKU) -> list[int]:
    """The cells of these names, with a space between them."""
    return [parse_cell(name, variant) for name in names.split()]


def after(names: str, variant: Variant = GOMOKU) -> Board:
    return Board.from_moves(cells(names, variant), variant)


HOUR = TimeControl.parse("3600/move")


def chosen(bot: Bot, board: Board, game_id: str = "") -> Choice:
    """What a bot chooses that needs no event loop, and tells an analysis."""
    choice = bot.choose(Position(board, HOUR, game_id=game_id))
    assert isinstance(choice, Choice)
    return choice


def play(black: Bot, white: Bot, variant: Variant = GOMOKU) -> Board:
    """Play a game; every choice must be legal, and leave the board alone."""
    board = Board(variant)
    position = Position(board, HOUR)
    while not board.is_over:
        position.color = board.side_to_move
        before = board.copy()
        answer = (black if board.side_to_move is Color.BLACK else white).choose(position)
        assert board == before
        assert isinstance(answer, int | Choice)
        board.play(answer.cell if isinstance(answer, Choice) else answer)
    return board


class Room:
    """A searcher for a bot, and games for it to answer in, without a server."""

    def __init__(self, bot: Bot, *, threads: int = 1) -> None:
        self._bot = bot
        self._threads = SearchThreads(threads)

    async def __aenter__(self) -> Self:
        self._outbox = StreamOutbox()
        self.searcher = searcher_for(self._bot, self._threads)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.close()

    def games(self, *numbers: int, task: Task | None = None) -> list[RunningGame]:
        """The games ``game-NUMBER``, where black is to begin and has been asked."""
        games = [RunningGame(Session.started(number), self._outbox) for number in numbers]
        for game in games:
            game.begin_turn(Turn(0, b"", 60_000, 60_000, time.monotonic(), task))
        return games

    async def answers(self, count: int) -> dict[int, int | str | tuple[int, ...]]:
        """Wait for `count` answers; by game, the cell, those of an opening, or why there is none."""
        answers: dict[int, int | str | tuple[int, ...]] = {}
        async with asyncio.timeout(PATIENCE):
            while len(answers) < count:
                for request in await self._outbox.take():
                    answers |= {play.game: play.cell for play in request.actions.plays}
                    answers |= {each.game: tuple(each.cells) for each in request.actions.placements}
                    failures = request.actions.failures
                    answers |= {each.game: _PLACE.sub("", each.message) for each in failures}
        return answers


def quick_backoff() -> Backoff:
    moment = timedelta(milliseconds=10)
    return Backoff(Random(1), first=moment, longest=moment)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.delenv("MEIJIN_SERVER", raising=False)
    monkeypatch.delenv("MEIJIN_TOKEN", raising=False)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    ignore_idle_wakeups()
    server = ScriptedServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
