"""Admission: the bot behind a hello, known by its token, or by its name where anyone may play."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from meijin.server.errors import (
    BannedError,
    DisabledError,
    LateSubmissionError,
    MeijinError,
    NotAllowedError,
    UnauthenticatedError,
    invalid_request,
)
from meijin.server.match.commands import Hello
from meijin.server.match.supplier import SUPPLIER_FAILURES
from meijin.store import bots, classes
from meijin.store.access.tokens import Identity, is_revoked
from meijin.store.bots import BotRecord
from meijin.store.classes import Membership
from meijin.store.faults import fault_times
from meijin.store.schema import BotId, BotState, BotVersionId, FaultKind
from meijin.wire.contract import check_bot_name


class Admitted(NamedTuple):
    """A bot that may come in."""

    bot_id: BotId
    name: str
    version_id: BotVersionId
    supplier_failures: Sequence[datetime]
    """The last times at which its supplier failed, oldest first."""
    is_hidden: bool
    """It is left out of lists."""
    has_passed: bool
    """Its author has reported that this version has passed the doctor."""


def admit(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Find the bot and version behind a hello; those that are new are stored.

    Args:
        identity: Of the token that was sent; ``None`` without one.

    Raises:
        InvalidRequestError: the name can't be given to a bot.
        BannedError: an operator has banned the bot.
        DisabledError: its owner or an operator has disabled it.
        LateSubmissionError: its class's deadline is over, and it counts with another version.
        NotAllowedError: the token is another bot's.
        UnauthenticatedError: the bot is registered, and no token was sent; or the token was
            revoked since the stream was opened.
    """
    if identity is None:
        bot_id = _named_bot(connection, hello.bot_name, now)
    else:
        assert identity.bot_id is not None
        if is_revoked(connection, identity.token_id, now):
            raise UnauthenticatedError("the bot's token was replaced")
        bot_id = identity.bot_id
    bot = bots.bot_record(connection, bot_id)
    name = bot.name
    if identity is None and not bot.is_open:
        raise UnauthenticatedError(f'"{name}" is registered: send its token, or take another name')
    if hello.bot_name not in {"", name, *bot.former_names}:
        raise NotAllowedError(
            f'this is the token of "{name}", not of "{hello.bot_name}"; show the one that belongs '
            "to the name, or leave the name out"
        )
    if (error := refusal(bot)) is not None:
        raise error
    membership = classes.find_membership(connection, bot_id)
    if membership is not None and membership.is_late(hello.engine.digest, now):
        raise _late(membership, name, hello.engine.label)
    version_id = bots.bot_version(connection, bot_id, hello.engine, now)
    return Admitted(
        bot_id,
        name,
        version_id,
        fault_times(connection, bot_id, FaultKind.SUPPLIER, limit=SUPPLIER_FAILURES),
        bot.is_hidden,
        bots.has_passed(connection, version_id),
    )


def let_in(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Admit a bot whose stream is opened now, and note that it was seen; as `admit`.

    In a class the version that it comes with is handed in by that.
    """
    admitted = admit(connection, hello=hello, identity=identity, now=now)
    bots.set_last_seen(connection, [admitted.bot_id], now)
    classes.keep_submission(connection, admitted.bot_id, admitted.version_id)
    return admitted


def refusal(bot: BotRecord) -> MeijinError | None:
    """Why a bot may not play; ``None`` if it may."""
    if bot.state is BotState.ACTIVE:
        return None
    error = BannedError if bot.state is BotState.BANNED else DisabledError
    words = f'"{bot.name}" is {bot.state.value}'
    return error(f"{words}: {bot.reason}" if bot.reason else words)


def count_late_attempt(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> None:
    """Count a hello that was refused for the deadline of its class."""
    bot_id = bots.find_bot(connection, hello.bot_name) if identity is None else identity.bot_id
    if bot_id is not None:
        classes.count_late_attempt(connection, bot_id, now)


def _late(membership: Membership, name: str, label: str) -> LateSubmissionError:
    """What a version is told that comes too late."""
    assert membership.deadline is not None
    counts = f'version "{membership.label}" counts: connect that one'
    if membership.version_id is None:
        counts = "no version of it was there before; ask your teacher"
    return LateSubmissionError(
        f'version "{label}" of "{name}" is late: the deadline of {membership.class_name} was '
        f"{membership.deadline:%Y-%m-%d %H:%M} UTC, and {counts}"
    )


def _named_bot(connection: Connection, name: str, now: datetime) -> BotId:
    """The bot of a name, which comes by open registration if it is new."""
    with invalid_request():
        check_bot_name(name)
    return bots.find_bot(connection, name) or bots.add_bot(connection, name, now, is_open=True)
