"""A bot that speaks the contract without the SDK, and writes down what it is told and answers.

    python contract_bot.py NAME ADDRESS JOURNAL DELAY SEED

Now and then it sends an answer twice, or one for a ply or a game that is not its own: none of
these may cost it anything.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from time import monotonic_ns
from typing import Any, TypeAlias

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire import outcome_from_proto
from meijin.wire.contract import PROTOCOL_VERSION, client_keepalive_options

Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"

CELLS = 49
PAUSE = 0.3
"""Seconds between two streams."""
NOISE = 0.02
"""The share of turns that come with an answer that answers nothing."""
FATAL = {
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.PERMISSION_DENIED,
}
"""What says that the client itself is wrong."""
OPTIONS = (*client_keepalive_options(), ("grpc.max_reconnect_backoff_ms", 1000))


class ContractBot:
    """One stream after the other."""

    def __init__(self, name: str, journal: str, delay: float, seed: int) -> None:
        self._name = name
        self._journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._delay = delay
        self._rng = random.Random(seed)
        self._session_id = ""
        self._ids: dict[int, str] = {}
        self._requests: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()
        self._thoughts: set[asyncio.Task[None]] = set()

    async def run(self, address: str) -> None:
        """Play for ever."""
        async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
            while True:
                try:
                    await self._play(PlayServiceStub(channel).Play())
                except grpc.aio.AioRpcError as error:
                    print(error.code().name, error.details(), flush=True)
                    if error.code() in FATAL:
                        raise SystemExit(1) from None
                await asyncio.sleep(PAUSE)

    async def _play(self, call: Call) -> None:
        self._ids.clear()
        self._requests = asyncio.Queue()
        hello = pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            bot_name=self._name,
            engine=pb.Engine(version="1"),
            capabilities=pb.Capabilities(min_board_size=7, max_board_size=7, max_games=4),
            resume_session_id=self._session_id,
        )
        writer = asyncio.create_task(self._write(call))
        self._requests.put_nowait(pb.PlayRequest(hello=hello))
        try:
            while isinstance(response := await call.read(), pb.PlayResponse):
                self._take(response, monotonic_ns())
        finally:
            for task in (writer, *self._thoughts):
                task.cancel()
            await asyncio.gather(writer, *self._thoughts, return_exceptions=True)
            call.cancel()

    async def _write(self, call: Call) -> None:
        while True:
            await call.write(await self._requests.get())

    def _take(self, response: pb.PlayResponse, read_ns: int) -> None:
        if response.HasField("welcome"):
            self._session_id = response.welcome.session_id
        if response.HasField("ping"):
            pong = pb.Pong(sequence=response.ping.sequence)
            self._requests.put_nowait(pb.PlayRequest(pong=pong))
        for ended in response.events.ended:
            outcome = outcome_from_proto(ended.outcome)
            self._note("ended", self._ids.pop(ended.game), outcome.result, outcome.ending)
        for started in response.events.started:
            self._ids[started.game] = started.game_id
        for turn in response.events.turns:
            self._note("told", self._ids[turn.game], turn.moves.hex())
            self._start(self._answer(turn, self._ids[turn.game], read_ns))

    def _start(self, thought: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(thought)
        self._thoughts.add(task)
        task.add_done_callback(self._thoughts.discard)

    async def _answer(self, turn: pb.TurnRequested, game_id: str, read_ns: int) -> None:
        await asyncio.sleep(self._delay)
        taken = set(memoryview(turn.moves).cast("H"))
        cell = self._rng.choice([cell for cell in range(CELLS) if cell not in taken])
        play = pb.Play(game=turn.game, ply=turn.ply, cell=cell)
        play.thinking_us = max((monotonic_ns() - read_ns) // 1000, 1)
        self._note("sent", game_id, turn.ply, cell)
        plays = [play]
        if self._rng.random() < NOISE:
            plays = self._rng.choice(
                [
                    [play, play],
                    [pb.Play(game=turn.game, ply=turn.ply + 2, cell=0), play],
                    [pb.Play(game=turn.game + 100_000, ply=turn.ply, cell=0), play],
                ]
            )
        self._requests.put_nowait(pb.PlayRequest(actions=pb.Actions(plays=plays)))

    def _note(self, *words: object) -> None:
        """Hand a line to the system, which keeps it though the process be killed."""
        line = " ".join(str(getattr(word, "value", word)) for word in words)
        os.write(self._journal, f"{line}\n".encode())


async def main() -> None:
    """Play as the command line says, until SIGTERM."""
    name, address, journal, delay, seed = sys.argv[1:]
    bot = ContractBot(name, journal, float(delay), int(seed))
    playing = asyncio.ensure_future(bot.run(address))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, playing.cancel)
    with suppress(asyncio.CancelledError):
        await playing


if __name__ == "__main__":
    asyncio.run(main())
