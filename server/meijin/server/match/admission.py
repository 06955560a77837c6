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
from meijin.server.match.live.commands import Hello
from meijin.server.match.live.live_game import SUPPLIER_FAILURES
from meijin.store import bots
from meijin.store.access import classes
from meijin.store.access.arrivals import Arrival, arrival_by_id, arrival_by_name, note_arrival
from meijin.store.access.tokens import Identity
from meijin.store.bots import EngineRow
from meijin.store.errors import RowNotFoundError
from meijin.store.faults import fault_times
from meijin.store.schema import Bot, BotId, BotState, BotVersionId, FaultKind
from meijin.wire.contract import check_own_name
from meijin.wire.text import minute_text


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
        RowNotFoundError: the bot was forgotten since the token was looked up.
    """
    return _admit(connection, _arrival(connection, hello, identity, now), hello, now)


def let_in(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Admit a bot whose stream is opened now, and note that it was seen; as `admit`.

    In a class the version that it comes with is handed in by that.
    """
    bot = _arrival(connection, hello, identity, now)
    admitted = _admit(connection, bot, hello, now)
    note_arrival(connection, bot.id, now)
    if bot.class_name is not None and bot.counted_id != admitted.version_id:
        classes.keep_submission(connection, bot.id, admitted.version_id)
    return admitted


def _arrival(
    connection: Connection, hello: Hello, identity: Identity | None, now: datetime
) -> Arrival:
    """Who says hello, which a bot may do by its token, or by its name where that is open."""
    if identity is None:
        bot = _named_bot(connection, hello, now)
        if not bot.is_open:
            registered = f'"{bot.name}" is registered'
            raise UnauthenticatedError(f"{registered}: send its token, or take another name")
    else:
        assert identity.bot_id is not None
        bot = _known_bot(connection, identity.bot_id, identity, hello.engine, now)
        if not bot.has_token:
            raise UnauthenticatedError("the bot's token was replaced")
    if hello.bot_name not in {"", bot.name, *bot.former_names}:
        raise NotAllowedError(
            f'this is the token of "{bot.name}", not of "{hello.bot_name}"; show the one that '
            "belongs to the name, or leave the name out"
        )
    return bot


def _admit(connection: Connection, bot: Arrival, hello: Hello, now: datetime) -> Admitted:
    if (error := refusal(bot)) is not None:
        raise error
    engine = hello.engine
    if bot.is_late(engine.digest, now):
        raise _late(bot, engine)
    failures: Sequence[datetime] = ()
    if bot.has_failed_supplier:
        failures = fault_times(connection, bot.id, FaultKind.SUPPLIER, limit=SUPPLIER_FAILURES)
    version_id = _version(connection, bot, engine, now)
    has_passed = bot.doctor_time is not None
    return Admitted(bot.id, bot.name, version_id, failures, bot.is_hidden, has_passed)


def _version(
    connection: Connection, bot: Arrival, engine: EngineRow, now: datetime
) -> BotVersionId:
    """The version that a bot comes with; nothing is written where it is as it was."""
    if bot.version_id is not None and not engine.changes_machine(bot):
        return bot.version_id
    return bots.bot_version(connection, bot.id, engine, now)


def refusal(bot: Bot) -> MeijinError | None:
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


SHOWN_DIGITS = 8
"""Of a digest, where two of one bot are told apart."""


def _late(bot: Arrival, engine: EngineRow) -> LateSubmissionError:
    """What a version is told that comes too late, in the zone in which the deadline was set."""
    assert bot.deadline is not None
    offset = bot.deadline_offset_minutes
    deadline = f"the deadline of {bot.class_name} was {minute_text(bot.deadline, offset)}"
    if bot.counted_time is None:
        return LateSubmissionError(
            f'"{bot.name}" is late: {deadline}, and it was not there before; ask your teacher'
        )
    what = "its file or options have changed since the version that counts"
    if bot.version_id is not None:
        what = "this is another version than the one that counts"
    own, counted = f'version "{engine.label}"', f'version "{bot.counted_label}"'
    if engine.label == bot.counted_label:
        own, counted = (
            f"digest {each[:SHOWN_DIGITS]}" for each in (engine.digest, bot.counted_digest)
        )
    return LateSubmissionError(
        f'"{bot.name}" is late: {deadline}, and {what} '
        f"({own}; counted: {counted} of {minute_text(bot.counted_time, offset)}); connect that one"
    )


def _named_bot(connection: Connection, hello: Hello, now: datetime) -> Arrival:
    """The bot of a name, which comes by open registration if it is new."""
    name, engine = hello.bot_name, hello.engine
    with invalid_request():
        check_own_name(name)
    bot = arrival_by_name(connection, name, digest=engine.digest, now=now)
    if bot is None:
        bot_id = bots.add_bot(connection, name, now, is_open=True)
        bot = _known_bot(connection, bot_id, None, engine, now)
    return bot


def _known_bot(
    connection: Connection,
    bot_id: BotId,
    identity: Identity | None,
    engine: EngineRow,
    now: datetime,
) -> Arrival:
    token_id = None if identity is None else identity.token_id
    bot = arrival_by_id(connection, bot_id, token_id=token_id, digest=engine.digest, now=now)
    if bot is None:
        raise RowNotFoundError("you were away for too long, and are forgotten; come in anew")
    return bot
