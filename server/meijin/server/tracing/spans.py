"""Spans: what took how long, of which trace it is a part, and who takes them."""

import enum
import hashlib
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar, TypeAlias

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Attributes: TypeAlias = Mapping[str, str | int | float | bool]

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class SpanKind(enum.Enum):
    """From where a span's subject came."""

    INTERNAL = "internal"
    SERVER = "server"
    """A client asked for it."""


@dataclass(frozen=True, slots=True)
class Parent:
    """The span of a caller, of which one is a part."""

    trace_id: int
    span_id: int
    flags: int
    """Of W3C's Trace Context; 1 is sampled."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened at one time within a span."""

    name: str
    time_ns: int
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """What has happened from one time to another; times are nanoseconds since 1970."""

    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    trace_id: int
    """The first span of a trace gives it its id; one with a parent has the parent's."""
    parent: Parent | None = None
    kind: SpanKind = SpanKind.INTERNAL
    error: str = ""
    """What went wrong; empty where nothing did."""
    events: Sequence[Event] = field(default=())


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


def new_trace_id() -> int:
    """A trace of its own."""
    return random.getrandbits(128) or 1


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


def wall_clock_ns() -> int:
    """Now, as spans have it."""
    return time.time_ns()


def nanoseconds(instant: datetime) -> int:
    """An instant as spans have it."""
    return (instant - EPOCH) // timedelta(microseconds=1) * 1000
