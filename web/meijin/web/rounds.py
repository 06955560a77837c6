"""Rounds of a tournament, and the bracket that they are where winners go on."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from meijin.v1 import tournament_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Round:
    """The meetings of one round."""

    number: int
    meetings: tuple[pb.Meeting, ...]
    is_final: bool
    """Its winner goes on to no other meeting."""


def rounds_of(meetings: Iterable[pb.Meeting], *, most: int) -> tuple[Round, ...]:
    """The newest rounds, in their order, of at most so many meetings but for the newest."""
    grouped = [(number, tuple(each)) for number, each in groupby(meetings, lambda row: row.round)]
    shown: list[Round] = []
    room = most
    for number, each in reversed(grouped):
        room -= len(each)
        if shown and room < 0:
            break
        shown.append(Round(number, each, is_final=len(each) == 1 and not each[0].next))
    return tuple(reversed(shown))
