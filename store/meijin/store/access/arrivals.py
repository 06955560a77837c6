"""Arrivals: all that is known of the bot behind a hello, found by one query."""

from datetime import datetime

from sqlalchemy import Connection, Select, bindparam, select, update

from meijin.store.access.tokens import is_valid
from meijin.store.prepared import Prepared
from meijin.store.rows import columns_of, read_row
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    ClassMember,
    Fault,
    FaultKind,
    Instant,
    SchoolClass,
    Token,
    TokenId,
    aliased,
    computed,
)

_OTHER = aliased(BotVersion)
_TOKEN = select(Token.id).where(
    Token.id == bindparam("token_id"), is_valid(bindparam("now", type_=Instant()))
)
_SUPPLIER_FAULT = (
    select(Fault.id)
    .join(_OTHER, _OTHER.id == Fault.version_id)
    .where(_OTHER.bot_id == Bot.id, Fault.kind == FaultKind.SUPPLIER)
)


class Arrival(Bot):
    """A bot that has said hello."""

    has_token: bool = computed(_TOKEN.exists())
    """The token that was sent is valid still; false without one."""
    has_failed_supplier: bool = computed(_SUPPLIER_FAULT.exists())
    """The supplier of one of its versions has failed."""
    class_name: str | None = computed(SchoolClass.name)
    """``None`` where it is in no class."""
    deadline: datetime | None = computed(SchoolClass.deadline)
    deadline_offset_minutes: int | None = computed(SchoolClass.deadline_offset_minutes)
    is_class_hosted: bool | None = computed(SchoolClass.is_hosted)
    """The arena runs the bots of its class."""
    counted_id: BotVersionId | None = computed(ClassMember.version_id)
    """The version that was let in last before the deadline; ``None`` before the first."""

    def is_over(self, now: datetime) -> bool:
        """Whether its class's deadline is."""
        return self.deadline is not None and now >= self.deadline


def arrival_by_name(connection: Connection, name: str, now: datetime) -> Arrival | None:
    """Who comes without a token; ``None`` where no bot has the name."""
    values = {"name": name, "token_id": None, "now": now}
    return read_row(Arrival, connection.execute(_BY_NAME, values))


def arrival_by_id(
    connection: Connection, bot_id: BotId, *, token_id: TokenId | None, now: datetime
) -> Arrival | None:
    """Who comes as a bot that is known; ``None`` for a person who was forgotten."""
    values = {"bot_id": bot_id, "token_id": token_id, "now": now}
    return read_row(Arrival, connection.execute(_BY_ID, values))


def note_arrival(
    connection: Connection, bot_id: BotId, version_id: BotVersionId, now: datetime
) -> None:
    row = {"seen_id": bot_id, "last_seen_time": now, "version_id": version_id}
    _SEEN.execute(connection, [row])


def _arrivals() -> Select[*tuple[object, ...]]:
    """The bots, with what is asked of each that says hello."""
    return (
        select(*columns_of(Arrival))
        .select_from(Bot)
        .outerjoin(ClassMember, ClassMember.bot_id == Bot.id)
        .outerjoin(SchoolClass, SchoolClass.id == ClassMember.class_id)
    )


_BY_NAME = _arrivals().where(Bot.name == bindparam("name"))
_BY_ID = _arrivals().where(Bot.id == bindparam("bot_id"))
_SEEN = Prepared(update(Bot).where(Bot.id == bindparam("seen_id")))
