"""Programs as they are shown."""

from __future__ import annotations

from meijin.cli.bot.program.tables import finding_lines, program_lines
from meijin.v1 import hosting_service_pb2 as pb


def test_a_finding_says_what_where_and_how_to_mend_it() -> None:
    finding = pb.Finding(
        step="archive",
        status=pb.FINDING_STATUS_FAILED,
        detail='"a/b" is a link',
        fix="put a copy in its place",
        evidence=["a/b -> /etc/passwd"],
    )
    assert list(finding_lines(finding)) == [
        'FAIL  archive                   "a/b" is a link',
        "                                fix: put a copy in its place",
        "                                | a/b -> /etc/passwd",
    ]


def test_a_program_is_shown_with_what_it_used() -> None:
    program = pb.Program(
        program_id="3",
        bot="ada",
        digest="ab" * 32,
        kind=pb.PROGRAM_KIND_SCRIPT,
        state=pb.PROGRAM_STATE_SUSPENDED,
        size=700,
        file_name="bot.py",
        label="1.0",
        uploader="owner eve",
        reason="it mines",
        current=True,
        usage=pb.ProgramUsage(
            starts=2, cpu_ms=61_000, memory_bytes=2**21, output_bytes=10, limit="memory: 256 MiB"
        ),
    )
    assert list(program_lines(program)) == [
        'program 3 of ada "1.0": suspended',
        "because: it mines",
        "bot.py, script, 700 bytes, digest abababababab",
        "uploaded by owner eve, 1970-01-01 00:00 (UTC)",
        "started 2 times; 1 min 1 s of processor time, at most 2 MB of memory, 10 bytes of output",
        "the last limit that ended a run: memory: 256 MiB",
    ]
