"""What owners and operators do to tokens, in the transaction of the change."""

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
)
from meijin.store import bots
from meijin.store.access import owners, tokens
from meijin.store.access.audit import Facts, actor_name, add_act
from meijin.store.access.tokens import NewToken, TokenRow
from meijin.store.errors import UnknownTokenError
from meijin.store.people import is_person_name
from meijin.store.schema import BotId, OwnerId, TokenId, TokenKind

MAX_TOKENS = 20
"""Valid ones of a bot or of an owner, and of operators and of readers altogether."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token that is asked for."""

    kind: TokenKind
    name: str
    """Of the bot or the owner; empty for the other kinds, and for the owner who asks."""
    label: str
    expire_time: datetime | None


def create(
    connection: Connection, *, caller: Caller, request: TokenRequest, secret: str, now: datetime
) -> TokenRow:
    """Make a token.

    Raises:
        InvalidRequestError: its kind has to name somebody, or can't.
        NotAllowedError: it is of a kind that an owner can't make.
        NotFoundError: there is no such bot.
        QuotaError: there are as many as may be.
    """
    bot_id, owner_id = _subject(connection, caller, request, now)
    _check_number(connection, request.kind, bot_id, owner_id, now)
    new = NewToken(
        secret,
        request.kind,
        bot_id=bot_id,
        owner_id=owner_id,
        label=request.label,
        creator=str(actor_name(connection, caller.actor.token_id)),
        expire_time=request.expire_time,
    )
    row = tokens.get_token(connection, tokens.add_token(connection, new, now))
    add_act(connection, caller.act("create", f"token {row.id}", now, after=_facts(row)))
    return row


def _subject(
    connection: Connection, caller: Caller, request: TokenRequest, now: datetime
) -> tuple[BotId | None, OwnerId | None]:
    """The bot or the owner that a token is to be of."""
    if request.kind is TokenKind.PERSON:
        raise InvalidRequestError("a person gets a token by coming in; none is made")
    if request.kind is TokenKind.BOT:
        if not request.name:
            raise InvalidRequestError("name the bot that the token is for")
        bot = bot_of(connection, caller, request.name)
        if is_person_name(bot.name):
            raise InvalidRequestError(f'name: "{bot.name}" is a person, and no bot')
        return bot.id, None
    if caller.owner_id is not None:
        return None, _own(connection, caller.owner_id, request)
    if request.kind is not TokenKind.OWNER:
        if request.name:
            raise InvalidRequestError(f"a token of kind {request.kind.value} is nobody's own")
        return None, None
    if not request.name:
        raise InvalidRequestError("name the owner that the token is for")
    found = owners.find_owner(connection, request.name)
    return None, found or add_owner(connection, caller, request.name, None, now)


def _own(connection: Connection, owner_id: OwnerId, request: TokenRequest) -> OwnerId:
    """The owner that makes a token for itself."""
    is_own = request.name in {"", owners.get_owner(connection, owner_id).name}
    if request.kind is not TokenKind.OWNER or not is_own:
        raise NotAllowedError("an owner makes tokens for itself and for its bots alone")
    return owner_id


def _check_number(
    connection: Connection,
    kind: TokenKind,
    bot_id: BotId | None,
    owner_id: OwnerId | None,
    now: datetime,
) -> None:
    count = tokens.count_tokens(connection, kind, now, bot_id=bot_id, owner_id=owner_id)
    if count >= MAX_TOKENS:
        raise QuotaError(f"there are {count} such tokens, the most; revoke some")


def rotate(
    connection: Connection, *, caller: Caller, token_id: TokenId, secret: str, now: datetime
) -> TokenRow:
    """Replace a token by a new one, which is like it in all but its secret.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
        WrongStateError: it is revoked.
    """
    old = token_of(connection, caller, token_id)
    _revoke(connection, old, now)
    new = NewToken(
        secret,
        old.kind,
        bot_id=old.bot_id,
        owner_id=old.owner_id if old.kind is TokenKind.OWNER else None,
        label=old.label,
        creator=str(actor_name(connection, caller.actor.token_id)),
        expire_time=old.expire_time,
    )
    row = tokens.get_token(connection, tokens.add_token(connection, new, now))
    act = caller.act("rotate", f"token {old.id}", now, before=_facts(old), after=_facts(row))
    add_act(connection, act)
    return row


def rotate_bots(
    connection: Connection, *, caller: Caller, bot: str, secret: str, now: datetime
) -> TokenRow:
    """Replace all tokens of a bot by a new one; without it nobody plays as the bot.

    Raises:
        NotFoundError: there is no such bot, or it is somebody else's, in the same words.
    """
    found = bot_of(connection, caller, bot)
    if is_person_name(found.name):
        raise InvalidRequestError(f'bot: "{found.name}" is a person; revoke its token instead')
    bots.change_bot(connection, found.id, is_open=False)
    tokens.revoke_tokens_of(connection, found.id, now)
    token_id = add_bot_token(connection, caller, found.id, secret, now)
    add_act(connection, caller.act("rotate tokens", f"bot {found.name}", now))
    return tokens.get_token(connection, token_id)


def revoke(connection: Connection, *, caller: Caller, token_id: TokenId, now: datetime) -> TokenRow:
    """Have nobody use a token any more.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
        WrongStateError: it is revoked, or no operator would have one.
    """
    old = token_of(connection, caller, token_id)
    _revoke(connection, old, now)
    if old.kind is TokenKind.OPERATOR and not tokens.has_operator_token(connection, now):
        raise WrongStateError("it is the operators' last one; rotate it, or create another first")
    add_act(connection, caller.act("revoke", f"token {old.id}", now, before=_facts(old)))
    return tokens.get_token(connection, token_id)


def _revoke(connection: Connection, token: TokenRow, now: datetime) -> None:
    if not tokens.revoke_token(connection, token.id, now):
        raise WrongStateError(f"token {token.id} is revoked already")


def token_of(connection: Connection, caller: Caller, token_id: TokenId) -> TokenRow:
    """A token that the caller may manage.

    Raises:
        NotFoundError: there is no such token, or it is somebody else's, in the same words.
    """
    try:
        row = tokens.get_token(connection, token_id)
    except UnknownTokenError:
        row = None
    if row is None or caller.owner_id not in {None, row.owner_id}:
        raise NotFoundError(f"no token {token_id}; list the tokens to see their ids")
    return row


def _facts(token: TokenRow) -> Facts:
    """What a change of a token is told by."""
    return {
        "id": token.id,
        "kind": token.kind.value,
        "of": token.bot or token.owner,
        "label": token.label,
        "expire_time": token.expire_time.isoformat() if token.expire_time else None,
    }
