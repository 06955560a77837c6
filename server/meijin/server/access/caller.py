"""The caller: who makes the call that is being served."""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from meijin.store.access.audit import Act, Actor, Facts
from meijin.store.access.tokens import Identity
from meijin.store.schema import BotId, OwnerId, TokenKind


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call, and whence."""

    identity: Identity | None
    """``None`` without a token."""
    method: str
    peer: str
    request_id: str

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
    def is_operator(self) -> bool:
        """Whether it has shown an operator's token."""
        return self.identity is not None and self.identity.kind is TokenKind.OPERATOR

    @property
    def actor(self) -> Actor:
        """The caller as the audit log knows it."""
        token_id = None if self.identity is None else self.identity.token_id
        return Actor(token_id, self.method, self.peer, self.request_id)

    def act(
        self,
        action: str,
        subject: str,
        time: datetime,
        *,
        before: Facts | None = None,
        after: Facts | None = None,
    ) -> Act:
        """What it does, for the audit log."""
        return Act(self.actor, action, subject, time, before, after)


current_caller: ContextVar[Caller] = ContextVar("current_caller")
"""Who makes the call that is being served."""
