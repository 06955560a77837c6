"""Hosts' streams, against a real server in the same process."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.peer import WAIT_TIMEOUT, bearer
from tests.server_in_test import SMALL, until

from meijin.programs.kinds import ProgramKind
from meijin.store import bots
from meijin.store.programs.programs import NewProgram, add_program, make_current, set_state
from meijin.store.rows import change_row
from meijin.store.schema import Program, ProgramState
from meijin.v1 import host_service_pb2 as pb
from meijin.v1 import hosting_service_pb2
from meijin.v1.host_service_pb2_grpc import HostServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

if TYPE_CHECKING:
    from tests.peer import Peer
    from tests.server_in_test import ServerInTest

pytestmark = pytest.mark.settings(registration="closed", hosting=True)
SOURCE = b"print('hello')\n"
HELLO: dict[str, Any] = {
    "capabilities": {"min_board_size": 3, "max_board_size": 22, "any_line": True}
}


class Host:
    """A host's stream that a test speaks by itself."""

    def __init__(self, server: ServerInTest, token: str) -> None:
        self.stub: Any = HostServiceStub(server.calls)
        self.metadata = bearer(token)
        self.call: Any = self.stub.Run(metadata=self.metadata)

    async def hello(self, **said: Any) -> None:
        hello = pb.HostHello(
            protocol_version=PROTOCOL_VERSION,
            name="attic",
            seats=4,
            kinds=hosting_service_pb2.ProgramKind.values()[1:],
        )
        hello.MergeFrom(pb.HostHello(**said))
        await self.call.write(pb.RunRequest(hello=hello))

    async def read(self) -> Any:
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            return await self.call.read()

    async def seat(self) -> pb.Seat:
        told = await self.read()
        assert told.WhichOneof("fact") == "seat", told
        seat: pb.Seat = told.seat
        return seat

    async def report(self, seat: pb.Seat, **report: Any) -> None:
        said = pb.SeatReport(seat_id=seat.seat_id, **report)
        await self.call.write(pb.RunRequest(reports=pb.SeatReports(reports=[said])))


@asynccontextmanager
async def hosted(server: ServerInTest) -> AsyncIterator[Host]:
    host = Host(server, await server.token("host"))
    await host.hello()
    assert (await host.read()).welcome.limits.memory_bytes == 256 * 2**20
    yield host
    host.call.cancel()


async def admit(server: ServerInTest, name: str) -> str:
    """Register a bot with a program that it plays with; the digest."""
    await server.register(name)
    source = SOURCE + name.encode()
    digest = hashlib.sha256(source).hexdigest()
    depot = server.parts.depot
    assert depot is not None
    with depot.begin(digest, size=len(source), uploader=name) as incoming:
        incoming.write(source)
        incoming.finish()

    def add(connection: Any) -> None:
        now, bot_id = datetime.now(UTC), bots.find_bot(connection, name)
        assert bot_id is not None
        new = NewProgram(
            bot_id=bot_id,
            digest=digest,
            kind=ProgramKind.SCRIPT,
            size=len(source),
            file_name="bot.py",
            label="1",
            uploader=name,
        )
        row, _ = add_program(connection, new, now)
        change_row(connection, Program, row.id, hello=HELLO)
        set_state(connection, row, ProgramState.ADMITTED, now)
        make_current(connection, row)

    await server.parts.storage.write(add)
    await server.parts.programs.look()
    return digest


async def come(server: ServerInTest, seat: pb.Seat) -> Peer:
    """The stream of a bot, opened by its ticket."""
    return await server.bot("", token=seat.ticket)


async def test_a_game_calls_programs(server: ServerInTest) -> None:
    """They are told to the host, come by their tickets, and play; their bytes can be fetched."""
    async with hosted(server) as host:
        digests = [await admit(server, name) for name in ("ada", "bob")]
        assert await server.connected() == {"ada", "bob"}
        await server.tournament("ada", "bob", control="60 cpu", variant=SMALL)
        seats = [await host.seat(), await host.seat()]
        assert sorted(seat.digest for seat in seats) == sorted(digests)
        peers = [await come(server, seat) for seat in seats]
        for peer in peers:
            await peer.started()
        fetched = host.stub.FetchProgram(
            pb.FetchProgramRequest(program_id=seats[0].program_id), metadata=host.metadata
        )
        data = b"".join([each.chunk async for each in fetched])
        assert hashlib.sha256(data).hexdigest() == seats[0].digest


async def test_lost_bytes_are_told_of(server: ServerInTest) -> None:
    """A host hears what there is to do, and so does whoever reads the server's log."""
    async with hosted(server) as host:
        digest = await admit(server, "ada")
        await admit(server, "bob")
        await server.tournament("ada", "bob", variant=SMALL)
        seats = [await host.seat(), await host.seat()]
        key = next(seat.program_id for seat in seats if seat.bot == "ada")
        depot = server.parts.depot
        assert depot is not None
        depot.delete(digest)
        fetched = host.stub.FetchProgram(
            pb.FetchProgramRequest(program_id=key), metadata=host.metadata
        )
        with pytest.raises(grpc.aio.AioRpcError, match=f"no program {digest} is kept") as raised:
            _ = [each async for each in fetched]
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_game_by_processor_time_waits_for_a_host_that_measures_it(
    server: ServerInTest,
) -> None:
    """And says so."""
    host = Host(server, await server.token("host"))
    await host.hello(cpu_unmeasured=True)
    await host.read()
    for name in ("ada", "bob"):
        await admit(server, name)
    tournament = await server.tournament("ada", "bob", control="60 cpu", variant=SMALL)
    reason = "has no host that can measure its processor time"
    waits_for = (await server.report(tournament)).tournament.waiting_for
    assert waits_for == f"ada {reason}; bob {reason}"
    async with hosted(server) as other:
        seats = {(await other.seat()).bot for _ in range(2)}
    assert seats == {"ada", "bob"}
    host.call.cancel()


async def test_a_program_that_does_not_start_is_suspended(server: ServerInTest) -> None:
    """After three times, with the reason; what it has said is kept."""
    async with hosted(server) as host:
        await admit(server, "ada")
        await server.bot("bob", token=await server.register("bob"))
        await server.tournament("ada", "bob", variant=SMALL)
        for _ in range(3):
            seat = await host.seat()
            ended = pb.SEAT_STATE_ENDED
            await host.report(seat, state=ended, cause="it crashed", cpu_ms=7, lines=["oh"])
            await until(lambda: server.parts.scheduler.seats._rests_now)
            server.parts.scheduler.seats._end_rests(1 << 62)
        await until(lambda: not server.parts.scheduler.seats.programs)
        program = (await server.ask("HostingService/GetProgram", program_id="1")).program
        assert program.state == hosting_service_pb2.PROGRAM_STATE_SUSPENDED
        assert program.reason == "it has not started 3 times: it crashed"
        assert (program.usage.starts, program.usage.cpu_ms) == (3, 21)
        log = await server.ask("HostingService/ReadProgramLog", program_id="1")
        assert list(log.lines) == ["oh"] * 3


async def test_a_ticket_ends_with_its_seat(server: ServerInTest) -> None:
    async with hosted(server) as host:
        await admit(server, "ada")
        await server.bot("bob", token=await server.register("bob"))
        await server.tournament("ada", "bob", variant=SMALL)
        seat = await host.seat()
        await host.report(seat, state=pb.SEAT_STATE_ENDED)
        again = await host.seat()
        assert again.ticket != seat.ticket
        peer = await server.peer(seat.ticket)
        await peer.hello("")
        assert (await peer.closed()).code is grpc.StatusCode.UNAUTHENTICATED


SUSPENDED = {"program_id": "1", "state": "PROGRAM_STATE_SUSPENDED", "reason": "it mines"}
DISABLED = {"name": "ada", "state": "BOT_STATE_DISABLED", "reason": "it mines"}


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("HostingService/UpdateProgram", SUSPENDED, 'program 1 of "ada" is suspended: it mines'),
        ("BotService/UpdateBot", DISABLED, '"ada" is disabled: it mines'),
    ],
    ids=["program", "bot"],
)
async def test_what_may_play_no_more_stops_in_its_game(
    server: ServerInTest, method: str, change: dict[str, Any], words: str
) -> None:
    """Its stream ends, and its host is told; the opponent's stream stays."""
    async with hosted(server) as host:
        await admit(server, "ada")
        bob = await server.bot("bob", token=await server.register("bob"))
        await server.tournament("ada", "bob", variant=SMALL)
        seat = await host.seat()
        ada = await come(server, seat)
        await ada.started()
        await server.ask(method, **change)
        end = await ada.closed()
        assert (end.code, end.details) == (grpc.StatusCode.PERMISSION_DENIED, words)
        assert (await host.read()).unseat.seat_id == seat.seat_id
        await bob.started()
        await bob.catch_up()


async def refusal(host: Host) -> grpc.aio.AioRpcError:
    """How the stream of a host ends that is not let in."""
    with suppress(grpc.aio.AioRpcError):
        await host.hello()
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.read()
    return refused.value


@pytest.mark.parametrize("kind", ["operator", "read"])
async def test_hosts_have_tokens_of_their_own(server: ServerInTest, kind: str) -> None:
    host = Host(server, await server.token(kind))
    assert (await refusal(host)).code() is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"protocol_version": 99}, "speaks protocol version 1"),
        ({"seats": 10_001}, "seats must be 1 to 10000"),
        ({"name": "x" * 41}, "name is longer than 40"),
        ({"sandbox": "process"}, "it must name the owners"),
        ({"owners": ["nobody"]}, 'no owner "nobody"'),
    ],
)
async def test_impossible_hellos(server: ServerInTest, said: dict[str, Any], words: str) -> None:
    host = Host(server, await server.token("host"))
    await host.hello(**said)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.read()
    assert words in (refused.value.details() or "")


@pytest.mark.settings(registration="closed")
async def test_a_server_that_hosts_nothing(server: ServerInTest) -> None:
    host = Host(server, await server.token("host"))
    assert "hosts no programs" in ((await refusal(host)).details() or "")
