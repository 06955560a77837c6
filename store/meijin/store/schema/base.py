"""The models' common base, and how values are kept in columns."""

import enum
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Enum,
    Integer,
    LargeBinary,
    String,
    TypeDecorator,
    text,
)
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass

from meijin.game import Adjudication, TimeClass, TimeControl, Variant
from meijin.store.schema.ids import (
    ActId,
    BotId,
    BotVersionId,
    ClassId,
    DeliveryId,
    EntryId,
    Epoch,
    FaultId,
    FormatName,
    GameId,
    InvitationId,
    LadderId,
    OwnerId,
    PairingId,
    RatingRunId,
    TokenId,
    TournamentId,
    WebhookId,
)

T = TypeVar("T")
INT64 = BigInteger().with_variant(Integer(), "sqlite")
"""An integer of eight bytes: SQLite's are that, and keys must be declared as just integers there."""
NOT_FINISHED = text("state <> 'finished'")
"""The condition of the partial indexes of what is not finished."""


class Instant(TypeDecorator[datetime]):
    """An aware instant, kept in UTC; SQLite has no type of its own for it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> datetime | None:
        """Drop the zone of an instant in UTC."""
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> datetime | None:
        """Put the zone back."""
        return value and value.replace(tzinfo=UTC)


class Written(TypeDecorator[T]):
    """A value as it is written, such as ``60+0.5`` or ``standard 15x15``.

    Args:
        parse: The inverse of `str`.
    """

    impl = String(60)
    cache_ok = True

    def __init__(self, parse: Callable[[str], T]) -> None:
        super().__init__()
        self.parse = parse

    def process_bind_param(
        self,
        value: T | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> str | None:
        """Write it."""
        return None if value is None else str(value)

    def process_result_value(
        self,
        value: str | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> T | None:
        """Read it."""
        return None if value is None else self.parse(value)


_WORDS = Enum(
    enum.Enum,
    native_enum=False,
    create_constraint=False,
    length=20,
    values_callable=lambda members: [member.value for member in members],
)
"""An enum's values as text, readable in any SQL shell."""


class Base(MappedAsDataclass, DeclarativeBase):
    """The models' common base."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Instant(),
        Adjudication: Written(Adjudication.parse),
        TimeClass: Written(TimeClass.parse),
        TimeControl: Written(TimeControl.parse),
        Variant: Written(Variant.parse),
        enum.Enum: _WORDS,
        FormatName: String(20),
        **dict.fromkeys(
            (
                OwnerId,
                BotId,
                TokenId,
                BotVersionId,
                LadderId,
                TournamentId,
                PairingId,
                GameId,
                FaultId,
                RatingRunId,
                EntryId,
                InvitationId,
                ActId,
                ClassId,
                WebhookId,
                DeliveryId,
                Epoch,
            ),
            INT64,
        ),
        bytes: LargeBinary(),
        list[str]: JSON(),
        dict[str, Any]: JSON(none_as_null=True),
    }
