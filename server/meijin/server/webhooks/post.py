"""One request by HTTP/1.1: bounded in time altogether and in bytes, no redirect followed."""

import io
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from http.client import HTTPException, HTTPResponse
from typing import Protocol, cast

from meijin.server.webhooks.targets import Target

MAX_RETRY_AFTER = timedelta(days=1)
"""The longest that an answer may put off the next try."""


class PostError(Exception):
    """No answer came; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered: its body is not read."""

    status: int
    retry_after: timedelta | None = None
    """For how long it asks not to be sent anything."""


class Post(Protocol):
    """Sends one request and reads its answer."""

    def __call__(
        self, target: Target, headers: Mapping[str, str], body: bytes, limit: timedelta
    ) -> Answer:
        """The answer.

        Raises:
            PostError: none came within the time.
        """


def post(target: Target, headers: Mapping[str, str], body: bytes, limit: timedelta) -> Answer:
    """Send a request and read the status and the headers of its answer.

    A receiver that takes or gives a byte now and then gains no time by it. `http.client` bounds
    the lines of the headers, and their number.

    Raises:
        PostError: none came within the time, or it is no HTTP.
    """
    deadline = _Deadline(limit)
    try:
        with closing(_connect(target, deadline)) as connection:
            connection.settimeout(deadline.left())
            connection.sendall(_request(target, headers, body))
            response = HTTPResponse(cast("socket.socket", _Answering(connection, deadline)))
            with closing(response):
                response.begin()
                return Answer(response.status, _retry_after(response.getheader("Retry-After")))
    except TimeoutError:
        raise PostError(f"no answer within {limit.total_seconds():g} s") from None
    except ssl.SSLCertVerificationError as error:
        raise PostError(f"the certificate is not good: {error.verify_message}") from None
    except HTTPException as error:
        raise PostError(f"the answer is no HTTP: {type(error).__name__}") from None
    except OSError as error:
        raise PostError(f"no connection: {error.strerror or type(error).__name__}") from None


class _Deadline:
    """A point in time up to which everything has to be done."""

    def __init__(self, limit: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + limit.total_seconds()

    def left(self) -> float:
        """Seconds.

        Raises:
            TimeoutError: there are none.
        """
        left = self._end - self._clock()
        if left <= 0:
            raise TimeoutError
        return left


class _Answering(io.RawIOBase):
    """What `HTTPResponse` takes for a socket: each read has the time that is left."""

    def __init__(self, connection: socket.socket, deadline: _Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        """The bytes that come."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """They can be read."""
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]  # of bytes alone
        """Wait for some of them."""
        self._connection.settimeout(self._deadline.left())
        return self._connection.recv_into(buffer)


def _connect(target: Target, deadline: _Deadline) -> socket.socket:
    """A connection to the address that was checked, by TLS for the name of the URL."""
    url = target.url
    connection = socket.create_connection((target.address, url.port), deadline.left())
    if not url.is_tls:
        return connection
    try:
        connection.settimeout(deadline.left())
        return _tls().wrap_socket(connection, server_hostname=url.host)
    except BaseException:
        connection.close()
        raise


@cache
def _tls() -> ssl.SSLContext:
    """Verifies certificates by the system's authorities."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = {
        "Host": target.url.host_header,
        "Connection": "close",
        "Content-Length": str(len(body)),
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.url.path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body


def _retry_after(value: str | None) -> timedelta | None:
    """The seconds of a header; a date, which few send, is left to the schedule."""
    if value is None:
        return None
    with suppress(ValueError, OverflowError):
        return min(max(timedelta(0), timedelta(seconds=int(value))), MAX_RETRY_AFTER)
    return None
