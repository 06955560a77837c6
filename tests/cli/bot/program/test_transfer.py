"""Bytes sent to a server that is there, and to one that comes and goes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from meijin.cli.bot.program.transfer import RETRY_TIME, Transfer, is_passing
from meijin.local.connection import Connection
from meijin.v1 import hosting_service_pb2 as pb
from meijin.wire.contract import MAX_CHUNK_BYTES

DATA = bytes(range(256)) * 1000
HEADER = pb.ProgramHeader(digest=hashlib.sha256(DATA).hexdigest(), size=len(DATA))


class Failure(grpc.RpcError, grpc.Call):  # type: ignore[misc]  # as gRPC's own errors
    """A call that has ended with a code."""

    def __init__(self, code: grpc.StatusCode, details: str = "") -> None:
        self._code = code
        self._details = details

    def details(self) -> str:
        return self._details

    def code(self) -> grpc.StatusCode:
        return self._code


class ServerAt:
    """Takes bytes in, and ends each call after as many chunks as it is told."""

    def __init__(self, cuts: Sequence[int], code: grpc.StatusCode) -> None:
        self.hosting = SimpleNamespace(UploadProgram=None)
        self.received = b""
        self.calls = 0
        self._cuts = list(cuts)
        self._code = code

    def watch_with_token(
        self, _method: Any, requests: Callable[[], Iterator[pb.UploadProgramRequest]]
    ) -> Iterator[pb.UploadProgramResponse]:
        self.calls += 1
        sent = requests()
        assert next(sent).header == HEADER
        chunks = self._cuts.pop(0) if self._cuts else None
        if chunks is None or chunks >= 0:
            yield pb.UploadProgramResponse(received=len(self.received))
        while chunks is None or chunks > 0:
            request = next(sent, None)
            if request is None:
                yield pb.UploadProgramResponse(program=pb.Program(program_id="7"))
                return
            assert 0 < len(request.chunk) <= MAX_CHUNK_BYTES
            self.received += request.chunk
            chunks = None if chunks is None else chunks - 1
        raise Failure(self._code)  # type: ignore[abstract]  # of a call the code alone is read


def transfer(server: ServerAt, sent: list[int], clock: Callable[[], float]) -> Transfer:
    return Transfer(
        cast("Connection", server),
        HEADER,
        DATA,
        sent=sent.append,
        lost=lambda: sent.append(-1),
        clock=clock,
        sleep=lambda _: None,
    )


class ServerThatWantsAToken(ServerAt):
    """Refuses a call without a token, after which the same is called with one."""

    def watch_with_token(
        self, method: Any, requests: Callable[[], Iterator[pb.UploadProgramRequest]]
    ) -> Iterator[pb.UploadProgramResponse]:
        refused = requests()
        assert next(refused).header == HEADER
        for answer in super().watch_with_token(method, requests):
            assert next(refused, None) is None
            yield answer


def test_a_transfer_begins_anew_with_another_token() -> None:
    """What the refused call was to send is sent by the next one."""
    server = ServerThatWantsAToken([], grpc.StatusCode.UNAVAILABLE)
    assert transfer(server, [], lambda: 0.0).run().program.program_id == "7"
    assert server.received == DATA


def test_a_transfer_goes_on_where_it_was_cut() -> None:
    """However often, as long as it gets further; what is there is told."""
    server, sent = ServerAt([1, 2, 0], grpc.StatusCode.UNAVAILABLE), list[int]()
    assert transfer(server, sent, lambda: 0.0).run().program.program_id == "7"
    assert (server.received, server.calls) == (DATA, 4)
    told = [each for each in sent if each >= 0]
    assert (told[-1], told == sorted(told), sent.count(-1)) == (len(DATA), True, 3)


def test_a_refusal_is_no_cut() -> None:
    """It is raised at once."""
    server = ServerAt([-1], grpc.StatusCode.PERMISSION_DENIED)
    with pytest.raises(Failure):
        transfer(server, [], lambda: 0.0).run()
    assert server.calls == 1


@pytest.mark.parametrize(
    ("code", "details", "passes"),
    [
        (grpc.StatusCode.UNAVAILABLE, "", True),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "nothing came for too long", True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "1 upload is open; come back in 5 s", True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "there are 20 programs of 20", False),
        (grpc.StatusCode.INTERNAL, "", False),
    ],
)
def test_what_passes(code: grpc.StatusCode, details: str, *, passes: bool) -> None:
    """A server that is away, and an earlier call that it has not seen end; a quota does not."""
    assert is_passing(Failure(code, details)) is passes  # type: ignore[abstract]


def test_a_server_that_stays_away_is_given_up() -> None:
    """After a time without a byte more."""
    times = iter(range(0, 10_000, 1))
    server = ServerAt([-1] * 10_000, grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(Failure):
        transfer(server, [], lambda: next(times)).run()
    assert server.calls == RETRY_TIME.total_seconds() + 1


def test_a_cut_that_got_further_starts_the_time_anew() -> None:
    """A slow line takes as long as it takes."""
    step = RETRY_TIME.total_seconds() * 2 / 3
    times = (number * step for number in range(1000))
    server = ServerAt([1, 1, 1], grpc.StatusCode.UNAVAILABLE)
    assert transfer(server, [], lambda: next(times)).run().program.program_id == "7"


def test_what_the_server_has_is_not_sent() -> None:
    """All of it may be there already."""
    server, sent = ServerAt([], grpc.StatusCode.UNAVAILABLE), list[int]()
    server.received = DATA
    assert transfer(server, sent, lambda: 0.0).run().program.program_id == "7"
    assert sent == []
