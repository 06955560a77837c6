"""A whole bot in Python without the SDK, to be copied: ``python plain_bot.py [NAME]``.

It needs grpcio and the code generated from the protos; docs/protocol.md tells the rest. The main
thread reads, and answers pings at once. A second one searches, and gRPC's own writes.
"""

import hashlib
import math
import os
import queue
import random
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grpc
from google.protobuf import text_format

from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub

SERVER = os.environ.get("MEIJIN_SERVER") or "127.0.0.1:7464"
TOKEN = os.environ.get("MEIJIN_TOKEN", "").strip()
TLS = "grpcs://"
CHANNEL = {
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.http2.ping_timeout_ms": 5_000,
    "grpc.http2.max_pings_without_data": 0,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 1_000,
}
FIRST_DELAY, LONGEST_DELAY = 0.2, 5.0
SETTLED_AFTER = 1.0
"""A stream that has lived as long was no failure: the delays begin anew."""
WELCOME_TIMEOUT, GOODBYE_TIMEOUT = 10.0, 1.0
REFUSALS = ("UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION")
DEFECTS = ("INVALID_ARGUMENT", "ABORTED", "UNIMPLEMENTED")
"""After these statuses, too, it is of no use to come back."""
HELLO = pb.Hello(
    protocol_version=1,
    bot_name=sys.argv[1] if len(sys.argv) > 1 else "" if TOKEN else "python-plain",
    engine=pb.Engine(
        version="1", digest=hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    ),
    capabilities=pb.Capabilities(
        rules=[game_pb2.RULE_FREESTYLE, game_pb2.RULE_STANDARD, game_pb2.RULE_CARO],
        min_board_size=5,
        max_board_size=22,
        max_games=16,
    ),
)
OWN, THEIRS = (1, 10, 100, 1_000, 100_000), (0.5, 5, 50, 500, 20_000)
"""What a stone in a line of five is worth, by the stones of one side that are there already."""


@cache
def lines_of(width: int, height: int) -> list[list[int]]:
    """The cells of every line of five on a board."""
    found = []
    for y in range(height):
        for x in range(width):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                if 0 <= x + 4 * dx < width and y + 4 * dy < height:
                    found.append([(y + n * dy) * width + x + n * dx for n in range(5)])
    return found


def choose(variant: game_pb2.Variant, moves: bytes) -> int:
    """The cell on which the most lines of five are still to be made or stopped."""
    stones = [0] * (variant.width * variant.height)
    for ply in range(len(moves) // 2):
        stones[int.from_bytes(moves[2 * ply : 2 * ply + 2], "little")] = 1 + ply % 2
    own = 1 + len(moves) // 2 % 2  # black has the even plies
    values = [0.0 if stone == 0 else -1.0 for stone in stones]
    for line in lines_of(variant.width, variant.height):
        mine = sum(stones[cell] == own for cell in line)
        theirs = sum(stones[cell] == 3 - own for cell in line)
        if (mine and theirs) or len(line) in {mine, theirs}:  # caro has fives that don't win
            continue
        value = OWN[mine] if mine else THEIRS[theirs]
        for cell in line:
            if not stones[cell]:
                values[cell] += value
    return values.index(max(values))


class Leaving(BaseException):
    """Raised in the main thread by the first signal to end; the second one ends at once."""


class Task(NamedTuple):
    """A turn, and the instant at which it was read, in nanoseconds."""

    game: pb.GameStarted
    turn: pb.TurnRequested
    read_at: int


class Stream:
    """One stream, from the hello to its end."""

    def __init__(self, stub: PlayServiceStub) -> None:
        self.admitted_at = math.inf
        self.games: dict[int, pb.GameStarted] = {}  # by numbers that no other stream knows
        self.turns: queue.SimpleQueue[list[Task]] = queue.SimpleQueue()
        self.requests: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
        self.requests.put(pb.PlayRequest(hello=HELLO))
        metadata = (("authorization", f"Bearer {TOKEN}"),) if TOKEN else ()
        self.call = stub.Play(iter(self.requests.get, None), metadata=metadata)

    def play(self) -> tuple[str, str]:
        """Play until the stream ends; the name of its status, and what the server says of it."""
        impatience = threading.Timer(WELCOME_TIMEOUT, self.check_welcome)
        searcher = threading.Thread(target=self.search, daemon=True)
        impatience.start()
        searcher.start()
        try:
            for response in self.call:
                self.read(response)
        except grpc.RpcError as error:
            return error.code().name, error.details() or ""
        except Leaving:
            if self.admitted_at < math.inf and not self.games:  # games wait for the bot
                self.say_goodbye()
            raise
        finally:
            impatience.cancel()
            self.turns.put([])
            self.requests.put(None)
            self.call.cancel()
        return "OK", "the server closed the stream"

    def check_welcome(self) -> None:
        """Give a server up that doesn't answer the hello."""
        if self.admitted_at == math.inf:
            self.call.cancel()

    def say_goodbye(self) -> None:
        """Leave for good."""
        has_ended = threading.Event()
        self.requests.put(pb.PlayRequest(goodbye=pb.Goodbye()))
        if self.call.add_callback(has_ended.set):
            has_ended.wait(GOODBYE_TIMEOUT)

    def read(self, response: pb.PlayResponse) -> None:
        """Take note of a message; what is unknown is left alone."""
        read_at = time.monotonic_ns()
        if response.HasField("welcome"):
            self.admitted_at = time.monotonic()
            HELLO.resume_session_id = response.welcome.session_id
            print(f"connected as {response.welcome.bot_name} to {SERVER}", flush=True)
        elif response.HasField("ping"):
            self.requests.put(pb.PlayRequest(pong=pb.Pong(sequence=response.ping.sequence)))
        elif response.HasField("draining"):
            print("the server is about to stop; games go on after its return", flush=True)
        elif response.HasField("paused"):
            print(f"no new games for a while: {response.paused.reason}", file=sys.stderr)
        for ended in response.events.ended:
            game_id = self.games.pop(ended.game, pb.GameStarted()).game_id
            how = text_format.MessageToString(ended.outcome, as_one_line=True)
            print(f"game {game_id}: {how}", flush=True)
        for started in response.events.started:
            self.games[started.game] = started
            color = "black" if started.color == game_pb2.COLOR_BLACK else "white"
            print(f"game {started.game_id} against {started.opponent}: {color}", flush=True)
        for notice in response.events.notices:
            print(f"refused: {notice.detail}", file=sys.stderr)
        if response.events.turns:
            turns = response.events.turns
            self.turns.put([Task(self.games[turn.game], turn, read_at) for turn in turns])

    def search(self) -> None:
        """Answer all turns of a message together, in a thread of its own."""
        for tasks in iter(self.turns.get, []):
            actions = pb.Actions()
            for task in tasks:
                if self.games.get(task.turn.game) is task.game:  # else it has ended
                    answer(task, actions)
            if actions.ByteSize():
                self.requests.put(pb.PlayRequest(actions=actions))


def answer(task: Task, actions: pb.Actions) -> None:
    """Add the answer to a turn; a game that the program fails in is lost, and the others go on."""
    turn = task.turn
    try:
        cell = choose(task.game.variant, turn.moves)
    except Exception as error:
        actions.failures.add(game=turn.game, message=repr(error))
        return
    thinking_us = max(1, (time.monotonic_ns() - task.read_at) // 1_000)
    actions.plays.add(game=turn.game, ply=turn.ply, cell=cell, thinking_us=thinking_us)


def open_channel() -> grpc.Channel:
    """A channel to the server, by TLS where its address says so."""
    target = SERVER.removeprefix(TLS).removeprefix("grpc://")
    if not re.search(r":\d+$", target):
        target += ":7464"
    is_local = re.match(r"(localhost|127\.[\d.]+|\[::1\]):", target) is not None
    options = [*CHANNEL.items(), ("grpc.enable_http_proxy", 0 if is_local else 1)]
    if SERVER.startswith(TLS):
        authorities = os.environ.get("MEIJIN_CA")
        trusted = Path(authorities).read_bytes() if authorities else None
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(trusted), options)
    if TOKEN and not (is_local or os.environ.get("MEIJIN_PLAINTEXT") == "true"):
        sys.exit(f"the token would go to {target} in plain text; write {TLS}{target}")
    return grpc.insecure_channel(target, options)


def delays() -> Iterator[float]:
    """Seconds between attempts: twice as many each time, with some chance in them."""
    delay = FIRST_DELAY
    while True:
        yield delay * random.uniform(0.5, 1)
        delay = min(2 * delay, LONGEST_DELAY)


def leave(*_: object) -> None:
    """Hear a signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    raise Leaving


def main() -> None:
    """Play until a signal, or until the server refuses the bot."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    waits = delays()
    with open_channel() as channel:
        while True:
            stream = Stream(PlayServiceStub(channel))
            status, details = stream.play()
            if status in REFUSALS + DEFECTS:
                sys.exit(details)
            if time.monotonic() - stream.admitted_at >= SETTLED_AFTER:
                waits = delays()
            print(f"coming back, since the stream has ended: {details}", file=sys.stderr)
            time.sleep(next(waits))


if __name__ == "__main__":
    try:
        main()
    except Leaving:
        print("left")
