"""A server that hosts programs, its own host with what that starts, and programs to be uploaded."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from google.protobuf import json_format
from sqlalchemy import update
from tests.processes import Processes, children_of, eventually, processes_of
from tests.system.server import Server

from meijin.cli.bot.program.transfer import Transfer
from meijin.store import Database
from meijin.store.programs import admissions
from meijin.store.schema import Finding, FindingStatus, Program, ProgramState
from meijin.v1 import hosting_service_pb2 as pb
from meijin.v1 import play_service_pb2
from meijin.v1.bot_service_pb2 import RegisterBotRequest
from meijin.wire.capabilities import Capabilities, capabilities_to_proto

LEASE = timedelta(minutes=10)
SMALL_BOARDS = Capabilities(min_size=5, max_size=20)
CONTROL_GROUPS = Path("/sys/fs/cgroup")
JANITOR = b"meijin.programs.sandbox.janitor"

LINE_PROGRAM = """\
from meijin.bots import Bot, Capabilities, Position


class Line(Bot):
    capabilities = Capabilities(min_size=5, max_size=20)

    def choose(self, position: Position) -> int:
        width = position.variant.width
        return min(
            position.legal_cells(), key=lambda cell: ((cell % width - {number}) % width, cell)
        )
"""
"""Fills a column after the other, from its own on: each number is another digest."""

ENGINE_PROGRAM = """\
#include <stdio.h>
#include <string.h>

static char taken[1024];
static int width = 15;

static void answer(void) {
    int cell = 0;
    while (taken[cell]) cell++;
    taken[cell] = 1;
    printf("%d,%d\\n", cell % width, cell / width);
}

int main(void) {
    char line[256];
    int x, y;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "START %d", &x) == 1 && x > 0 && x <= 32) {
            width = x; memset(taken, 0, sizeof taken); puts("OK");
        } else if (!strncmp(line, "RESTART", 7)) {
            memset(taken, 0, sizeof taken); puts("OK");
        } else if (!strncmp(line, "BEGIN", 5)) {
            answer();
        } else if (sscanf(line, "TURN %d,%d", &x, &y) == 2) {
            taken[y * width + x] = 1; answer();
        } else if (!strncmp(line, "BOARD", 5)) {
            memset(taken, 0, sizeof taken);
            while (fgets(line, sizeof line, stdin) && sscanf(line, "%d,%d", &x, &y) == 2)
                taken[y * width + x] = 1;
            answer();
        } else if (!strncmp(line, "ABOUT", 5)) {
            puts("name=\\"first-cell\\", version=\\"1\\"");
        } else if (!strncmp(line, "END", 3)) {
            return 0;
        }
    }
}
"""
"""An engine of the Gomocup protocol, which takes the first cell that is free."""


class HostingServer(Server):
    """A `meijin serve --hosting`, whose temporary folders are this test's alone.

    They are below ``/tmp`` itself: programs of other users must get at the sockets there.
    """

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        self.temporary = Path(tempfile.mkdtemp(prefix="meijin-test-"))
        self.temporary.chmod(0o711)
        processes.at_end.callback(shutil.rmtree, self.temporary, ignore_errors=True)
        super().__init__(
            processes,
            "--hosting",
            "--open",
            *options,
            TMPDIR=str(self.temporary),
            MEIJIN_LOG_FORMAT="json",
            **env,
        )

    # -- programs -------------------------------------------------------------------------

    def upload(self, name: str, data: bytes, file_name: str = "bot.py") -> pb.Program:
        """Register a bot where there is none of the name, and hand its program over."""
        connection = self.connection
        with suppress(grpc.RpcError):  # it is there
            connection.ask_with_token(connection.bots.RegisterBot, RegisterBotRequest(name=name))
        digest = hashlib.sha256(data).hexdigest()
        header = pb.ProgramHeader(bot=name, digest=digest, size=len(data), file_name=file_name)
        transfer = Transfer(connection, header, data, sent=lambda _: None, lost=lambda: None)
        return transfer.run().program

    def get_program(self, key: str) -> pb.Program:
        request = pb.GetProgramRequest(program_id=key)
        return self.connection.ask_with_token(self.connection.hosting.GetProgram, request).program

    def admitted(self, key: str) -> pb.Program:
        """The program when its admission has ended well."""
        open_states = {pb.PROGRAM_STATE_UPLOADED, pb.PROGRAM_STATE_CHECKING}
        eventually(lambda: self.get_program(key).state not in open_states)
        program = self.get_program(key)
        assert program.state == pb.PROGRAM_STATE_ADMITTED, program
        return program

    def admit_all(self) -> None:
        """Admit what waits without looking at it, which a doctor would not."""
        hello = play_service_pb2.Hello(capabilities=capabilities_to_proto(SMALL_BOARDS))
        said = json_format.MessageToDict(hello, preserving_proto_field_name=True)
        with Database(self.database_url) as database:
            now = datetime.now(UTC)
            while (taken := database.write(admissions.take_program, now, now + LEASE)) is not None:
                finding = Finding("test", FindingStatus.PASSED, "unseen")
                assert database.write(admissions.admit, taken, [finding], said, now)

    # -- what the host has started --------------------------------------------------------

    @property
    def host_pid(self) -> int:
        """The host's; that which the server has started last."""
        return self._newest("host run")

    @property
    def admission_pid(self) -> int:
        return self._newest("host admit")

    def _newest(self, words: str) -> int:
        eventually(lambda: _running(self.folder, words))
        return max(_running(self.folder, words))

    @property
    def door_pids(self) -> set[int]:
        return set(_running(self.folder, "meijin.hosting.door"))

    def seated(self, host_pid: int) -> dict[int, str]:
        """The processes in the control groups of a host, with the group of each."""
        found = {}
        for file in Path("/proc").glob("[0-9]*/cgroup"):
            with suppress(OSError):
                groups = [line.split(":", 2)[2] for line in file.read_text().splitlines()]
                named = [each for each in groups if f"/meijin-{host_pid}-" in each]
                if named:
                    found[int(file.parent.name)] = named[0]
        return found

    def traces(self, *pids: int) -> Iterator[str]:
        """What is left of hosts: processes, control groups, mounts and folders."""
        for pid in pids:
            for process, group in self.seated(pid).items():
                yield f"process {process} in {group}"
            for folder, names, _ in os.walk(CONTROL_GROUPS):  # though some go meanwhile
                found = [name for name in names if name.startswith(f"meijin-{pid}-")]
                yield from (f"control group {folder}/{name}" for name in found)
            if Path(f"/proc/{pid}").exists():
                yield f"process {pid}"
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        yield from (f"mount {line}" for line in mounts if str(self.temporary) in line)

    def folders_of(self, host_pid: int) -> set[Path]:
        """The temporary folders that the janitors of a host remove."""
        janitors = [
            Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in children_of(host_pid)
        ]
        found = {
            Path(os.fsdecode(words[words.index(JANITOR) + 1]))
            for words in janitors
            if JANITOR in words
        }
        return {folder for folder in found if folder.is_relative_to(self.temporary)}

    def end_leases(self) -> None:
        """Have nobody wait for a worker that examines a program no more."""
        long_ago = datetime(2000, 1, 1, tzinfo=UTC)
        with Database(self.database_url) as database:
            database.write(
                lambda at: at.execute(
                    update(Program)
                    .where(Program.state == ProgramState.CHECKING)
                    .values(lease_time=long_ago)
                )
            )


def _running(folder: Path, words: str) -> list[int]:
    """The processes of a test whose command has some words, itself and no wrapper of it."""
    found = []
    for pid in processes_of(folder):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            if words in command and "die_with_parent" not in command:
                found.append(pid)
    return found
