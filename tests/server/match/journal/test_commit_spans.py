"""Which commits have spans, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from meijin.server.match.journal.commit_spans import SLOW_COMMIT, CommitSpans

if TYPE_CHECKING:
    from tests.server.conftest import RecordingTracer

SLOW = SLOW_COMMIT.total_seconds()


def test_one_commit_a_second_is_a_span(tracer: RecordingTracer) -> None:
    """It counts those before it too, so that none is left out."""
    spans = CommitSpans(tracer)
    for number in range(1001):
        now = number / 1000
        spans.committed(now, now, moves=2, starts=1, ends=0)
    first, second = tracer.spans
    assert first.attributes["meijin.since.commits"] == 1
    assert second.attributes["meijin.since.commits"] == 1000
    assert second.attributes["meijin.since.moves"] == 2000
    assert second.attributes["meijin.since.starts"] == 1000
    assert second.attributes["meijin.moves"] == 2
    assert first.trace_id != second.trace_id


def test_a_slow_commit_is_a_span(tracer: RecordingTracer) -> None:
    """Whenever it comes, with how long it took."""
    spans = CommitSpans(tracer)
    spans.committed(0.0, 0.0, moves=1, starts=0, ends=0)
    spans.committed(0.0, SLOW / 2, moves=1, starts=0, ends=0)
    spans.committed(SLOW / 2, 2 * SLOW, moves=7, starts=0, ends=1)
    _, slow = tracer.spans
    assert slow.end_ns - slow.start_ns == int(1.5 * SLOW * 1e9)
    assert (slow.attributes["meijin.moves"], slow.attributes["meijin.since.moves"]) == (7, 8)
