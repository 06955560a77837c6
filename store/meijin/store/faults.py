"""The fault ledger: what went wrong, whose fault it was, and the evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from meijin.game import Ending, Party
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    FAULT_DETAIL,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Fault,
    FaultId,
    FaultKind,
    FaultParty,
    GameId,
)

SEARCHED = 100_000
"""The newest faults that one kind is looked for in: each is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFault:
    """A fault that is to be written."""

    kind: FaultKind
    party: FaultParty
    detail: str
    """One sentence for people."""
    time: datetime
    evidence: dict[str, Any] = field(default_factory=dict)
    game_id: GameId | None = None
    """``None`` where it concerns no game, or several."""
    ending: Ending | None = None
    """What it ended the game by; ``None`` where games went on."""
    ply: int | None = None
    """How many stones lay on the game's board."""
    version_id: BotVersionId | None = None
    """The bot concerned; ``None`` when it was no bot."""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A fault as it is listed."""

    id: FaultId
    kind: FaultKind
    party: FaultParty
    detail: str
    evidence: dict[str, Any]
    create_time: datetime
    game_id: GameId | None
    ending: Ending | None
    ply: int | None
    bot: str
    """The name of the bot concerned; empty when it was no bot."""
    version: str
    """Its version's label; may be empty."""


_KINDS = {
    Party.SERVER: FaultKind.OUTAGE,
    Party.NETWORK: FaultKind.MASS_DISCONNECT,
    Party.SUPPLIER: FaultKind.SUPPLIER,
    Party.OPERATOR: FaultKind.VOIDED,
}
"""What went wrong where a game is void, by whose fault it is."""

_PARTIES = {
    Party.SERVER: FaultParty.SERVER,
    Party.NETWORK: FaultParty.NETWORK,
    Party.SUPPLIER: FaultParty.SUPPLIER,
    Party.OPERATOR: FaultParty.OPERATOR,
}


def fault_of_game(ending: Ending, at_fault: Party) -> tuple[FaultKind, FaultParty] | None:
    """What went wrong in a game that ended, and whose fault it is.

    ``None`` for a game that ended by the rules, or is void since its tournament was decided.
    """
    if ending.is_forfeit:
        is_away = ending is Ending.DISCONNECT
        return FaultKind(ending.value), FaultParty.CONNECTION if is_away else FaultParty.BOT
    if ending is Ending.VOID and at_fault is not Party.NOBODY:
        return _KINDS[at_fault], _PARTIES[at_fault]
    return None


def add_faults(connection: Connection, faults: Iterable[NewFault]) -> None:
    """Write faults into the ledger."""
    rows = [_row(fault) for fault in faults]
    if rows:
        connection.execute(_INSERT, rows)


def list_faults(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    bot_id: BotId | None = None,
    game_id: GameId | None = None,
    kind: FaultKind | None = None,
) -> Sequence[FaultRow]:
    """Faults, newest first, from the one before the id `before`.

    Args:
        kind: Only those of this kind, among the newest `SEARCHED` of the ledger.
    """
    query = (
        select(*_COLUMNS)
        .select_from(Fault)
        .outerjoin(BotVersion, BotVersion.id == Fault.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .order_by(Fault.id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(Fault.id < before)
    if bot_id is not None:
        versions = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
        query = query.where(Fault.version_id.in_(versions))
    if game_id is not None:
        query = query.where(Fault.game_id == game_id)
    if kind is not None:
        newest = select(func.coalesce(func.max(Fault.id), 0)).scalar_subquery()
        query = query.where(Fault.kind == kind, Fault.id > newest - SEARCHED)
    return read_rows(FaultRow, connection.execute(query))


def fault_times(
    connection: Connection, bot_id: BotId, kind: FaultKind, *, limit: int
) -> Sequence[datetime]:
    """When a bot had its last faults of a kind, oldest first."""
    versions = select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    query = (
        select(Fault.create_time)
        .where(Fault.version_id.in_(versions), Fault.kind == kind)
        .order_by(Fault.id.desc())
        .limit(limit)
    )
    return connection.scalars(query).all()[::-1]


def _row(fault: NewFault) -> dict[str, object]:
    return {
        "kind": fault.kind,
        "party": fault.party,
        "detail": fault.detail[:FAULT_DETAIL],
        "evidence": fault.evidence,
        "create_time": fault.time,
        "game_id": fault.game_id,
        "ending": fault.ending,
        "ply": fault.ply,
        "version_id": fault.version_id,
    }


_TABLE: Table = Fault.__table__  # type: ignore[assignment]
_INSERT = insert(_TABLE)
_COLUMNS = columns_of(
    FaultRow,
    Fault,
    bot=func.coalesce(Bot.name, ""),
    version=func.coalesce(BotVersion.label, ""),
)
