"""A TCP proxy: what goes through it can be cut, as in the doctor's, and delayed and held."""

import socket
import time
from contextlib import suppress
from threading import Event

from meijin.local.doctor.link import CHUNK
from meijin.local.doctor.link import Link as StreamLink


class Link(StreamLink):
    """The way of one bot to a server: a port of its own, and all connections through it."""

    def __init__(self, port: int) -> None:
        self.delay = 0.0
        """Seconds that bytes which come together take in each direction."""
        self.is_open = Event()
        """Clear it to have no byte go through."""
        self.is_open.set()
        super().__init__("127.0.0.1:0", f"127.0.0.1:{port}")

    def _pass_on(
        self,
        source: socket.socket,
        target: socket.socket,
        *,
        is_for_bot: bool = False,  # noqa: ARG002 - nothing is lost on the way
    ) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                time.sleep(self.delay)
                self.is_open.wait()
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
