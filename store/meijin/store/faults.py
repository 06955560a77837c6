"""The fault ledger: what went wrong, whose fault it was, and the evidence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, String, cast, func, select

from meijin.game import Ending, Party, Result
from meijin.store.rows import add_rows, columns_of, read_rows
from meijin.store.schema import (
    FAULT_DETAIL,
    FAULT_SIGNATURE,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
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


NAMED = 100
"""The newest versions of a group by which its bots are named."""

NAMED_AT_ONCE = 10_000
"""Versions whose bots are looked up by one statement: SQLite may take but 32,766 parameters."""

SEARCHED = 100_000
"""The newest faults that one kind is looked for in, and that are grouped: each is looked at."""


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


_EXCEPTION = re.compile(
    r"(?P<name>[A-Za-z_][\w.]*)(?::.*)? \((?P<file>[^()]+), line (?P<line>\d+)\)", re.DOTALL
)
"""How the SDK tells of an exception: its name, its words, and where it was."""
_VARYING = re.compile(r"""\b\w*\d[\w.,:]*|"[^"]*"|'[^']*'""")
"""Numbers, cells, times, and what is quoted; only where a word begins, as words may be long."""


def signature_of(detail: str) -> str:
    """What a fault has in common with others of its cause: the exception and where it was.

    Of a fault that is no exception, its sentence without what changes from time to time.
    """
    found = _EXCEPTION.fullmatch(detail)
    common = "{name} {file}:{line}".format_map(found) if found else _VARYING.sub("…", detail)
    return common[:FAULT_SIGNATURE]


def add_faults(connection: Connection, faults: Iterable[Fault]) -> None:
    add_rows(connection, map(_stored, faults))


def _stored(fault: Fault) -> Fault:
    detail = fault.detail[:FAULT_DETAIL]
    return replace(fault, detail=detail, signature=signature_of(detail))


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
    query = _FAULTS.order_by(Fault.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Fault.id < before)
    if bot_id is not None:
        query = query.where(_concerns(bot_id))
    if game_id is not None:
        query = query.where(Fault.game_id == game_id)
    if kind is not None:
        newest = select(func.coalesce(func.max(Fault.id), 0)).scalar_subquery()
        query = query.where(Fault.kind == kind, Fault.id > newest - SEARCHED)
    return read_rows(FaultRow, connection.execute(query))


_FAULTS = (
    select(*columns_of(FaultRow))
    .select_from(Fault)
    .outerjoin(BotVersion, BotVersion.id == Fault.version_id)
    .outerjoin(Bot, Bot.id == BotVersion.bot_id)
)


def _concerns(bot_id: BotId) -> ColumnElement[bool]:
    return Fault.version_id.in_(select(BotVersion.id).where(BotVersion.bot_id == bot_id))


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """Faults of one kind and cause."""

    newest: FaultRow
    count: int
    first_time: datetime
    bots: Sequence[str]
    """Whose they are, by the newest `NAMED` versions that had it."""


def fault_groups(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    bot_id: BotId | None = None,
    class_id: ClassId | None = None,
    kind: FaultKind | None = None,
) -> Sequence[FaultGroup]:
    """The newest `SEARCHED` faults of the ledger by kind and cause, that with the newest first.

    They are counted in an index alone; of each group two are read.

    Args:
        before: Only groups whose newest is before this id.
    """
    newest = select(func.coalesce(func.max(Fault.id), 0)).scalar_subquery()
    keys = (Fault.version_id, Fault.kind, Fault.signature)
    ids = (func.min(Fault.id).label("first"), func.max(Fault.id).label("last"))
    mine = select(*keys, func.count().label("faults"), *ids)
    mine = mine.where(Fault.id > newest - SEARCHED)
    if bot_id is not None:
        mine = mine.where(_concerns(bot_id))
    if class_id is not None:
        members = select(ClassMember.bot_id).where(ClassMember.class_id == class_id)
        versions = select(BotVersion.id).where(BotVersion.bot_id.in_(members))
        mine = mine.where(Fault.version_id.in_(versions))
    if kind is not None:
        mine = mine.where(Fault.kind == kind)
    of_versions = mine.group_by(*keys).subquery()
    cause = (of_versions.c.kind, of_versions.c.signature)
    last = func.max(of_versions.c.last)
    joined = func.aggregate_strings(cast(of_versions.c.version_id, String), ",")
    query = select(
        func.sum(of_versions.c.faults).label("faults"),
        func.min(of_versions.c.first).label("first"),
        last.label("last"),
        joined.label("versions"),
    )
    query = query.group_by(*cause).order_by(last.desc()).limit(limit)
    if before is not None:
        query = query.having(last < before)
    groups = connection.execute(query).all()
    ends = {key for group in groups for key in (group.first, group.last)}
    rows = {
        row.id: row
        for row in read_rows(FaultRow, connection.execute(_FAULTS.where(Fault.id.in_(ends))))
    }
    concerned = {group.last: _newest(group.versions) for group in groups}
    names = _bots_of(connection, {each for found in concerned.values() for each in found})
    return [
        FaultGroup(
            rows[group.last],
            int(group.faults),
            rows[group.first].create_time,
            list(dict.fromkeys(names[each] for each in concerned[group.last])),
        )
        for group in groups
    ]


def _newest(versions: str | None) -> Sequence[BotVersionId]:
    """The newest of some versions, of which a group may have any number."""
    ids = sorted(map(int, versions.split(",")), reverse=True) if versions else []
    return [BotVersionId(each) for each in ids[:NAMED]]


def _bots_of(
    connection: Connection, versions: Iterable[BotVersionId]
) -> Mapping[BotVersionId, str]:
    query = select(BotVersion.id, Bot.name).join(Bot, Bot.id == BotVersion.bot_id)
    found: dict[BotVersionId, str] = {}
    ids = list(versions)
    for first in range(0, len(ids), NAMED_AT_ONCE):
        some = ids[first : first + NAMED_AT_ONCE]
        found |= dict(connection.execute(query.where(BotVersion.id.in_(some))).all())
    return found


def fault_times(
    connection: Connection, bot_id: BotId, kind: FaultKind, *, limit: int
) -> Sequence[datetime]:
    """When a bot had its last faults of a kind, oldest first."""
    query = (
        select(Fault.create_time)
        .where(_concerns(bot_id), Fault.kind == kind)
        .order_by(Fault.id.desc())
        .limit(limit)
    )
    return connection.scalars(query).all()[::-1]
