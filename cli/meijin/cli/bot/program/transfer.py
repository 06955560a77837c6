"""The transfer of a program's bytes, which goes on where it was cut."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from queue import SimpleQueue

import grpc

from meijin.local.connection import Connection
from meijin.v1 import hosting_service_pb2 as pb
from meijin.wire.contract import COME_BACK, MAX_CHUNK_BYTES

RETRY_TIME = timedelta(minutes=1)
"""An upload is given up that has got no further for this long."""

RETRY_INTERVAL = timedelta(seconds=1)

_PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def is_passing(error: grpc.RpcError) -> bool:
    """Whether a call has ended so that another one may take it up."""
    if not isinstance(error, grpc.Call):
        return False
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return COME_BACK in (error.details() or "")  # the call that was cut is open there still
    return error.code() in _PASSING


class Transfer:
    """A program on its way to a server.

    Args:
        sent: Is told how many bytes are there, from any thread.
        lost: Is told that the server is away.
    """

    def __init__(
        self,
        connection: Connection,
        header: pb.ProgramHeader,
        data: bytes,
        *,
        sent: Callable[[int], object],
        lost: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._connection = connection
        self._header = header
        self._data = data
        self._sent = sent
        self._lost = lost
        self._clock = clock
        self._sleep = sleep
        self._received = -1

    def run(self) -> pb.UploadProgramResponse:
        """Send what is not there, by as many calls as it takes.

        Raises:
            grpc.RpcError: the server refuses it, or is away for too long.
        """
        progress_time = self._clock()
        while True:
            before = self._received
            try:
                return self._call()
            except grpc.RpcError as error:
                if self._received > before:
                    progress_time = self._clock()
                waited = self._clock() - progress_time
                if not is_passing(error) or waited > RETRY_TIME.total_seconds():
                    raise
                self._lost()
                self._sleep(RETRY_INTERVAL.total_seconds())

    def _call(self) -> pb.UploadProgramResponse:
        starts: SimpleQueue[int | None] = SimpleQueue()

        def requests() -> Iterator[pb.UploadProgramRequest]:
            nonlocal starts
            starts.put(None)  # a call with another token has ended
            own: SimpleQueue[int | None] = SimpleQueue()
            starts = own
            yield pb.UploadProgramRequest(header=self._header)
            start = own.get()
            if start is None:  # the call has ended
                return
            for first in range(start, len(self._data), MAX_CHUNK_BYTES):
                chunk = self._data[first : first + MAX_CHUNK_BYTES]
                yield pb.UploadProgramRequest(chunk=chunk)
                self._sent(first + len(chunk))

        method = self._connection.hosting.UploadProgram
        try:
            for answer in self._connection.watch_with_token(method, requests):
                if answer.HasField("program"):
                    return answer
                self._received = max(self._received, answer.received)
                starts.put(answer.received)
        finally:
            starts.put(None)
        raise AssertionError("the last answer has the program")
