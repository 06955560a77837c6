"""Runs a worker by its plan: python -m meijin.worker PLAN [DESCRIPTOR].

With the descriptor of a connection it serves that one in place of a server, see `pool`.

What it says on standard output is words for people, or a JSON object in a line: `waiting`, for the
side of a name; `ready`, its sides play; `many`, a bot that plays many games at once by itself,
which is to be connected instead; `error`, why it ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from meijin.bots.sdk.hardware import hardware, read_speed
from meijin.v1.play_service_pb2 import Hello
from meijin.worker.cores import cores
from meijin.worker.plan import Plan
from meijin.worker.players import Player, PlayerError, PlaysManyError
from meijin.worker.pool import check_options, make_pool_player, serve_pool
from meijin.worker.sides import Side, make_sides
from meijin.worker.slots import MakePlayer, Slot, start_slot

AT_ONCE = 2
"""Sides that are examined at once: most of it is waiting, and their answers are timed."""


def say(**words: object) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def main(path: str, descriptor: str = "") -> int:
    """Play by a plan until whoever has games ends it; the exit status."""
    plan = Plan.read(Path(path))
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with ExitStack() as stack:
        try:
            sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="meijin-")))
            sides = make_sides(plan, sockets)
            for side in sides.values():
                stack.callback(side.close)
            stack.callback(signal.signal, signal.SIGTERM, signal.SIG_IGN)  # so that nothing is left
            hellos = _find_out(sides)
            if descriptor:
                check_options(sides)
        except PlaysManyError as error:
            say(many=str(error))
            return 0
        except PlayerError as error:
            say(error=str(error))
            return 1
        own = cores()
        make: MakePlayer = partial(make_pool_player if descriptor else make_player, sides)
        slots = [
            start_slot(
                number,
                make,
                core=own[number % len(own)] if plan.is_pinned else None,
            )
            for number in range(plan.games)
        ]
        if descriptor:
            serve_pool(Connection(int(descriptor)), slots)
            return 0
        return asyncio.run(_serve(plan, slots, hellos))


def _find_out(sides: Mapping[str, Side]) -> list[Hello]:
    """What sides say of themselves, some asked at once; the threads have ended by then."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = {name: pool.submit(side.find_out) for name, side in sides.items()}
        hellos = []
        try:
            for name, future in found.items():
                say(waiting=name)
                hellos.append(future.result())
                hellos[-1].hardware = machine = hardware()
                hellos[-1].nodes_per_second = read_speed() if machine else 0
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for side in sides.values():
                side.close()  # whoever asks one still is answered by its end
            raise
        return hellos


def make_player(sides: Mapping[str, Side], name: str, slot: int) -> Player:
    return sides[name].player(slot)


async def _serve(plan: Plan, slots: Sequence[Slot], hellos: Sequence[Hello]) -> int:
    """Play over the stream; imported now, since a process that has gRPC is not to be forked."""
    import grpc  # noqa: PLC0415 - see above

    from meijin.worker.worker import Worker, WorkerError  # noqa: PLC0415 - see above

    async with grpc.aio.insecure_channel(plan.server) as channel:
        try:
            await Worker(slots, hellos).run(channel, lambda: say(ready=True))
        except WorkerError as error:
            say(error=str(error))
        except grpc.aio.AioRpcError as error:
            say(error=error.details() or str(error))
        else:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
