"""Arrivals: all that is known of the bot behind a hello, found by one query."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, bindparam, func, select, update
from sqlalchemy.orm import aliased

from meijin.store.access.tokens import is_valid
from meijin.store.classes import Membership
from meijin.store.prepared import Prepared
from meijin.store.rows import columns_of, read_row
from meijin.store.schema import (
    Bot,
    BotId,
    BotState,
    BotVersion,
    BotVersionId,
    ClassMember,
    Fault,
    FaultKind,
    Instant,
    SchoolClass,
    Token,
    TokenId,
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A bot that has said hello with some version."""

    id: BotId
    name: str
    state: BotState
    reason: str
    """Why it may not play; empty while it may."""
    is_hidden: bool
    """It is left out of lists."""
    is_open: bool
    """It came by open registration and plays without a token."""
    former_names: Sequence[str]
    has_token: bool
    """The token that was sent is valid still; false without one."""
    version_id: BotVersionId | None
    """``None`` where the version is new."""
    hardware: str | None
    """What that version said last that it runs on; ``None`` where it is new."""
    nodes_per_second: int | None
    doctor_time: datetime | None
    """When it was last reported to have passed the doctor; ``None`` if it has not."""
    has_failed_supplier: bool
    """The supplier of one of its versions has failed."""
    class_name: str | None
    """``None`` where it is in no class."""
    deadline: datetime | None
    counted_id: BotVersionId | None
    """The version that counts in its class; ``None`` before there is one."""
    counted_digest: str
    """Of that version; empty without one."""
    counted_label: str
    """Of that version; may be empty."""

    @property
    def membership(self) -> Membership | None:
        """What its class asks of the bot; ``None`` for one that is in no class."""
        if self.class_name is None:
            return None
        return Membership(
            self.class_name, self.deadline, self.counted_id, self.counted_digest, self.counted_label
        )


def arrival_by_name(
    connection: Connection, name: str, *, digest: str, now: datetime
) -> Arrival | None:
    """Who comes without a token; ``None`` where no bot has the name."""
    values = {"name": name, "token_id": None, "digest": digest, "now": now}
    return read_row(Arrival, connection.execute(_BY_NAME, values))


def arrival_by_id(
    connection: Connection, bot_id: BotId, *, token_id: TokenId | None, digest: str, now: datetime
) -> Arrival | None:
    """Who comes as a bot that is known; ``None`` for a person who was forgotten."""
    values = {"bot_id": bot_id, "token_id": token_id, "digest": digest, "now": now}
    return read_row(Arrival, connection.execute(_BY_ID, values))


def note_arrival(connection: Connection, bot_id: BotId, now: datetime) -> None:
    """Keep that a bot was let in."""
    _SEEN.execute(connection, [{"seen_id": bot_id, "last_seen_time": now}])


def _arrivals() -> Select[*tuple[object, ...]]:
    """The bots, with what is asked of each that says hello."""
    version, counted, mine = aliased(BotVersion), aliased(BotVersion), aliased(BotVersion)
    token = select(Token.id).where(
        Token.id == bindparam("token_id"), is_valid(bindparam("now", type_=Instant()))
    )
    failed = select(Fault.id).join(mine, mine.id == Fault.version_id)
    of_supplier = failed.where(mine.bot_id == Bot.id, Fault.kind == FaultKind.SUPPLIER)
    columns = columns_of(
        Arrival,
        Bot,
        has_token=token.exists(),
        version_id=version.id,
        hardware=version.hardware,
        nodes_per_second=version.nodes_per_second,
        doctor_time=version.doctor_time,
        has_failed_supplier=of_supplier.exists(),
        class_name=SchoolClass.name,
        deadline=SchoolClass.deadline,
        counted_id=counted.id,
        counted_digest=func.coalesce(counted.digest, ""),
        counted_label=func.coalesce(counted.label, ""),
    )
    is_version = (version.bot_id == Bot.id) & (version.digest == bindparam("digest"))
    return (
        select(*columns)
        .select_from(Bot)
        .outerjoin(version, is_version)
        .outerjoin(ClassMember, ClassMember.bot_id == Bot.id)
        .outerjoin(SchoolClass, SchoolClass.id == ClassMember.class_id)
        .outerjoin(counted, counted.id == ClassMember.version_id)
    )


_BY_NAME = _arrivals().where(Bot.name == bindparam("name"))
_BY_ID = _arrivals().where(Bot.id == bindparam("bot_id"))
_SEEN = Prepared(update(Bot).where(Bot.id == bindparam("seen_id")))
