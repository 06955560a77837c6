"""Faults grouped by what they have in common, as one reads why bots fail."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from meijin.store.faults import FaultRow
from meijin.store.schema import FaultKind

PLACE = re.compile(r"\([^()]+, line \d+\)$")
"""How the words of a crash end where they say where in the program it was."""


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """Faults of one kind, and of crashes those of one exception at one place."""

    newest: FaultRow
    count: int
    first_time: datetime
    bots: Sequence[str]
    """Whose they are, the one that had it last first."""

    def with_older(self, fault: FaultRow) -> Self:
        bots = self.bots if fault.bot in self.bots else (*self.bots, fault.bot)
        return replace(self, count=self.count + 1, first_time=fault.create_time, bots=bots)


def fault_groups(faults: Iterable[FaultRow]) -> Sequence[FaultGroup]:
    """The groups of faults that come newest first, the one with the newest first."""
    groups: dict[tuple[FaultKind, str, str], FaultGroup] = {}
    for fault in faults:
        key = _key(fault)
        group = groups.get(key)
        if group is None:
            groups[key] = FaultGroup(fault, 1, fault.create_time, (fault.bot,))
        else:
            groups[key] = group.with_older(fault)
    return list(groups.values())


def _key(fault: FaultRow) -> tuple[FaultKind, str, str]:
    """What a fault has in common with others: of a crash the exception, and where it was."""
    if fault.kind is not FaultKind.CRASH:
        return fault.kind, "", ""
    place = PLACE.search(fault.detail)
    return fault.kind, fault.detail.partition(":")[0], place[0] if place else ""
