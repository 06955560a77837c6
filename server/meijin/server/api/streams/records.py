"""Leases and records on the wire: what a worker is to play, and what it has played."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from meijin.game import decode_moves
from meijin.game.records.json import MAX_TIME_US
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.live.commands import PlayedGame
from meijin.server.match.wire import MAX_ID_DIGITS, analysis_from_proto
from meijin.server.tournaments.leases import Lease
from meijin.store.schema import BotId, PairingId
from meijin.v1 import tournament_service_pb2
from meijin.v1 import worker_service_pb2 as pb
from meijin.wire.contract import MAX_EVIDENCE, MAX_EVIDENCE_DEPTH, MAX_TRACEBACK
from meijin.wire.mapping import to_message
from meijin.wire.text import plain_lines, plain_text
from meijin.wire.values import outcome_from_proto, time_control_to_proto, variant_to_proto

MAX_DETAIL = 500
"""Characters of an outcome's detail that are kept."""
MAX_EVIDENCE_VALUES = 1000
"""Values of a forfeit's evidence: each is sent with every list of faults that has it, 1 us each."""
MAX_EVIDENCE_NUMBER = 2**63


def lease_to_proto(lease: Lease, names: Mapping[BotId, str], margin_ms: int) -> pb.LeasedGame:
    row, pairing = lease.run.row, lease.pairing
    rules = row.adjudication
    return pb.LeasedGame(
        pairing_id=str(pairing.id),
        black=names[pairing.black_id],
        white=names[pairing.white_id],
        variant=variant_to_proto(row.variant),
        black_time=time_control_to_proto(lease.time_control(pairing.black_id)),
        white_time=time_control_to_proto(lease.time_control(pairing.white_id)),
        opening=pairing.opening,
        margin_ms=margin_ms,
        adjudication=(
            None if rules is None else to_message(rules, tournament_service_pb2.Adjudication)
        ),
    )


def pairing_id_from_proto(text: str) -> PairingId:
    """Read what names a leased game.

    Raises:
        InvalidRequestError: it is no number.
    """
    if not text.isdecimal() or len(text) > MAX_ID_DIGITS:
        raise InvalidRequestError("pairing_id: that is no number")
    return PairingId(int(text))


def played_from_proto(message: pb.PlayedGame) -> PlayedGame:
    """Read a record.

    Raises:
        InvalidRequestError: a field has a value that it can't have.
    """
    with invalid_request("game"):
        codes = decode_moves(message.actions)
        actions = _timed(codes, message.raw_ns, message.charged_ns)
        outcome = outcome_from_proto(message.outcome)
        start_time, end_time = message.start_time.ToDatetime(UTC), message.end_time.ToDatetime(UTC)
    if end_time < start_time:
        raise InvalidRequestError("game: it ends before it starts")
    if len(message.analyses) > len(actions):
        raise InvalidRequestError("game: it has more analyses than actions")
    return PlayedGame(
        pairing_id_from_proto(message.pairing_id),
        start_time,
        end_time,
        actions,
        {ply: analysis_from_proto(said) for ply, said in message.analyses.items()},
        replace(outcome, detail=plain_text(outcome.detail[:MAX_DETAIL])),
        evidence_from_json(message.evidence),
    )


def _timed(
    codes: Sequence[int], raw_ns: Sequence[int], charged_ns: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Codes with their times.

    Raises:
        ValueError: not each has them, or a time is one that no record may have.
    """
    if not len(codes) == len(raw_ns) == len(charged_ns):
        times = f"{len(raw_ns)} raw and {len(charged_ns)} charged times"
        raise ValueError(f"{len(codes)} actions have {times}")
    if max((*raw_ns, *charged_ns), default=0) > 1000 * MAX_TIME_US:
        raise ValueError("an action takes longer than any record holds")
    return list(zip(codes, raw_ns, charged_ns, strict=True))


def when_played(
    played: PlayedGame, leased_time: datetime, now: datetime
) -> tuple[datetime, datetime]:
    """When a game began and ended; where the worker's clock is wrong it has ended just now.

    A ladder's days go by it, so that no clock but the server's may put a game into another time.
    """
    if leased_time <= played.start_time and played.end_time <= now:
        return played.start_time, played.end_time
    taken = min(played.end_time - played.start_time, max(now - leased_time, timedelta(0)))
    return now - taken, now


def evidence_from_json(text: str) -> dict[str, object]:
    """Read what supports a forfeit; only what the ledger can store, and send to anybody.

    Raises:
        InvalidRequestError: it is no JSON object, or too large, too deep, or has a number that
            no message can carry.
    """
    if len(text) > MAX_EVIDENCE:
        raise InvalidRequestError(f"evidence: it has more than {MAX_EVIDENCE} characters")
    try:
        with invalid_request("evidence"):
            found = json.loads(text or "{}", parse_constant=_no_number)
    except RecursionError:
        raise InvalidRequestError(_TOO_LARGE) from None
    if not isinstance(found, dict):
        raise InvalidRequestError("evidence: that is no JSON object")
    read = _Plain()
    evidence = {_plain(key): read.value(each, 1) for key, each in found.items()}
    if "traceback" in evidence:
        evidence["traceback"] = str(evidence["traceback"])[-MAX_TRACEBACK:]
    return evidence


_TOO_LARGE = (
    f"evidence: it has more than {MAX_EVIDENCE_DEPTH} levels, or {MAX_EVIDENCE_VALUES} values"
)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


class _Plain:
    """Reads JSON values, and counts them."""

    def __init__(self) -> None:
        self._left = MAX_EVIDENCE_VALUES

    def value(self, value: object, depth: int) -> object:
        self._left -= 1
        if not self._left or depth > MAX_EVIDENCE_DEPTH:
            raise InvalidRequestError(_TOO_LARGE)
        match value:
            case str():
                return _plain(value)
            case dict():
                return {_plain(key): self.value(each, depth + 1) for key, each in value.items()}
            case list():
                return [self.value(each, depth + 1) for each in value]
            case int() | float() if abs(value) > MAX_EVIDENCE_NUMBER:
                raise InvalidRequestError("evidence: a number is too large")
        return value


def _plain(text: str) -> str:
    """Text that UTF-8 can carry: JSON may escape halves of characters."""
    return plain_lines(text.encode(errors="replace").decode())
