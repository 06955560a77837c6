"""What supports a fault, in words."""

from typing import Any

from google.protobuf.struct_pb2 import Struct

from meijin.web.games.evidence import MAX_TEXT, evidence_lines


def lines(**values: Any) -> list[tuple[str, str]]:
    """Names and texts."""
    evidence = Struct()
    evidence.update(values)
    return [(line.name, line.text) for line in evidence_lines(evidence)]


def test_times_are_told_in_seconds() -> None:
    """Also several of them."""
    found = lines(charged_us=1_500_000, round_trips_us=[200, 3000], ping_us=None)
    assert found == [
        ("charged", "1.5 s"),
        ("ping", "null"),
        ("round trips", "0.0002 s, 0.003 s"),
    ]


def test_other_values_are_told_as_they_are() -> None:
    """Numbers without a fraction, texts, lists and truth."""
    assert lines(faults=3, share=0.5, why="<b>", late=True, bots=["a", 1]) == [
        ("bots", '["a", 1.0]'),
        ("faults", "3"),
        ("late", "true"),
        ("share", "0.5"),
        ("why", "<b>"),
    ]


def test_a_long_value_is_cut() -> None:
    """Bots have a say in some of them."""
    ((_, text),) = lines(said="x" * (2 * MAX_TEXT))
    assert len(text) == MAX_TEXT
