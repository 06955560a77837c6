"""Admission: the bot behind a hello, known by its token, or by its name where anyone may play."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from meijin.server.errors import NotAllowedError, UnauthenticatedError, invalid_request
from meijin.server.match.commands import Hello
from meijin.server.match.supplier import SUPPLIER_FAILURES
from meijin.store import bots
from meijin.store.bots import Identity
from meijin.store.faults import fault_times
from meijin.store.schema import BotId, BotVersionId, FaultKind
from meijin.wire.contract import check_bot_name


class Admitted(NamedTuple):
    """A bot that may come in."""

    bot_id: BotId
    name: str
    version_id: BotVersionId
    supplier_failures: Sequence[datetime]
    """The last times at which its supplier failed, oldest first."""


def admit(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Find the bot and version behind a hello; those that are new are stored.

    Args:
        identity: Of the token that was sent; ``None`` without one.

    Raises:
        InvalidRequestError: the name can't be given to a bot.
        NotAllowedError: the token is another bot's.
        UnauthenticatedError: the bot is registered, and no token was sent; or the token was
            revoked since the stream was opened.
    """
    if identity is None:
        bot_id, name = _open_bot(connection, hello.bot_name, now), hello.bot_name
    else:
        assert identity.bot_id is not None
        if bots.is_revoked(connection, identity.token_id):
            raise UnauthenticatedError("the bot's token was replaced")
        bot_id, name = identity.bot_id, bots.bot_name(connection, identity.bot_id)
        if hello.bot_name not in {"", name}:
            raise NotAllowedError(f'this is the token of "{name}", not of "{hello.bot_name}"')
    return Admitted(
        bot_id,
        name,
        bots.bot_version(connection, bot_id, hello.engine, now),
        fault_times(connection, bot_id, FaultKind.SUPPLIER, limit=SUPPLIER_FAILURES),
    )


def _open_bot(connection: Connection, name: str, now: datetime) -> BotId:
    with invalid_request():
        check_bot_name(name)
    bot_id = bots.find_bot(connection, name)
    if bot_id is None:
        return bots.add_bot(connection, name, now, is_open=True)
    if not bots.is_open_bot(connection, bot_id):
        raise UnauthenticatedError(f'"{name}" is registered: send its token, or take another name')
    return bot_id
