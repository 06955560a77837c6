"""Arrivals: all that is known of the bot behind a hello, found by one query."""

from datetime import datetime

from sqlalchemy import Connection, Select, bindparam, func, select, update

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

_VERSION, _COUNTED, _OTHER = aliased(BotVersion), aliased(BotVersion), aliased(BotVersion)
_TOKEN = select(Token.id).where(
    Token.id == bindparam("token_id"), is_valid(bindparam("now", type_=Instant()))
)
_SUPPLIER_FAULT = (
    select(Fault.id)
    .join(_OTHER, _OTHER.id == Fault.version_id)
    .where(_OTHER.bot_id == Bot.id, Fault.kind == FaultKind.SUPPLIER)
)


class Arrival(Bot):
    """A bot that has said hello with some version."""

    has_token: bool = computed(_TOKEN.exists())
    """The token that was sent is valid still; false without one."""
    version_id: BotVersionId | None = computed(_VERSION.id)
    """``None`` where the version is new."""
    hardware: str | None = computed(_VERSION.hardware)
    """What that version said last that it runs on; ``None`` where it is new."""
    nodes_per_second: int | None = computed(_VERSION.nodes_per_second)
    threads: int | None = computed(_VERSION.threads)
    memory_bytes: int | None = computed(_VERSION.memory_bytes)
    doctor_time: datetime | None = computed(_VERSION.doctor_time)
    """When it was last reported to have passed the doctor; ``None`` if it has not."""
    has_failed_supplier: bool = computed(_SUPPLIER_FAULT.exists())
    """The supplier of one of its versions has failed."""
    class_name: str | None = computed(SchoolClass.name)
    """``None`` where it is in no class."""
    deadline: datetime | None = computed(SchoolClass.deadline)
    deadline_offset_minutes: int | None = computed(SchoolClass.deadline_offset_minutes)
    counted_id: BotVersionId | None = computed(_COUNTED.id)
    """The version that was let in last before the deadline; ``None`` before the first."""
    counted_digest: str = computed(func.coalesce(_COUNTED.digest, ""))
    """Of that version; empty without one."""
    counted_label: str = computed(func.coalesce(_COUNTED.label, ""))
    """Of that version; may be empty."""
    counted_time: datetime | None = computed(_COUNTED.create_time)
    """When that version came first."""

    def is_late(self, digest: str, now: datetime) -> bool:
        """Whether a version comes after its class's deadline and isn't the one that counts."""
        is_over = self.deadline is not None and now >= self.deadline
        return is_over and (self.counted_id is None or digest != self.counted_digest)


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
    _SEEN.execute(connection, [{"seen_id": bot_id, "last_seen_time": now}])


def _arrivals() -> Select[*tuple[object, ...]]:
    """The bots, with what is asked of each that says hello."""
    is_version = (_VERSION.bot_id == Bot.id) & (_VERSION.digest == bindparam("digest"))
    return (
        select(*columns_of(Arrival))
        .select_from(Bot)
        .outerjoin(_VERSION, is_version)
        .outerjoin(ClassMember, ClassMember.bot_id == Bot.id)
        .outerjoin(SchoolClass, SchoolClass.id == ClassMember.class_id)
        .outerjoin(_COUNTED, _COUNTED.id == ClassMember.version_id)
    )


_BY_NAME = _arrivals().where(Bot.name == bindparam("name"))
_BY_ID = _arrivals().where(Bot.id == bindparam("bot_id"))
_SEEN = Prepared(update(Bot).where(Bot.id == bindparam("seen_id")))
