"""Programs on the screen: lists of them, and one with its findings."""

from collections.abc import Iterator
from datetime import timedelta

from meijin.cli.bot.tables import DIGEST_LENGTH
from meijin.cli.tables import duration_text, number, text, time_of, word
from meijin.v1 import hosting_service_pb2 as pb
from meijin.wire.enums import word_of
from meijin.wire.text import memory_text

MARKS = {
    pb.FINDING_STATUS_RUNNING: "...",
    pb.FINDING_STATUS_PASSED: "ok",
    pb.FINDING_STATUS_WARNED: "warn",
    pb.FINDING_STATUS_FAILED: "FAIL",
}
_MARK, _STEP = 6, 26


def quota_lines(response: object) -> Iterator[str]:
    """What the caller's programs take of what they may, as the answer with a list of them says."""
    if isinstance(response, pb.ListProgramsResponse) and response.HasField("quota"):
        quota = response.quota
        held = memory_text(quota.bytes) or "nothing"
        yield (
            f"{quota.programs} of {quota.most_programs} programs, {held} of "
            f"{memory_text(quota.most_bytes)}; {duration_text(quota.cpu.ToTimedelta())} of "
            f"{duration_text(quota.most_cpu.ToTimedelta())} of processor time today (UTC)"
        )


def _state(row: pb.Program) -> str:
    return "playing" if is_played(row) else word_of(pb.ProgramState, row.state)


def is_played(row: pb.Program) -> bool:
    """Whether its bot plays with a program."""
    return row.current and row.state == pb.PROGRAM_STATE_ADMITTED


PROGRAMS = (
    number("program", "program_id"),
    text("bot"),
    text("version", "label"),
    text("file", "file_name"),
    text("kind", word("kind", pb.ProgramKind)),
    number("size", lambda row: memory_text(row.size)),
    text("uploaded (UTC)", time_of("create_time")),
    text("state", _state),
    text("digest", lambda row: row.digest[:DIGEST_LENGTH]),
    text("why", "reason"),
)


def program_lines(row: pb.Program) -> Iterator[str]:
    """A program in full."""
    label = f' "{row.label}"' if row.label else ""
    yield f"program {row.program_id} of {row.bot}{label}: {_state(row)}"
    if row.reason:
        yield f"because: {row.reason}"
    kind = word_of(pb.ProgramKind, row.kind)
    yield f"{row.file_name}, {kind}, {memory_text(row.size)}, digest {row.digest[:DIGEST_LENGTH]}"
    yield f"uploaded by {row.uploader}, {time_of('create_time')(row)} (UTC)"
    used = row.usage
    if used.starts:
        time = duration_text(timedelta(milliseconds=used.cpu_ms))
        yield (
            f"started {used.starts} times; {time} of processor time, at most "
            f"{memory_text(used.memory_bytes)} of memory, {memory_text(used.output_bytes)} of output"
        )
    if used.limit:
        yield f"the last limit that ended a run: {used.limit}"
    for finding in row.findings:
        yield from finding_lines(finding)


def finding_lines(finding: pb.Finding) -> Iterator[str]:
    """What people read of a step: mark, step and what was found, then the fix and the evidence."""
    indent = " " * (_MARK + _STEP)
    yield f"{MARKS.get(finding.status, '?'):<{_MARK}}{finding.step:<{_STEP}}{finding.detail}".rstrip()
    if finding.fix:
        yield f"{indent}fix: {finding.fix}"
    for line in finding.evidence:
        yield f"{indent}| {line}"
