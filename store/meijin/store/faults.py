"""The fault ledger: what went wrong, whose fault it was, and the evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self

from sqlalchemy import Connection, func, select

from meijin.game import Ending, Party, Result
from meijin.store.rows import add_rows, columns_of, read_rows
from meijin.store.schema import (
    FAULT_DETAIL,
    Bot,
    BotId,
    BotVersion,
    ClassId,
    ClassMember,
    Fault,
    FaultKind,
    FaultParty,
    GameId,
    computed,
)


@dataclass(frozen=True, slots=True)
class VoidEvidence:
    """Why a finished game was voided, and how it had ended."""

    reason: str
    """One sentence for people."""
    result: Result
    ending: Ending
    at_fault: Party
    detail: str

    def to_json(self) -> dict[str, str]:
        return {name: getattr(value, "value", value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, evidence: dict[str, Any]) -> Self | None:
        """The inverse of `to_json`; ``None`` for a game that was voided while it ran.

        The evidence of that has no result: there was none.
        """
        if "result" not in evidence:
            return None
        return cls(
            evidence["reason"],
            Result(evidence["result"]),
            Ending(evidence["ending"]),
            Party(evidence["at_fault"]),
            evidence["detail"],
        )


SEARCHED = 100_000
"""The newest faults that one kind is looked for in: each is looked at."""


class FaultRow(Fault):
    """A fault as it is listed."""

    bot: str = computed(func.coalesce(Bot.name, ""))
    """The name of the bot concerned; empty when it was no bot."""
    version: str = computed(func.coalesce(BotVersion.label, ""))
    """Its version's label; may be empty."""


_OF_VOID_GAMES = {
    Party.SERVER: (FaultKind.OUTAGE, FaultParty.SERVER),
    Party.NETWORK: (FaultKind.MASS_DISCONNECT, FaultParty.NETWORK),
    Party.SUPPLIER: (FaultKind.SUPPLIER, FaultParty.SUPPLIER),
    Party.OPERATOR: (FaultKind.VOIDED, FaultParty.OPERATOR),
}
"""What went wrong where a game is void, by whose fault it is."""


def fault_of_game(ending: Ending, at_fault: Party) -> tuple[FaultKind, FaultParty] | None:
    """What went wrong in a game that ended, and whose fault it is.

    ``None`` for a game that ended by the rules, or is void since its tournament was decided.
    """
    if ending.is_forfeit:
        is_away = ending is Ending.DISCONNECT
        return FaultKind(ending.value), FaultParty.CONNECTION if is_away else FaultParty.BOT
    if ending is Ending.VOID and at_fault is not Party.NOBODY:
        return _OF_VOID_GAMES[at_fault]
    return None


def add_faults(connection: Connection, faults: Iterable[Fault]) -> None:
    add_rows(connection, (replace(each, detail=each.detail[:FAULT_DETAIL]) for each in faults))


def list_faults(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    bot_id: BotId | None = None,
    class_id: ClassId | None = None,
    game_id: GameId | None = None,
    kind: FaultKind | None = None,
) -> Sequence[FaultRow]:
    """Faults, newest first, from the one before the id `before`.

    Args:
        kind: Only those of this kind, among the newest `SEARCHED` of the ledger.
    """
    query = (
        select(*columns_of(FaultRow))
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
    if class_id is not None:
        members = select(ClassMember.bot_id).where(ClassMember.class_id == class_id)
        versions = select(BotVersion.id).where(BotVersion.bot_id.in_(members))
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
