"""The link: a TCP proxy between a bot and the server, which cuts the bot's stream."""

import socket
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

CHUNK = 65_536
"""Bytes that are read at once."""


class Link(ThreadingTCPServer):
    """Passes bytes between a bot's connections and a server, in threads of its own."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listen: str, target: str) -> None:
        """Listen at an address; port 0 takes a free one.

        Raises:
            OSError: it can't be listened on.
            ValueError: it is no address.
        """
        host, port = _host_and_port(listen)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), BaseRequestHandler)
        self.address = f"{host}:{self.server_address[1]}"
        self.accepted = 0
        """Connections so far."""
        self.is_armed = False
        """Whether the next bytes for the bot are lost, and the stream is cut there."""
        self._target = _host_and_port(target)
        self._sockets: set[socket.socket] = set()
        Thread(target=self.serve_forever, name="link", daemon=True).start()

    def close(self) -> None:
        """Cut everything, and listen no more."""
        self.shutdown()
        self.server_close()
        self.cut()

    def cut(self) -> None:
        """End every connection; a new one may come at once."""
        _end(*self._sockets)

    def finish_request(self, request: Any, client_address: object) -> None:  # noqa: ANN401, ARG002 - the base's signature
        """Pass the bytes of a connection on; it ends when either direction does."""
        self.accepted += 1
        with suppress(OSError), socket.create_connection(self._target) as server:
            self._sockets |= {request, server}
            there = Thread(target=self._pass_on, args=(request, server), daemon=True)
            there.start()
            self._pass_on(server, request, is_for_bot=True)
            there.join()
            self._sockets -= {request, server}

    def _pass_on(
        self, source: socket.socket, target: socket.socket, *, is_for_bot: bool = False
    ) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if is_for_bot and self.is_armed:
                    self.is_armed = False
                    break
                target.sendall(data)
        _end(source, target)


def _end(*connections: socket.socket) -> None:
    for each in connections:
        with suppress(OSError):  # it has ended by itself
            each.shutdown(socket.SHUT_RDWR)


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f'"{address}" is no address; write it as HOST:PORT')
    return host.strip("[]"), int(port)
