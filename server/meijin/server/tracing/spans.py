"""Spans: what took how long, of which trace it is a part, and who takes them."""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar, TypeAlias

from meijin.store.ladders.runs import NewRun

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Attributes: TypeAlias = Mapping[str, str | int | float | bool]

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Parent:
    """The span of a caller, of which one is a part."""

    trace_id: int
    span_id: int
    flags: int
    """Of W3C's Trace Context; 1 is sampled."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """What happened at one time within a span."""

    name: str
    time_ns: int
    attributes: Attributes


def new_trace_id() -> int:
    return random.getrandbits(128) or 1


@dataclass(frozen=True, slots=True)
class Span:
    """What has happened from one time to another; times are nanoseconds since 1970."""

    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    trace_id: int = field(default_factory=new_trace_id)
    """The first span of a trace gives it its id; one with a parent has the parent's."""
    parent: Parent | None = None
    is_call: bool = False
    """A client asked for it."""
    error: str = ""
    """What went wrong; empty where nothing did."""
    events: Sequence[SpanEvent] = ()


class Tracer:
    """Takes spans; this one drops them.

    Whoever has to work for a span looks first whether one is wanted.
    """

    is_on: ClassVar[bool] = False
    """Whether spans go anywhere."""

    def record(self, span: Span) -> None:
        """Take a span that has ended; returns at once, from any thread."""

    def close(self) -> None:
        """Send what is left, within a bounded time."""


NO_TRACER = Tracer()
"""Where nobody asked for traces."""


def game_trace_id(game_id: int, start_time: datetime) -> int:
    """A game's trace: the same from any server, since both are columns of its row.

    The first half is the game's id, so that people recognise it; the second tells the games of
    one database from those of another, and is as good as random to samplers, who look at it.
    """
    key = f"{game_id} {nanoseconds(start_time)}".encode()
    return game_id << 64 | int.from_bytes(hashlib.blake2b(key, digest_size=8).digest())


def format_trace_id(trace_id: int) -> str:
    """As logs and tools for traces show it."""
    return f"{trace_id:032x}"


def read_parent(traceparent: str | bytes | None) -> Parent | None:
    """A caller's span, of the header ``traceparent``; ``None`` where it isn't what it should be."""
    match = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    if match is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    return Parent(trace_id, span_id, flags) if trace_id and span_id else None


def nanoseconds(instant: datetime) -> int:
    """An instant as spans have it."""
    return (instant - EPOCH) // timedelta(microseconds=1) * 1000


def record_run(tracer: Tracer, run: NewRun, start: datetime, end: datetime) -> None:
    """Record a ladder's run that was published: with its snapshot, from `start` to `end`."""
    attributes = {
        "meijin.ladder": run.ladder_id,
        "meijin.revision": run.revision,
        "meijin.games": run.games,
        "meijin.versions": len(run.ratings),
    }
    tracer.record(Span("ladder run", nanoseconds(start), nanoseconds(end), attributes))
