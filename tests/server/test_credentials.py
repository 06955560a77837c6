"""TLS over real sockets: who gets in, what the others are told, and files that change."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from structlog.testing import capture_logs
from tests.authority import VALIDITY, AuthorityFiles
from tests.conftest import PATIENCE
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest, until

from meijin.bots import Client, RandomBot
from meijin.server import app
from meijin.server.certificates import KeyPair
from meijin.server.credentials import Credentials
from meijin.server.errors import CertificateError
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.wire.channel import Security, handshake_failure, open_async_channel
from meijin.wire.contract import parse_address

if TYPE_CHECKING:
    from tests.server.conftest import StartServer


EXPIRED = timedelta(days=2)
OF_ITS_OWN = (("grpc.use_local_subchannel_pool", 1),)
"""A channel that shares no connection with others of the same address."""


@pytest.fixture
def authority(tmp_path: Path) -> AuthorityFiles:
    return AuthorityFiles(tmp_path)


@pytest.fixture
def stranger(tmp_path: Path) -> AuthorityFiles:
    return AuthorityFiles(tmp_path, "stranger")


async def failure_of(server: str, security: Security) -> str:
    """What a new connection to an address fails with, in words for people; empty if it stands."""
    address = parse_address(server)
    async with open_async_channel(address, security, OF_ITS_OWN) as channel:
        call = BotServiceStub(channel).ListBots(pb.ListBotsRequest(), timeout=10)
        if await call.code() is grpc.StatusCode.OK:
            return ""
        details = await call.details() or ""
        return handshake_failure(address, details) or details


async def loaded(logs: Sequence[Mapping[str, Any]], times: int) -> None:
    """Wait until certificates were loaded this many times."""
    await until(lambda: [each["event"] for each in logs].count("certificate loaded") == times)


async def test_whom_a_client_trusts(
    start_server: StartServer, authority: AuthorityFiles, stranger: AuthorityFiles
) -> None:
    """The authority that it is told of, or one that everybody knows; plain text is told of TLS."""
    async with start_server(**authority.server()) as server:
        assert await failure_of(server.address, authority.security) == ""
        for security in (stranger.security, Security()):
            failure = await failure_of(server.address, security)
            assert "by an unknown authority; give that authority's certificate" in failure
        failure = await failure_of(server.address.removeprefix("grpcs://"), Security())
        assert failure.endswith(f"if it wants TLS, write {server.address}")


@pytest.mark.parametrize(
    ("names", "age", "told"),
    [
        (["127.0.0.1"], EXPIRED, "has expired; its operator must renew it"),
        (["127.0.0.1"], -EXPIRED, "not valid yet; see that this machine's clock is right"),
        (["example.org", "10.0.0.1"], timedelta(0), "is for another name; use a name"),
    ],
)
async def test_certificates_that_do_not_fit(
    start_server: StartServer,
    authority: AuthorityFiles,
    names: list[str],
    age: timedelta,
    told: str,
) -> None:
    """The time has to be right, and the name."""
    async with start_server(**authority.server(*names, age=age)) as server:
        assert told in await failure_of(server.address, authority.security)


async def test_tls_to_plain_text(server: ServerInTest, authority: AuthorityFiles) -> None:
    """Who asks in vain is told; an alarm of its certificate would be a false one."""
    failure = await failure_of(f"grpcs://{server.address}", authority.security)
    assert failure.startswith("the server speaks no TLS; leave grpcs:// out")
    names = {family.name for family in server.app.registry().collect()}
    assert "meijin_certificate_expiry_seconds" not in names


async def test_a_bot_logs_why_it_waits(
    start_server: StartServer, authority: AuthorityFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """It comes back until the server's operator has mended it, and each line says what is wrong.

    One that trusts the server's authority is in, with its token.
    """
    settings = authority.server() | {"registration": "closed"}
    async with start_server(authority.security, **settings) as server:
        token = await server.register("ada")
        clients = [
            Client(RandomBot(1), server=server.address, name="ada", token=token, security=security)
            for security in (authority.security, Security())
        ]
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.serve())
            await until(lambda: "reconnecting" in caplog.text and server.parts.lobby.sessions)
            for client in clients:
                client.stop()
    assert "because the server's certificate is by an unknown authority" in caplog.text


async def test_tls_to_something_else(authority: AuthorityFiles) -> None:
    """Then the address is wrong."""
    files = authority.server()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(files["certificate"], files["key"])

    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0, ssl=serving) as web:
        host, port = web.sockets[0].getsockname()
        failure = await failure_of(f"grpcs://{host}:{port}", authority.security)
    assert "is no Meijin server; check the address and the port" in failure


# client certificates


async def test_clients_must_show_a_certificate(
    start_server: StartServer, authority: AuthorityFiles, stranger: AuthorityFiles
) -> None:
    """One by the authority that the server names; it opens the door, and the token tells who."""
    settings = authority.server() | {"client_ca": authority.ca, "registration": "closed"}
    async with start_server(authority.client(), **settings) as server:
        assert await failure_of(server.address, server.security) == ""
        for security in (authority.security, stranger.client("mallory", trusting=authority)):
            failure = await failure_of(server.address, security)
            assert "it may want a client's certificate" in failure
        refused = await server.refusal("BotService/RegisterBot", name="ada")
        assert refused.code is grpc.StatusCode.UNAUTHENTICATED


# files that change


@pytest.fixture
def _looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meijin.server.credentials.RELOAD_INTERVAL", timedelta(milliseconds=5))


@pytest.mark.usefixtures("_looking_often")
async def test_a_new_certificate(
    start_server: StartServer, authority: AuthorityFiles, stranger: AuthorityFiles
) -> None:
    """New connections are shown it, and games go on over those that are open."""
    with capture_logs() as logs:
        async with start_server(authority.security, **authority.server()) as server:
            peers = await server.pair()
            await play_moves(peers, FIVE[:4])
            stranger.server()
            await loaded(logs, 2)
            assert await failure_of(server.address, stranger.security) == ""
            assert "unknown authority" in await failure_of(server.address, authority.security)
            await play_moves(peers, FIVE[4:], first=4)
            for peer in peers:
                await peer.ended()


@pytest.mark.usefixtures("_looking_often")
@pytest.mark.parametrize("broken", [b"garbage", None])
async def test_a_broken_certificate(
    start_server: StartServer, authority: AuthorityFiles, broken: bytes | None
) -> None:
    """It is told of once, and the earlier one stays in use until there is a good one."""
    files = authority.server()
    with capture_logs() as logs:
        async with start_server(authority.security, **files) as server:
            files["certificate"].unlink()
            if broken is not None:
                files["certificate"].write_bytes(broken)
            await until(lambda: any(each["log_level"] == "error" for each in logs))
            assert await failure_of(server.address, authority.security) == ""
            authority.server("localhost")
            await loaded(logs, 2)
            assert "for another name" in await failure_of(server.address, authority.security)
    errors = [each for each in logs if each["log_level"] == "error"]
    assert {each["event"] for each in errors} == {"the new certificate can't be used"}
    assert len({each["reason"] for each in errors}) == len(errors)  # one line a state of the files


async def test_reload_when_asked(authority: AuthorityFiles) -> None:
    """Files are loaded at once, and unchanged ones too."""
    credentials = Credentials(**authority.server(), client_ca=None)
    with capture_logs() as logs:
        watch = asyncio.create_task(credentials.watch())
        credentials.reload()
        await loaded(logs, 1)
        watch.cancel()


def test_an_expired_certificate_is_told_of(authority: AuthorityFiles, tmp_path: Path) -> None:
    """The server's clients will see it; with an authority that is none no server starts."""
    with capture_logs() as logs:
        Credentials(**authority.server(age=EXPIRED), client_ca=None)
    assert [each["event"] for each in logs] == ["the certificate has expired"]
    with pytest.raises(CertificateError, match=r"can't read .*missing.pem"):
        Credentials(**authority.server(), client_ca=tmp_path / "missing.pem")


# proxies


async def test_no_proxy_on_this_machine(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes to this machine is shown to no proxy of the environment, tokens included."""
    contacted = threading.Event()

    async def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        contacted.set()
        writer.close()

    async with await asyncio.start_server(note, "127.0.0.1", 0) as proxy:
        host, port = proxy.sockets[0].getsockname()
        monkeypatch.setenv("grpc_proxy", f"http://{host}:{port}")
        assert await failure_of(server.address, Security()) == ""
    assert not contacted.is_set()


async def test_a_client_that_says_nothing_is_hung_up_on(
    start_server: StartServer, authority: AuthorityFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket that never begins to shake hands takes the place of a connection for a while."""
    monkeypatch.setattr(app, "HANDSHAKE_TIMEOUT", timedelta(seconds=0.5))
    async with start_server(authority.security, **authority.server()) as server:
        host, _, port = parse_address(server.address).target.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()


async def test_what_is_left_of_certificates_is_told(
    start_server: StartServer, authority: AuthorityFiles
) -> None:
    """Of those that were loaded last, the clients' authority's too: by a metric and the status."""
    old = timedelta(hours=20)
    settings = authority.server(age=old) | {"client_ca": authority.ca}
    async with start_server(authority.client(), **settings) as server:
        registry = server.app.registry()

        def left(certificate: str) -> float:
            labels = {"certificate": certificate}
            seconds = registry.get_sample_value("meijin_certificate_expiry_seconds", labels)
            assert seconds is not None
            return seconds

        assert left("server") < (VALIDITY - old).total_seconds()
        assert old.total_seconds() < left("client_ca") <= VALIDITY.total_seconds()
        authority.server()
        server.app.reload_certificate()
        await server.until(lambda: left("server") > old.total_seconds())
        told = await server.ask("StatusService/GetStatus")
        pair = KeyPair.read(settings["certificate"], settings["key"])
        assert told.certificate_expire_time.ToDatetime(UTC) == pair.end
        assert told.HasField("client_ca_expire_time")
