"""Values of the contract in a few characters."""

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct

from meijin.v1 import bot_service_pb2
from meijin.v1 import fault_service_pb2 as pb
from meijin.web.labels import MAX_TEXT, capability_labels, evidence, label
from meijin.web.wording import wording


@pytest.mark.parametrize(("field", "mirror"), [("kind", pb.FaultKind), ("party", pb.FaultParty)])
def test_all_kinds_and_parties_have_words(field: str, mirror: Any) -> None:
    """And what a later release adds is said to be unknown."""
    unknown = wording()["labels.unknown"]
    labels = [
        label(pb.Fault(**{field: value}), f"faults.{field}.", field)
        for value in (*mirror.values(), 99)
    ]
    assert labels[0] == labels[-1] == unknown
    assert unknown not in labels[1:-1]


def test_capabilities_of_a_later_release() -> None:
    """What this one does not know is said, and no failure."""
    later = bot_service_pb2.Bot().capabilities
    assert capability_labels(later)[0] == "Rules: freestyle"
    later.min_board_size, later.max_board_size = 20, 10
    assert capability_labels(later)


def lines(**values: Any) -> list[tuple[str, str]]:
    struct = Struct()
    struct.update(values)
    return list(evidence(struct))


def test_times_are_told_in_seconds() -> None:
    found = lines(charged_us=1_500_000, round_trips_us=[200, 3000], ping_us=None)
    assert found == [
        ("charged", "1.5 s"),
        ("ping", "null"),
        ("round trips", "0.0002 s, 0.003 s"),
    ]


def test_other_values_are_told_as_they_are() -> None:
    """Numbers without a fraction, texts, lists and truth."""
    assert lines(faults=3, share=0.5, why="<b>", late=True, bots=["a", 1]) == [
        ("bots", '["a", 1]'),
        ("faults", "3"),
        ("late", "true"),
        ("share", "0.5"),
        ("why", "<b>"),
    ]


def test_a_long_value_is_cut() -> None:
    """Bots have a say in some of them."""
    ((_, text),) = lines(said="x" * (2 * MAX_TEXT))
    assert len(text) == MAX_TEXT
