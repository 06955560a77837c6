"""One request by HTTP/1.1: bounded in time altogether and in bytes, no redirect followed.

httpx bounds each read and not the whole: with a timeout of 1 s, an answer of twenty bytes that comes
by one each half second holds a thread for 10.2 s. Its asynchronous client would do the handshakes of
TLS on the event loop, on which games are played.
"""

import io
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import timedelta
from functools import cache
from http.client import HTTPException, HTTPResponse
from typing import TypeAlias, cast

from meijin.server.webhooks.egress import Target
from meijin.server.webhooks.retries import AttemptResult

MAX_RETRY_AFTER = timedelta(days=1)
"""The longest that an answer may put off the next try."""


Post: TypeAlias = Callable[[Target, Mapping[str, str], bytes, timedelta], AttemptResult]
"""Sends a request as `post` does."""


def post(
    target: Target, headers: Mapping[str, str], body: bytes, limit: timedelta
) -> AttemptResult:
    """Send a request and read the status and the headers of its answer.

    A receiver that takes or gives a byte now and then gains no time by it. `http.client` bounds
    the lines of the headers, and their number. The result says why none came within the time.
    """
    end = time.monotonic() + limit.total_seconds()
    try:
        with closing(_connect(target, end)) as connection:
            connection.settimeout(_left_until(end))
            connection.sendall(_request(target, headers, body))
            response = HTTPResponse(cast("socket.socket", _Answering(connection, end)))
            with closing(response):
                response.begin()
                retry_after = _retry_after(response.getheader("Retry-After"))
                return AttemptResult(response.status, retry_after=retry_after)
    except TimeoutError:
        detail = f"no answer within {limit.total_seconds():g} s"
    except ssl.SSLCertVerificationError as error:
        detail = f"the certificate is not good: {error.verify_message}"
    except HTTPException as error:
        detail = f"the answer is no HTTP: {type(error).__name__}"
    except OSError as error:
        detail = f"no connection: {error.strerror or type(error).__name__}"
    return AttemptResult(detail=detail)


def _left_until(end: float) -> float:
    """Seconds.

    Raises:
        TimeoutError: there are none.
    """
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Answering(io.RawIOBase):
    """What `HTTPResponse` takes for a socket: each read has the time that is left."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self._connection = connection
        self._end = end

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]  # of bytes alone
        self._connection.settimeout(_left_until(self._end))
        return self._connection.recv_into(buffer)


def _connect(target: Target, end: float) -> socket.socket:
    """A connection to the address that was checked, by TLS for the name of the URL."""
    url = target.url
    connection = socket.create_connection((target.address, url.port), _left_until(end))
    if not url.is_tls:
        return connection
    try:
        connection.settimeout(_left_until(end))
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
        "Host": target.url.authority,
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
