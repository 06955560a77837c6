"""The spans of commits: every slow one, and of the others one a second, with counts."""

from datetime import timedelta

from meijin.server.match.arbiter.stalls import NS_PER_SECOND
from meijin.server.tracing.spans import Span, Tracer, new_trace_id, wall_clock_ns

SLOW_COMMIT = timedelta(milliseconds=100)
"""A commit that took longer has a span of its own: there are ten a second at most."""

SPAN_INTERVAL = timedelta(seconds=1)
"""Between two spans of commits that were not slow; a busy server makes a thousand commits."""


class CommitSpans:
    """Records commits, and with each what was committed since the one recorded before."""

    def __init__(self, tracer: Tracer) -> None:
        self.is_on = tracer.is_on
        self._tracer = tracer
        self._commits = self._moves = self._starts = self._ends = 0
        self._next = 0.0

    def committed(self, began: float, now: float, *, moves: int, starts: int, ends: int) -> None:
        """Take note of a commit; `began` and `now` are of one monotonic clock, in seconds."""
        self._commits += 1
        self._moves += moves
        self._starts += starts
        self._ends += ends
        if now - began < SLOW_COMMIT.total_seconds() and now < self._next:
            return
        self._next = now + SPAN_INTERVAL.total_seconds()
        end_ns = wall_clock_ns()
        attributes = {
            "meijin.moves": moves,
            "meijin.starts": starts,
            "meijin.ends": ends,
            "meijin.since.commits": self._commits,
            "meijin.since.moves": self._moves,
            "meijin.since.starts": self._starts,
            "meijin.since.ends": self._ends,
        }
        start_ns = end_ns - int((now - began) * NS_PER_SECOND)
        self._tracer.record(Span("commit", start_ns, end_ns, attributes, new_trace_id()))
        self._commits = self._moves = self._starts = self._ends = 0
