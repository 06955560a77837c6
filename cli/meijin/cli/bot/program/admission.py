"""The admission of a program, followed to its end."""

import time
from collections.abc import Iterator

import grpc

from meijin.cli.bot.program.tables import finding_lines
from meijin.cli.bot.program.transfer import RETRY_INTERVAL, RETRY_TIME, is_passing
from meijin.cli.output import print_note
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError
from meijin.v1 import hosting_service_pb2 as pb


def follow(connection: Connection, program_id: str) -> pb.Program:
    """Tell of an admission what is found, on standard error, until it has ended.

    Raises:
        ArenaError: Ctrl-C; the admission goes on at the server.
    """
    follower = _Follower()
    deadline: float | None = None
    try:
        while True:
            try:
                for answer in _watch(connection, program_id):
                    deadline = None
                    follower.tell(answer)
                    last = answer.program
            except grpc.RpcError as error:
                now = time.monotonic()
                deadline = deadline or now + RETRY_TIME.total_seconds()
                if not is_passing(error) or now > deadline:
                    raise
                time.sleep(RETRY_INTERVAL.total_seconds())
            else:
                return last
    except KeyboardInterrupt:
        raise ArenaError(
            f"the admission of program {program_id} goes on at the server; "
            f"`meijin bot program show {program_id}` tells of it"
        ) from None


def _watch(connection: Connection, program_id: str) -> Iterator[pb.WatchAdmissionResponse]:
    request = pb.WatchAdmissionRequest(program_id=program_id)
    return connection.watch_with_token(connection.hosting.WatchAdmission, lambda: request)


class _Follower:
    """Tells each finding once, when it is found, and how many programs are before this one."""

    def __init__(self) -> None:
        self._told = 0
        self._before = 0

    def tell(self, answer: pb.WatchAdmissionResponse) -> None:
        if answer.before not in {0, self._before}:
            programs = "1 program is" if answer.before == 1 else f"{answer.before} programs are"
            print_note(f"{programs} examined before it")
        self._before = answer.before
        findings = answer.program.findings
        if len(findings) < self._told:  # another worker has begun anew
            self._told = 0
        while self._told < len(findings) and _has_ended(findings[self._told]):
            for line in finding_lines(findings[self._told]):
                print_note(line)
            self._told += 1


def _has_ended(finding: pb.Finding) -> bool:
    return finding.status != pb.FINDING_STATUS_RUNNING
