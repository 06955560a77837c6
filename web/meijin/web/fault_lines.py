"""Entries of the fault ledger as lines of a list, with their evidence."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from google.protobuf.json_format import MessageToDict

from meijin.v1 import fault_service_pb2 as pb
from meijin.web.labels import ending_label
from meijin.web.wording import text

KINDS = {
    value: name.removeprefix("FAULT_KIND_").lower() for name, value in pb.FaultKind.items() if value
}
"""The words of addresses for what went wrong."""

PARTIES = {
    value: name.removeprefix("FAULT_PARTY_").lower()
    for name, value in pb.FaultParty.items()
    if value
}


@dataclass(frozen=True, slots=True)
class FaultLine:
    """One entry of the ledger."""

    fault: pb.Fault
    kind: str
    party: str
    ending: str
    """What it ended the game by; empty where games went on."""
    evidence: tuple[tuple[str, str], ...]
    """By names that end with their units."""


def fault_lines(faults: Iterable[pb.Fault]) -> tuple[FaultLine, ...]:
    """Faults in their order."""
    return tuple(map(_line, faults))


def kind_label(kind: pb.FaultKind.ValueType) -> str:
    """What went wrong."""
    return text(f"faults.kind.{KINDS[kind]}") if kind in KINDS else text("labels.unknown")


def _line(fault: pb.Fault) -> FaultLine:
    party = PARTIES.get(fault.party)
    evidence: dict[str, object] = MessageToDict(fault.evidence)
    return FaultLine(
        fault,
        kind_label(fault.kind),
        text(f"faults.party.{party}") if party else text("labels.unknown"),
        ending_label(fault.ending) if fault.ending else "",
        tuple((name, _value(value)) for name, value in sorted(evidence.items())),
    )


def _value(value: object) -> str:
    """A value of the evidence; the contract has all numbers as floats."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return f"{int(value):,}"
    return json.dumps(value, ensure_ascii=False)
