"""Many browsers that watch live boards, in one process, as cheaply as sockets are read.

    python benchmarks/web_watchers.py HOST:PORT TOPIC COUNT

Prints a line once each has got its first frame, and when its input ends one JSON object: how many
frames came, and bytes.
"""

import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass

FRAME = b"event: games"
PAUSE = 0.002
"""Seconds between two that connect."""


@dataclass(slots=True)
class Watching:
    """What has come so far."""

    frames: int = 0
    bytes: int = 0
    told: int = 0
    """Browsers that have got something."""


def connect(address: tuple[str, int], topic: str) -> socket.socket:
    """A browser that has asked for a stream."""
    browser = socket.create_connection(address)
    head = f"GET /events?topics={topic} HTTP/1.1\r\nhost: {address[0]}\r\n\r\n"
    browser.sendall(head.encode())
    browser.setblocking(False)  # noqa: FBT003 - the socket's signature
    return browser


def read(selector: selectors.BaseSelector, watching: Watching, buffer: bytearray) -> bool:
    """Read what has come; whether it is time to end."""
    for key, _ in selector.select():
        if key.data is None:
            return True
        assert isinstance(key.fileobj, socket.socket)
        count = key.fileobj.recv_into(buffer)
        if not count:
            raise RuntimeError("the server has ended a stream")
        frames = buffer.count(FRAME, 0, count)
        watching.bytes += count
        watching.frames += frames
        if frames and not key.data:
            selector.modify(key.fileobj, selectors.EVENT_READ, "told")
            watching.told += 1
    return False


def main() -> None:
    """Watch until the input ends."""
    host, _, port = sys.argv[1].rpartition(":")
    topic, count = sys.argv[2], int(sys.argv[3])
    watching, buffer = Watching(), bytearray(1 << 20)
    with selectors.DefaultSelector() as selector:
        for _ in range(count):
            browser = connect((host, int(port)), topic)
            selector.register(browser, selectors.EVENT_READ, "")
            time.sleep(PAUSE)
        while watching.told < count:
            read(selector, watching, buffer)
        print("ready", flush=True)
        selector.register(sys.stdin, selectors.EVENT_READ, None)
        watching.frames = watching.bytes = 0
        while not read(selector, watching, buffer):
            pass
    print(json.dumps({"frames": watching.frames, "bytes": watching.bytes}))


if __name__ == "__main__":
    main()
