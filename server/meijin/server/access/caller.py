"""The caller: who makes the call that is being served."""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from meijin.store.access.audit import Act, Actor, Facts, actor_name, add_act
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, OwnerId, TokenKind


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call, whence and when."""

    identity: Identity | None
    """``None`` without a token."""
    method: str
    peer: str
    request_id: str
    time: datetime
    """When it was let in; what it changes is stored with this time."""

    @property
    def owner_id(self) -> OwnerId | None:
        """The owner to whose bots it is limited; ``None`` for who may do everything.

        Whoever may call an owner's method with another token, or with none, is an operator.
        """
        identity = self.identity
        return identity.owner_id if identity and identity.kind is TokenKind.OWNER else None

    @property
    def person_id(self) -> BotId | None:
        """The person that it is; ``None`` for whoever else."""
        identity = self.identity
        return identity.bot_id if identity and identity.kind is TokenKind.PERSON else None

    @property
    def bot_id(self) -> BotId | None:
        """The bot that it is; ``None`` for whoever else."""
        identity = self.identity
        return identity.bot_id if identity and identity.kind is TokenKind.BOT else None

    @property
    def is_operator(self) -> bool:
        """Whether it has shown an operator's token."""
        return self.identity is not None and self.identity.kind is TokenKind.OPERATOR

    @property
    def actor(self) -> Actor:
        token_id = None if self.identity is None else self.identity.token_id
        return Actor(token_id, self.method, self.peer, self.request_id)

    def name(self, connection: Connection) -> str:
        """What tokens and invitations that it makes say of their maker."""
        return str(actor_name(connection, self.actor.token_id))

    def act(
        self, action: str, subject: str, *, before: Facts | None = None, after: Facts | None = None
    ) -> Act:
        return Act(self.actor, action, subject, self.time, before, after)

    def note(
        self, connection: Connection, action: str, subject: str, **facts: Facts | None
    ) -> None:
        """Enter an act into the audit log, in the transaction of the change itself."""
        add_act(connection, self.act(action, subject, **facts))


current_caller: ContextVar[Caller] = ContextVar("current_caller")
"""Who makes the call that is being served."""
