"""A bot on the bare contract, with a mistake that the SDK keeps its bots from.

    python plain_bot.py illegal | away | wrong

`illegal` plays an occupied cell, `away` does not return when its stream is lost, and `wrong`
returns and then plays the first cell whatever is on it. None of them says a digest.
"""

import os
import queue
import sys
import time
from collections.abc import Iterator

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub

MODE = sys.argv[1]


def cell(turn: pb.TurnRequested, *, is_first_stream: bool) -> int:
    taken = memoryview(turn.moves).cast("H").tolist()
    is_wrong = MODE == "illegal" or (MODE == "wrong" and not is_first_stream)
    return taken[0] if is_wrong else next(each for each in range(225) if each not in taken)


def answer(response: pb.PlayResponse, *, is_first_stream: bool) -> Iterator[pb.PlayRequest]:
    if response.HasField("ping"):
        yield pb.PlayRequest(pong=pb.Pong(sequence=response.ping.sequence))
    for turn in response.events.turns:
        play = pb.Play(
            game=turn.game, ply=turn.ply, cell=cell(turn, is_first_stream=is_first_stream)
        )
        yield pb.PlayRequest(actions=pb.Actions(plays=[play]))


def play(stub: PlayServiceStub, *, is_first_stream: bool) -> None:
    outbox: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
    outbox.put(pb.PlayRequest(hello=pb.Hello(protocol_version=1, engine=pb.Engine(version="0"))))
    token = os.environ["MEIJIN_TOKEN"]
    responses = stub.Play(iter(outbox.get, None), metadata=(("authorization", f"Bearer {token}"),))
    try:
        for response in responses:
            for request in answer(response, is_first_stream=is_first_stream):
                outbox.put(request)
    except grpc.RpcError:
        outbox.put(None)


def main() -> None:
    options = [("grpc.max_reconnect_backoff_ms", 200), ("grpc.initial_reconnect_backoff_ms", 100)]
    with grpc.insecure_channel(os.environ["MEIJIN_SERVER"], options) as channel:
        stub = PlayServiceStub(channel)
        play(stub, is_first_stream=True)
        while MODE != "away":
            play(stub, is_first_stream=False)
            time.sleep(0.1)  # the server may be away for longer
        time.sleep(3600)


main()
