"""Converters of faults: rows and pauses in, messages out."""

from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.pauses import Pause
from meijin.store.faults import FaultRow
from meijin.store.schema import FaultKind, FaultParty
from meijin.v1 import fault_service_pb2 as pb
from meijin.wire import ending_to_proto, time_to_proto
from meijin.wire.enums import enum_table

_KINDS = enum_table(FaultKind, pb.FaultKind)
_KINDS_BY_VALUE = {value: kind for kind, value in _KINDS.items()}
_PARTIES = enum_table(FaultParty, pb.FaultParty)


def kind_from_proto(value: pb.FaultKind.ValueType) -> FaultKind | None:
    """What went wrong; ``None`` where it is not said.

    Raises:
        InvalidRequestError: this release knows no such kind.
    """
    if value and value not in _KINDS_BY_VALUE:
        raise InvalidRequestError(f"kind {value} is none that this release knows")
    return _KINDS_BY_VALUE.get(value)


def fault_to_proto(fault: FaultRow) -> pb.Fault:
    """An entry of the ledger; of its evidence a traceback has a field of its own."""
    evidence = dict(fault.evidence)
    traceback = str(evidence.pop("traceback", ""))
    message = pb.Fault(
        fault_id=str(fault.id),
        kind=_KINDS[fault.kind],
        party=_PARTIES[fault.party],
        detail=fault.detail,
        create_time=time_to_proto(fault.create_time),
        game_id="" if fault.game_id is None else str(fault.game_id),
        ply=fault.ply,
        bot=fault.bot,
        version=fault.version,
        traceback=traceback,
    )
    if fault.ending is not None:
        message.ending = ending_to_proto(fault.ending)
    message.evidence.update(evidence)
    return message


def pause_to_proto(pause: Pause, version: str) -> pb.Pause:
    """A pause of the version that has this label."""
    message = pb.Pause(version=version, reason=pause.reason)
    message.remaining.FromTimedelta(pause.remaining)
    return message
