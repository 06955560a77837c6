"""One request by HTTP, and receivers that mean no good."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import repeat
from pathlib import Path

import pytest
from tests.server.webhooks.receivers import Receiver, listening

from meijin.server.certificates import Authority
from meijin.server.webhooks import post as module
from meijin.server.webhooks.post import PostError, post
from meijin.server.webhooks.targets import Target, Url, parse_url

LONG, SHORT = timedelta(minutes=5), timedelta(seconds=0.2)
"""That nothing reaches, and that has to be reached."""


def to_port(port: int) -> Target:
    """A target on loopback, in plain text."""
    return Target(Url("127.0.0.1", port, "/", is_tls=False), "127.0.0.1")


def test_a_request(receiver: Receiver) -> None:
    """With its host, path, headers and body."""
    target = Target(parse_url(receiver.url), "127.0.0.1")
    answer = post(target, {"webhook-id": "msg_1"}, b"\x00body", LONG)
    assert (answer.status, answer.retry_after) == (204, None)
    received = receiver.next()
    assert (received.path, received.body) == ("/hook?key=1", b"\x00body")
    assert received.headers["host"] == target.url.host_header
    assert received.headers["webhook-id"] == "msg_1"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7), ("-5", 0), ("9" * 30, None), ("100000000", 86_400), ("Fri, 31 Dec", None)],
)
def test_when_to_come_back(receiver: Receiver, value: str, seconds: int | None) -> None:
    """A receiver puts off the next try, by no more than a day."""
    receiver.status, receiver.headers = 429, {"retry-after": value}
    answer = post(Target(parse_url(receiver.url), "127.0.0.1"), {}, b"", LONG)
    wanted = None if seconds is None else timedelta(seconds=seconds)
    assert (answer.status, answer.retry_after) == (429, wanted)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    """Its status is the answer: whoever is named in it gets nothing."""
    with Receiver().running() as inner:
        receiver.status, receiver.headers = 302, {"location": inner.url}
        answer = post(Target(parse_url(receiver.url), "127.0.0.1"), {}, b"", LONG)
        assert answer.status == 302
        receiver.next()
        assert inner.received.empty()


def endless(start: bytes, more: bytes) -> Callable[[socket.socket], None]:
    """A receiver that never stops talking."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(start)
        for part in repeat(more):
            connection.sendall(part)

    return talk


def test_an_endless_body_is_not_read() -> None:
    """The status is known before it; the connection is closed, which ends the receiver."""
    with listening(endless(b"HTTP/1.1 200 OK\r\n\r\n", bytes(65_536))) as port:
        assert post(to_port(port), {}, b"", LONG).status == 200


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
def test_an_endless_head_is_no_http(talk: Callable[[socket.socket], None]) -> None:
    """What is read is bounded in bytes, however fast it comes."""
    with listening(talk) as port, pytest.raises(PostError, match="no HTTP"):
        post(to_port(port), {}, b"", LONG)


def test_a_receiver_that_says_nothing() -> None:
    """Its time is bounded."""

    def talk(connection: socket.socket) -> None:
        while connection.recv(1 << 16):
            pass

    with listening(talk) as port, pytest.raises(PostError, match=r"no answer within 0\.2 s"):
        post(to_port(port), {}, b"", SHORT)


def test_a_byte_now_and_then_gains_no_time() -> None:
    """The time is one for the whole answer, not for each byte: a slow loris."""

    def talk(connection: socket.socket) -> None:
        connection.settimeout(0.01)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"a")
            try:
                if not connection.recv(1 << 16):
                    return
            except TimeoutError:
                pass

    with listening(talk) as port, pytest.raises(PostError, match="no answer within"):
        post(to_port(port), {}, b"", SHORT)


def test_a_receiver_that_does_not_read() -> None:
    """A body that does not go out has the same time."""
    with (
        listening(lambda connection: connection.shutdown(socket.SHUT_WR)) as port,
        pytest.raises(PostError),
    ):
        post(to_port(port), {}, bytes(1 << 24), SHORT)


def test_nobody_listens() -> None:
    """It is said in words."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(PostError, match="no connection: Connection refused"):
        post(to_port(port), {}, b"", LONG)


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

    with listening(talk) as port:
        target = Target(Url("hooks.example.org", port, "/", is_tls=True), "127.0.0.1")
        if name == target.url.host:
            assert post(target, {}, b"{}", LONG).status == 200
        else:
            with pytest.raises(PostError, match="the certificate is not good"):
                post(target, {}, b"{}", LONG)
    assert names == ["hooks.example.org"]


def test_a_receiver_without_tls() -> None:
    """Nothing is sent to it in plain text."""
    with listening(endless(b"", b"HTTP/1.1 200 OK\r\n\r\n")) as port:
        target = Target(Url("hooks.example.org", port, "/", is_tls=True), "127.0.0.1")
        with pytest.raises(PostError, match="no connection"):
            post(target, {}, b"{}", LONG)
