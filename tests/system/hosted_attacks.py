"""Programs that would harm their host, their door or their opponent, at their first turn."""

from dataclasses import dataclass
from textwrap import indent

from meijin.game import Ending

_PROGRAM = """\
import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import grpc

from meijin.bots import Bot, Position
from meijin.v1 import play_service_pb2 as pb

DOOR = "/run/arena/bot.sock"


def connected() -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.connect(DOOR)
    one.settimeout(1)
    return one


def opened():
    return grpc.insecure_channel("unix:" + DOOR)


def stream(requests, channel):
    call = channel.stream_stream(
        "/meijin.v1.PlayService/Play", request_serializer=lambda data: data
    )
    with suppress(grpc.RpcError):
        for _ in call(requests):
            pass


HELLO = pb.PlayRequest(hello=pb.Hello(protocol_version=1)).SerializeToString()


class Attack(Bot):
    def choose(self, position: Position) -> int:
{attack}
        while True:
            time.sleep(1)
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """What a program does, and how its game is to end."""

    source: str
    ending: Ending = Ending.TIME
    cause: str = ""
    """Is in the fault's words."""

    @property
    def time(self) -> str:
        """The time control of its game: short where nothing else ends that."""
        return "2" if self.ending is Ending.TIME else "120"

    @property
    def program(self) -> bytes:
        return _PROGRAM.format(attack=indent(self.source.strip(), 8 * " ")).encode()


ATTACKS = {
    "forks": Attack("while True:\n    with suppress(OSError):\n        os.fork()"),
    "memory": Attack(
        "held = []\nwhile True:\n    held.append(bytearray(os.urandom(1 << 20)))",
        Ending.CRASH,
        "256 MiB of memory",
    ),
    "disk": Attack(
        'while True:\n    with open("/tmp/full", "ab") as file:\n        file.write(bytes(1 << 20))',
        Ending.CRASH,
        "OSError",
    ),
    "output": Attack(
        'while True:\n    print("x" * 1000, flush=True)', Ending.CRASH, "bytes in a minute"
    ),
    "sleeps": Attack("pass"),
    "spins": Attack("while True:\n    pass"),
    "messages": Attack(
        """
def flood():
    yield HELLO
    while True:
        yield pb.PlayRequest(goodbye=pb.Goodbye()).SerializeToString()
stream(flood(), opened())
""",
        Ending.CRASH,
        "floods its door",
    ),
    "streams": Attack(
        "channel = opened()\nfor _ in range(1000):\n    stream(iter([HELLO]), channel)",
        Ending.CRASH,
        "floods",
    ),
    "no-message": Attack(
        'stream(iter([HELLO, b"\\xff" * 100]), opened())',
        Ending.CRASH,
        "no message of the contract",
    ),
    "huge": Attack("stream(iter([HELLO, bytes(100 << 20)]), opened())"),
    "garbage": Attack(
        """
while True:
    with suppress(OSError):
        connected().sendall(os.urandom(100_000))
"""
    ),
    "pings": Attack(
        """
opening = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
ping = bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + bytes(8)
while True:
    with suppress(OSError):
        one = connected()
        one.sendall(opening)
        while True:
            one.sendall(ping * 1000)
"""
    ),
    "connections": Attack(
        "held = []\nwhile True:\n    with suppress(OSError):\n        held.append(connected())"
    ),
    "stops": Attack("os.kill(os.getpid(), signal.SIGSTOP)"),
    "deaf": Attack(
        """
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
while True:
    pass
"""
    ),
    "children": Attack(
        """
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
os._exit(3)
""",
        Ending.CRASH,
        "exited with status 3",
    ),
    "exits": Attack("os._exit(7)", Ending.CRASH, "exited with status 7"),
}
