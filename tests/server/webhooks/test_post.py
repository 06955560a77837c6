"""One request by HTTP, and receivers that mean no good."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from itertools import repeat
from pathlib import Path

import pytest
from tests.server.webhooks.receivers import Receiver, Talk, listening

from meijin.server.certificates import Authority
from meijin.server.webhooks import post as module
from meijin.server.webhooks.egress import Target, parse_url
from meijin.server.webhooks.post import post
from meijin.server.webhooks.retries import AttemptResult

LONG, SHORT = timedelta(minutes=5), timedelta(seconds=0.2)
"""That nothing reaches, and that has to be reached."""


def send(url: str, body: bytes = b"", limit: timedelta = LONG, **headers: str) -> AttemptResult:
    """Post to an address on loopback, whatever the URL's host is."""
    return post(Target(parse_url(url), "127.0.0.1"), headers, body, limit)


def test_a_request(receiver: Receiver) -> None:
    """With its host, path, headers and body."""
    assert send(receiver.url, b"\x00body", id="msg_1") == AttemptResult(204)
    received = receiver.next()
    assert (received.path, received.body) == ("/hook?key=1", b"\x00body")
    assert received.headers["host"] in receiver.url
    assert received.headers["id"] == "msg_1"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7), ("-5", 0), ("9" * 30, None), ("100000000", 86_400), ("Fri, 31 Dec", None)],
)
def test_when_to_come_back(receiver: Receiver, value: str, seconds: int | None) -> None:
    """A receiver puts off the next try, by no more than a day."""
    receiver.status, receiver.headers = 429, {"retry-after": value}
    wanted = None if seconds is None else timedelta(seconds=seconds)
    assert send(receiver.url) == AttemptResult(429, retry_after=wanted)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    """Its status is the answer: whoever is named in it gets nothing."""
    with Receiver().running() as inner:
        receiver.status, receiver.headers = 302, {"location": inner.url}
        assert send(receiver.url).http_status == 302
        receiver.next()
        assert inner.received.empty()


def endless(start: bytes, more: bytes) -> Talk:
    def talk(connection: socket.socket) -> None:
        connection.sendall(start)
        for part in repeat(more):
            connection.sendall(part)

    return talk


def test_an_endless_body_is_not_read() -> None:
    """The status is known before it; the connection is closed, which ends the receiver."""
    with listening(endless(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65_536))) as url:
        assert send(url).http_status == 200


@pytest.mark.parametrize(
    "talk",
    [
        endless(b"", b"x" * 1000),
        endless(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
        endless(b"HTTP/1.1 200 OK\r\na: ", b"x" * 1000),
        endless(b"\x00\xff no HTTP\r\n\r\n", b"x"),
    ],
    ids=["status", "headers", "header", "garbage"],
)
def test_an_endless_head_is_no_http(talk: Talk) -> None:
    """What is read is bounded in bytes, however fast it comes."""
    with listening(talk) as url:
        assert send(url).detail.startswith("the answer is no HTTP: ")


def say_nothing(connection: socket.socket) -> None:
    while connection.recv(1 << 16):
        pass


def say_a_byte_now_and_then(connection: socket.socket) -> None:
    connection.settimeout(0.01)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"a")
        try:
            if not connection.recv(1 << 16):
                return
        except TimeoutError:
            pass


@pytest.mark.parametrize("talk", [say_nothing, say_a_byte_now_and_then])
def test_the_time_is_one_for_the_whole_answer(talk: Talk) -> None:
    with listening(talk) as url:
        assert send(url, limit=SHORT) == AttemptResult(detail="no answer within 0.2 s")


def test_a_receiver_that_does_not_read() -> None:
    """A body that does not go out has the same time."""
    with listening(lambda connection: connection.shutdown(socket.SHUT_WR)) as url:
        assert send(url, bytes(1 << 24), SHORT).detail


def test_nobody_listens() -> None:
    with listening(say_nothing) as url:
        pass
    assert send(url).detail == "no connection: Connection refused"


@pytest.mark.parametrize("name", ["hooks.example.org", "other.example.org"])
def test_the_certificate_is_of_the_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not of the address that was connected to; one of another name is refused."""
    now = datetime.now(UTC)
    authority = Authority.make("trial", now=now, validity=timedelta(days=1))
    files = tmp_path / "server.pem", tmp_path / "key.pem"
    authority.server_pair([name], now=now, validity=timedelta(days=1)).write(*files)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*files)
    client = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    monkeypatch.setattr(module, "_tls", lambda: client)
    names: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: names.append(name)

    def talk(connection: socket.socket) -> None:
        with server.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(1 << 16)
            encrypted.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    with listening(talk, "https://hooks.example.org") as url:
        result = send(url, b"{}")
        assert (result.http_status == 200) is (name in url)
        assert result.detail.startswith("" if name in url else "the certificate is not good: ")
    assert names == ["hooks.example.org"]


def test_a_receiver_without_tls() -> None:
    """Nothing is sent to it in plain text."""
    talk = endless(b"", b"HTTP/1.1 200 OK\r\n\r\n")
    with listening(talk, "https://hooks.example.org") as url:
        assert send(url).detail.startswith("no connection: ")
