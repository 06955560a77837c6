"""Tokens: made, rotated and revoked."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from meijin.server.access.bots import add_bot_token, add_owner, bot_of
from meijin.server.access.caller import Caller
from meijin.server.errors import (
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    WrongStateError,
    invalid_request,
)
from meijin.store.access import owners
from meijin.store.access import tokens as store
from meijin.store.access.audit import Facts
from meijin.store.access.people import is_person_name
from meijin.store.access.tokens import TokenRow
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import change_row
from meijin.store.schema import LABEL, Bot, BotId, OwnerId, TokenId, TokenKind
from meijin.wire.text import check_text

NEVER_ASKED_FOR = {
    TokenKind.PERSON: "a person gets a token by coming in; none is made",
    TokenKind.SEAT: "the token of a seat is made by the server alone",
}
"""Kinds of tokens that nobody has made, and why."""

MAX_TOKENS = 20
"""Valid ones of a bot or of an owner, and of operators and of readers altogether."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    kind: TokenKind
    name: str
    """Of the bot or the owner; empty for the other kinds, and for the owner who asks."""
    label: str
    expire_time: datetime | None

    def check(self, now: datetime) -> None:
        """Accept its label and its end.

        Raises:
            InvalidRequestError: they can't be.
        """
        with invalid_request("label"):
            check_text(self.label)
            if len(self.label) > LABEL:
                raise ValueError(f"it is longer than {LABEL} characters")
        if self.expire_time is not None and self.expire_time <= now:
            raise InvalidRequestError("expire_time is over already")


def create(connection: Connection, caller: Caller, request: TokenRequest, secret: str) -> TokenRow:
    """Make a token.

    Raises:
        InvalidRequestError: its kind has to name somebody, or can't.
        NotAllowedError: it is of a kind that an owner can't make.
        NotFoundError: there is no such bot.
        QuotaError: there are as many as may be.
    """
    bot_id, owner_id = _subject(connection, caller, request)
    kind, now = request.kind, caller.time
    count = store.count_tokens(connection, kind, now, bot_id=bot_id, owner_id=owner_id)
    if count >= MAX_TOKENS:
        raise QuotaError(f"there are {count} such tokens, the most; revoke some")
    row = _add(connection, caller, secret, request, bot_id=bot_id, owner_id=owner_id)
    caller.note(connection, "create", f"token {row.id}", after=_facts(row))
    return row


def _subject(
    connection: Connection, caller: Caller, request: TokenRequest
) -> tuple[BotId | None, OwnerId | None]:
    """The bot or the owner that a token is to be of."""
    if request.kind in NEVER_ASKED_FOR:
        raise InvalidRequestError(NEVER_ASKED_FOR[request.kind])
    if request.kind is TokenKind.BOT:
        if not request.name:
            raise InvalidRequestError("name the bot that the token is for")
        bot = bot_of(connection, caller, request.name)
        if is_person_name(bot.name):
            raise InvalidRequestError(f'name: "{bot.name}" is a person, and no bot')
        return bot.id, None
    if caller.owner_id is not None:
        is_own = request.name in {"", owners.get_owner(connection, caller.owner_id).name}
        if request.kind is not TokenKind.OWNER or not is_own:
            raise NotAllowedError("an owner makes tokens for itself and for its bots alone")
        return None, caller.owner_id
    if request.kind is not TokenKind.OWNER:
        if request.name:
            raise InvalidRequestError(f"a token of kind {request.kind.value} is nobody's own")
        return None, None
    if not request.name:
        raise InvalidRequestError("name the owner that the token is for")
    found = owners.find_owner(connection, request.name)
    return None, found or add_owner(connection, caller, request.name, None)


def rotate(connection: Connection, caller: Caller, token_id: TokenId, secret: str) -> TokenRow:
    """Replace a token by a new one, which is like it in all but its secret.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
        WrongStateError: it is revoked.
    """
    old = token_of(connection, caller, token_id)
    _revoke(connection, caller, old)
    owner_id = old.owner_id if old.kind is TokenKind.OWNER else None
    row = _add(connection, caller, secret, old, bot_id=old.bot_id, owner_id=owner_id)
    caller.note(connection, "rotate", f"token {old.id}", before=_facts(old), after=_facts(row))
    return row


def rotate_bots(connection: Connection, caller: Caller, bot: str, secret: str) -> TokenRow:
    """Replace all tokens of a bot by a new one; without it nobody plays as the bot.

    Raises:
        NotFoundError: there is no such bot, or it is somebody else's, in the same words.
    """
    found = bot_of(connection, caller, bot)
    if is_person_name(found.name):
        raise InvalidRequestError(f'bot: "{found.name}" is a person; revoke its token instead')
    change_row(connection, Bot, found.id, is_open=False)
    store.revoke_tokens_of(connection, found.id, caller.time)
    token_id = add_bot_token(connection, caller, found.id, secret)
    caller.note(connection, "rotate tokens", f"bot {found.name}")
    return store.get_token(connection, token_id)


def _add(
    connection: Connection,
    caller: Caller,
    secret: str,
    like: TokenRequest | TokenRow,
    *,
    bot_id: BotId | None,
    owner_id: OwnerId | None,
) -> TokenRow:
    added = store.add_token(
        connection,
        secret,
        like.kind,
        caller.time,
        bot_id=bot_id,
        owner_id=owner_id,
        label=like.label,
        creator=caller.name(connection),
        expire_time=like.expire_time,
    )
    return store.get_token(connection, added)


def revoke(connection: Connection, caller: Caller, token_id: TokenId) -> TokenRow:
    """Have nobody use a token any more.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
        WrongStateError: it is revoked, or no operator would have one.
    """
    old = token_of(connection, caller, token_id)
    _revoke(connection, caller, old)
    if old.kind is TokenKind.OPERATOR and not store.has_operator_token(connection, caller.time):
        raise WrongStateError("it is the operators' last one; rotate it, or create another first")
    caller.note(connection, "revoke", f"token {old.id}", before=_facts(old))
    return store.get_token(connection, token_id)


def _revoke(connection: Connection, caller: Caller, token: TokenRow) -> None:
    if not store.revoke_token(connection, token.id, caller.time):
        raise WrongStateError(f"token {token.id} is revoked already")


def token_of(connection: Connection, caller: Caller, token_id: TokenId) -> TokenRow:
    """A token that the caller may manage.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
    """
    try:
        row = store.get_token(connection, token_id)
    except RowNotFoundError:
        row = None
    if row is None or caller.owner_id not in {None, row.owner_id}:
        raise NotFoundError(f"no token {token_id}; list the tokens to see their ids")
    return row


def _facts(token: TokenRow) -> Facts:
    return {
        "id": token.id,
        "kind": token.kind.value,
        "of": token.bot or token.owner,
        "label": token.label,
        "expire_time": token.expire_time.isoformat() if token.expire_time else None,
    }
