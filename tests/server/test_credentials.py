"""TLS over real sockets: who gets in, what the others are told, and files that change."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from structlog.testing import capture_logs
from tests.authority import VALIDITY, AuthorityFiles

from meijin.bots import Client, RandomBot
from meijin.server import app
from meijin.server.certificates import KeyPair
from meijin.server.credentials import Credentials
from meijin.server.errors import CertificateError
from meijin.testing.peer import play_moves
from meijin.testing.server import FIVE, ServerInTest, until
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.status_service_pb2 import GetStatusRequest
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.wire.channel import Security, handshake_failure, open_async_channel
from meijin.wire.contract import Address, parse_address

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

PATIENCE = 20.0

EXPIRED = timedelta(days=2)
OF_ITS_OWN = (("grpc.use_local_subchannel_pool", 1),)
"""A channel that shares no connection with others of the same address."""


@pytest.fixture
def authority(tmp_path: Path) -> AuthorityFiles:
    """The one that the server's certificate is by."""
    return AuthorityFiles(tmp_path)


@pytest.fixture
def stranger(tmp_path: Path) -> AuthorityFiles:
    """Another."""
    return AuthorityFiles(tmp_path, "stranger")


async def failure_of(address: Address, security: Security) -> str | None:
    """What a new connection fails with, in words for people; none if it stands."""
    async with open_async_channel(address, security, OF_ITS_OWN) as channel:
        call = BotServiceStub(channel).ListBots(pb.ListBotsRequest(), timeout=10)
        if await call.code() is grpc.StatusCode.OK:
            return None
        details = await call.details() or ""
        return handshake_failure(address, details) or details


@asynccontextmanager
async def playing(server: ServerInTest, name: str, token: str) -> AsyncIterator[Client]:
    """A bot of the SDK, until the end of the block."""
    client = Client(
        RandomBot(seed=1), server=server.address, name=name, token=token, security=server.security
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(client.serve())
        yield client
        client.stop()


async def test_a_game(start_server: StartServer, authority: AuthorityFiles) -> None:
    """Bots of the SDK play to the end, and their tokens travel in the dark."""
    settings = authority.server() | {"registration": "closed"}
    async with start_server(authority.security, **settings) as server:
        assert server.address.startswith("grpcs://127.0.0.1:")
        tokens = {name: await server.register(name) for name in ("ada", "bob")}
        async with (
            playing(server, "ada", tokens["ada"]),
            playing(server, "bob", tokens["bob"]),
        ):
            key = await server.tournament("ada", "bob", token=server.operator_token)
            await server.until_finished(key)


async def test_whom_a_client_trusts(
    start_server: StartServer, authority: AuthorityFiles, stranger: AuthorityFiles
) -> None:
    """The authority that it is told of, or one that everybody knows."""
    async with start_server(**authority.server()) as server:
        address = parse_address(server.address)
        assert await failure_of(address, authority.security) is None
        for security in (stranger.security, Security()):
            failure = await failure_of(address, security) or ""
            assert "by an unknown authority; give that authority's certificate" in failure


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
        failure = await failure_of(parse_address(server.address), authority.security)
        assert told in (failure or "")


async def test_plain_text_to_tls(start_server: StartServer, authority: AuthorityFiles) -> None:
    """Who forgets to ask for TLS is told how."""
    async with start_server(**authority.server()) as server:
        address = Address(parse_address(server.address).target)
        failure = await failure_of(address, Security()) or ""
        assert failure.endswith(f"if it wants TLS, write {server.address}")


async def test_tls_to_plain_text(server: ServerInTest, authority: AuthorityFiles) -> None:
    """Who asks in vain is told too."""
    failure = await failure_of(Address(server.address, is_tls=True), authority.security) or ""
    assert failure.startswith("the server speaks no TLS; leave grpcs:// out")


async def test_a_bot_logs_why_it_waits(
    start_server: StartServer, authority: AuthorityFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """It comes back until the server's operator has mended it, and each line says what is wrong."""
    async with start_server(**authority.server()) as server:
        client = Client(RandomBot(seed=1), server=server.address, security=Security())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(client.serve())
            await until(lambda: "reconnecting" in caplog.text)
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
        failure = await failure_of(Address(f"{host}:{port}", is_tls=True), authority.security)
    assert "is no Meijin server; check the address and the port" in (failure or "")


# client certificates


async def test_clients_must_show_a_certificate(
    start_server: StartServer, authority: AuthorityFiles, stranger: AuthorityFiles
) -> None:
    """One by the authority that the server names; it opens the door, and the token tells who."""
    settings = authority.server() | {"client_ca": authority.ca, "registration": "closed"}
    async with start_server(authority.client(), **settings) as server:
        address = parse_address(server.address)
        assert await failure_of(address, server.security) is None
        for security in (authority.security, stranger.client("mallory", trusting=authority)):
            failure = await failure_of(address, security) or ""
            assert "it may want a client's certificate" in failure
        stub = await server.bots()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.RegisterBot(pb.RegisterBotRequest(name="ada"))
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


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
            address = parse_address(server.address)
            peers = await server.pair()
            await play_moves(peers, FIVE[:4])
            stranger.server()
            await until(lambda: sum(each["event"] == "certificate loaded" for each in logs) == 2)
            assert await failure_of(address, stranger.security) is None
            assert "unknown authority" in (await failure_of(address, authority.security) or "")
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
            address = parse_address(server.address)
            files["certificate"].unlink()
            if broken is not None:
                files["certificate"].write_bytes(broken)
            await until(lambda: any(each["log_level"] == "error" for each in logs))
            assert await failure_of(address, authority.security) is None
            authority.server("localhost")
            await until(lambda: sum(each["event"] == "certificate loaded" for each in logs) == 2)
            assert "for another name" in (await failure_of(address, authority.security) or "")
    errors = [each for each in logs if each["log_level"] == "error"]
    assert {each["event"] for each in errors} == {"the new certificate can't be used"}
    assert len({each["reason"] for each in errors}) == len(errors)  # one line a state of the files


async def test_reload_when_asked(authority: AuthorityFiles) -> None:
    """Files are loaded at once, and unchanged ones too."""
    credentials = Credentials(**authority.server(), client_ca=None)
    with capture_logs() as logs:
        watch = asyncio.create_task(credentials.watch())
        credentials.reload()
        await until(lambda: logs)
        watch.cancel()
    assert [each["event"] for each in logs] == ["certificate loaded"]


def test_an_expired_certificate_is_told_of(authority: AuthorityFiles) -> None:
    """The server's clients will see it; so does its operator."""
    with capture_logs() as logs:
        Credentials(**authority.server(age=EXPIRED), client_ca=None)
    assert [each["event"] for each in logs] == ["the certificate has expired"]


def test_an_authority_that_is_none(authority: AuthorityFiles, tmp_path: Path) -> None:
    """A server doesn't start with it."""
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
        assert await failure_of(parse_address(server.address), Security()) is None
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


async def test_the_metric_follows_the_files(
    start_server: StartServer, authority: AuthorityFiles
) -> None:
    """What is left of the certificate that was loaded last, and of the clients' authority."""
    old = timedelta(hours=20)
    settings = authority.server(age=old) | {"client_ca": authority.ca}
    async with start_server(**settings) as server:
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


async def test_a_server_without_tls_has_no_such_metric(server: ServerInTest) -> None:
    """An alarm for it would be a false one."""
    registry = server.app.registry()
    names = {family.name for family in registry.collect()}
    assert "meijin_certificate_expiry_seconds" not in names


async def test_operators_are_told_when_certificates_expire(
    start_server: StartServer, authority: AuthorityFiles
) -> None:
    """In the status, of each that is in use."""
    async with start_server(authority.security, **authority.server()) as server:
        service = StatusServiceStub(await server.channel())
        told = await service.GetStatus(GetStatusRequest())
        assert server.settings.certificate is not None
        assert server.settings.key is not None
        pair = KeyPair.read(server.settings.certificate, server.settings.key)
        assert told.certificate_expire_time.ToDatetime(UTC) == pair.end
        assert not told.HasField("client_ca_expire_time")
